"""Specs of all kinds: parsed, or a clean error with its exit code."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
import yaml
from hypothesis import assume, given
from hypothesis import strategies as st
from typer.testing import CliRunner

from ppdp_spark import ReleaseSpec
from ppdp_spark.cli.app import app
from ppdp_spark.errors import SpecError
from support.campaigns import ODD_NAMES, campaign

pytestmark = pytest.mark.slow


VALID: list[dict[str, Any]] = [
    {
        "version": 1,
        "dataset": "people",
        "input": {"path": "people.csv", "options": {"header": True, "password": "x"}},
        "columns": {
            "identifiers": ["id"],
            "quasi_identifiers": {"age": {"type": "numeric", "weight": 2}, "sex": None, "city": "boolean"},
            "sensitive": {"column": "job", "case": "svpi"},
            "publish_as_is": ["note"],
        },
        "nulls": "category",
        "privacy": {
            "k_anonymity": 5,
            "l_diversity": {"kind": "recursive", "c": 3, "l": 2},
            "t_closeness": {"t": 0.3},
            "beta_likeness": {"beta": 2},
            "delta_disclosure": 1.5,
            "alpha_k": {"alpha": 0.5, "k": 3},
            "skyline": {
                "default": [{"l": 1, "k": 2, "m": 0, "c": 0.5}],
                "values": {"cook": [{"l": 1, "k": 2, "m": 1, "c": 0.5}]},
            },
        },
        "suppression": {"method": "r", "l": 2, "budget": 0.5, "unsafe_fixed_seed": 1},
        "output": {"path": "out", "form": "bucketized", "overwrite": False, "queries": 10},
        "explore": {"values": ["cook"], "confidence": [0.5], "max_l": 2, "max_m": 2},
    },
    {
        "version": 1,
        "dataset": "robust",
        "input": {"table": "a.b"},
        "columns": {"quasi_identifiers": {"age": {}, "sex": {}}, "sensitive": "job"},
        "privacy": {
            "l_diversity": {"kind": "distinct", "l": 2},
            "robustness": {"r": 2, "model": "joint", "priors": [{"attributes": ["sex"], "path": "p.csv"}]},
        },
        "partitioner": "art",
        "output": {"path": "out"},
    },
    {
        "version": 1,
        "dataset": "sets",
        "input": {"path": "x.parquet", "format": "parquet"},
        "columns": {
            "quasi_identifiers": {"age": {}},
            "sensitive": {"column": "jobs", "case": "mvpi-set"},
            "group": "g",
        },
        "privacy": {"k_anonymity": 2},
    },
]

ODD_VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([0, -1, 1, 2, 10**12, 10**12 + 1, 2**63, -(2**63), 10**400]),
    st.floats(),
    st.sampled_from([1e308, -0.0, 5e-324]),
    st.text(max_size=20),
    st.sampled_from(ODD_NAMES),
    st.lists(st.one_of(st.none(), st.integers(), st.text(max_size=5)), max_size=3),
    st.dictionaries(st.text(max_size=5), st.one_of(st.none(), st.integers()), max_size=2),
    st.builds(lambda: {"l": 1}),
    st.dates(),
    st.binary(max_size=3),
)


def places(value: Any, here: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a document but its root."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        yield (*here, key)
        yield from places(inner, (*here, key))


@st.composite
def documents(draw: Callable[..., Any]) -> Any:
    """A valid document with one to four changes: values, keys, names, things left out or moved."""
    document = copy.deepcopy(draw(st.sampled_from(VALID)))
    for _ in range(draw(st.integers(1, 4))):
        found = list(places(document))
        if not found:
            return document
        *above, last = draw(st.sampled_from(found))
        parent = document
        for key in above:
            parent = parent[key]
        change = draw(st.sampled_from(["replace", "remove", "add", "rename", "copy"]))
        if change == "replace":
            parent[last] = draw(ODD_VALUES)
        elif change == "remove":
            parent.pop(last)
        elif change == "copy":
            other = document
            for key in draw(st.sampled_from(found)):
                other = other[key] if isinstance(other, dict | list) and key in _keys(other) else other
            parent[last] = copy.deepcopy(other)
        elif isinstance(parent, dict):
            name = draw(st.one_of(st.sampled_from(ODD_NAMES), st.text(max_size=8), st.integers()))
            parent[name] = parent.pop(last) if change == "rename" else draw(ODD_VALUES)
    return document


def _keys(value: Any) -> Any:
    return value.keys() if isinstance(value, dict) else range(len(value))


def use(spec: ReleaseSpec) -> None:
    """Everything that is done with a spec before Spark starts."""
    for command in ("anonymize", "check", "explore", "suppress", "attack"):
        with suppress(SpecError):
            spec.require_for(command)
    assert isinstance(spec.warnings, tuple) and len(spec.fingerprint()) == 64
    plain = json.loads(json.dumps(spec.to_dict(secrets=True)))
    assert ReleaseSpec.parse(plain) == spec


@campaign("PPDP_FUZZ_SPECS", 2_000)
@given(documents())
def test_a_spec_is_parsed_or_refused(document):
    try:
        spec = ReleaseSpec.parse(document)
    except SpecError as error:
        assert error.problems and all(problem.strip() for problem in error.problems)
        assert len(str(error)) < 20_000
        return
    use(spec)


@st.composite
def texts(draw: Callable[..., Any]) -> bytes:
    """YAML of a changed document, in turn changed as a text."""
    document = draw(st.one_of(documents(), st.sampled_from(VALID)))
    try:
        text = yaml.safe_dump(document, allow_unicode=draw(st.booleans())).encode()
    except (yaml.YAMLError, UnicodeEncodeError):
        assume(False)
    for _ in range(draw(st.integers(0, 2))):
        at = draw(st.integers(0, len(text)))
        odd = draw(st.one_of(st.binary(max_size=4), st.sampled_from(PIECES)))
        text = text[:at] + odd + text[at + draw(st.integers(0, 5)) :]
    return text


PIECES = [
    b"&a ", b"*a", b"!!python/object:os.system x", b"!!int ", b"!!binary ", b"<<: ", b"? ", b"- ", b"{", b"[",
    b"}", b"]", b": ", b"\t", b"|", b">", b"%YAML 9.9", b"---\n", b"...\n", b"\xef\xbb\xbf", b"\x00", b"\xff",
    b"{" * 2000, b"[" * 2000, b"- " * 2000, b"0x" + b"f" * 500, b"1" * 5000, b"1e999", b".nan", b"2026-02-30",
]  # fmt: skip


@campaign("PPDP_FUZZ_SPECS", 1_000)
@given(texts())
def test_a_spec_file_is_read_or_refused(tmp_path_factory, text):
    file = tmp_path_factory.getbasetemp() / "fuzzed.yaml"
    file.write_bytes(text)
    try:
        spec = ReleaseSpec.load(file)
    except SpecError as error:
        assert error.problems and len(str(error)) < 20_000
        return
    use(spec)


@campaign("PPDP_FUZZ_SPECS", 150)
@given(texts(), st.sampled_from(["anonymize", "check", "explore", "suppress"]))
def test_the_command_line_refuses_a_wrong_spec(tmp_path_factory, text, command):
    folder = tmp_path_factory.getbasetemp() / "fuzzed-command"
    folder.mkdir(exist_ok=True)
    (folder / "spec.yaml").write_bytes(text)
    try:
        ReleaseSpec.load(folder / "spec.yaml").require_for(command)
    except SpecError:
        done = CliRunner().invoke(app, [command, str(folder / "spec.yaml")])
        assert done.exit_code == 2, done.output
        assert isinstance(done.exception, SystemExit) and "ppdp: " in done.output
        assert [path.name for path in folder.iterdir()] == ["spec.yaml"]
