"""Bad input of all kinds: always a release that verifies, or a clean error with its exit code.

PPDP_FUZZ_SPECS and PPDP_FUZZ_TABLES make a campaign larger.
"""

from __future__ import annotations

import copy
import datetime as dt
import json
import os
import shutil
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import yaml
from hypothesis import HealthCheck, Phase, assume, given, seed, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from ppdp_spark import ReleaseSpec, anonymize, verify
from ppdp_spark.cli.app import app
from ppdp_spark.errors import BudgetError, DataError, InfeasibleError, SpecError

pytestmark = pytest.mark.slow

AT_ONCE = 4
CLEAN = (SpecError, DataError, InfeasibleError, BudgetError)
"""What bad input may end in; any other error, InternalError included, is a bug."""


def campaign(name: str, size: int, *, derandomize: bool = True) -> settings:
    """So many examples, the same ones every time; others if the environment asks for another number."""
    given_size = os.environ.get(name)
    return settings(
        max_examples=int(given_size or size),
        derandomize=derandomize and given_size is None,
        phases=[Phase.explicit, Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        print_blob=True,
    )


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

ODD_NAMES = [
    "", " ", "a.b", "`", "a`b", 'a"b', "it's", "a\nb", "\0", "../../etc", "/", "group_id", "count", "q0",
    "age_min", "AGE", "ﬀ", "İ", "🙂", "x" * 3000, "<script>alert(1)</script>", "${user}", "NO",
    "010", "a,b", "-", "=", "\u202egnp", "a;b", "%s", "{x}", "[x]", "__class__",
]  # fmt: skip

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


@dataclass(frozen=True)
class Case:
    """A table and the spec for it."""

    table: pa.Table
    document: dict[str, Any]

    def __repr__(self) -> str:
        columns = {name: self.table[name].to_pylist() for name in self.table.column_names}
        return f"Case({self.table.schema.to_string()}\n{columns}\n{self.document})"


FIRST, LAST, EPOCH = dt.date(1, 1, 1), dt.date(9999, 12, 31), dt.datetime(1970, 1, 1, 0, 0, 0, 1)
POOLS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "int8": (pa.int8(), [-128, -1, 0, 1, 2, 127]),
    "int32": (pa.int32(), [-(2**31), -5, 0, 3, 7, 2**31 - 1]),
    "int64": (pa.int64(), [-(2**63), -(2**63) + 1, -1, 0, 2**53 + 1, 2**63 - 1]),
    "top": (pa.int64(), [2**63 - 1, 2**63 - 2, 2**63 - 9]),
    "bottom": (pa.int64(), [-(2**63), -(2**63) + 3]),
    "small": (pa.int64(), [1, 2, 3, 4, 5]),
    "float": (pa.float32(), [0.1, -0.0, 0.0, 1e38, 1e-45, float("nan")]),
    "double": (pa.float64(), [1.5, -0.0, 0.0, 1e300, 5e-324, float("nan"), -7.25]),
    "extreme": (pa.float64(), [1.7976931348623157e308, -1.7976931348623157e308, 0.0]),
    "infinite": (pa.float64(), [float("inf"), -float("inf"), 1.0]),
    "money": (pa.decimal128(7, 2), [Decimal("0.00"), Decimal("-0.01"), Decimal("99999.99"), Decimal("12.3")]),
    "decimal18": (pa.decimal128(18, 18), [Decimal("0.999999999999999999"), Decimal("-0.5"), Decimal(0)]),
    "decimal38": (pa.decimal128(38, 10), [Decimal("1e27"), Decimal("-1e-10")]),
    "date": (pa.date32(), [FIRST, LAST, dt.date(1582, 10, 10), dt.date(1970, 1, 1), dt.date(2024, 2, 29)]),
    "moment": (pa.timestamp("us", "UTC"), [dt.datetime(1, 1, 2), dt.datetime(9999, 12, 30), EPOCH]),
    "wall": (pa.timestamp("us"), [dt.datetime(1, 1, 1), dt.datetime.max, EPOCH, EPOCH - dt.timedelta(0, 1)]),
    "far dates": (pa.date32(), [-(2**31), 2**31 - 1, 0, -1]),
    "far moments": (pa.timestamp("us", "UTC"), [-(2**63), 2**63 - 1, 0]),
    "far walls": (pa.timestamp("us"), [-(2**63), 2**63 - 1, 0]),
    "text": (pa.string(), ["", " ", "a", "A", "null", "a, b", "{a}", "\0", "🙂", "é", "e\u0301", "x" * 500]),
    "words": (pa.string(), ["cook", "nurse", "smith", "clerk"]),
    "flag": (pa.bool_(), [True, False]),
    "bytes": (pa.binary(), [b"", b"\xff"]),
    "list": (pa.list_(pa.string()), [[], ["a"], ["a", "a", "b"], [None], ["c", "b"]]),
    "numbers": (pa.list_(pa.int64()), [[], [1], [2, 2], [2**63 - 1]]),
    "struct": (pa.struct({"x": pa.int32()}), [{"x": 1}, {"x": None}]),
    "map": (pa.map_(pa.string(), pa.int32()), [[("a", 1)], []]),
    "void": (pa.null(), []),
}  # fmt: skip
LIKELY = ["int32", "int64", "small", "double", "money", "date", "moment", "wall", "text", "words", "flag"]
CLASHING = {"", "AGE", "group_id", "count", "age_min"}
COLUMN_NAMES = ["age", "sex", "job", "city", "note", *(name for name in ODD_NAMES if name not in CLASHING)]


@st.composite
def columns(draw: Callable[..., Any], rows: int) -> pa.Array:
    likely = draw(st.integers(0, 5)) < 5
    kind = draw(st.sampled_from(LIKELY if likely else list(POOLS)))
    data_type, pool = POOLS[kind]
    if not pool:
        return pa.nulls(rows)
    chosen = draw(st.lists(st.sampled_from(range(len(pool))), min_size=1, max_size=len(pool)))
    holes = draw(st.sampled_from([0.0, 0.0, 0.1, 1.0]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    values = [None if rng.random() < holes else pool[rng.choice(chosen)] for _ in range(rows)]
    return pa.array(values, data_type)


def criteria(single: bool) -> st.SearchStrategy[dict[str, Any]]:
    point = st.fixed_dictionaries(
        {
            **{name: st.integers(0, most) for name, most in {"l": 2, "k": 3, "m": 2}.items()},
            "c": st.sampled_from([0.4, 0.8, 1]),
        }
    )
    some: dict[str, st.SearchStrategy[Any]] = {
        "k_anonymity": st.sampled_from([2, 2, 3, 5]),
        "skyline": st.fixed_dictionaries({"default": st.lists(point, min_size=1, max_size=2)}),
    }
    if single:
        some |= {
            "l_diversity": st.sampled_from([{"kind": "distinct", "l": 2}, {"kind": "entropy", "l": 1.5}])
            | st.just({"kind": "recursive", "c": 3, "l": 2}),
            "t_closeness": st.sampled_from([{"t": 0.5}, {"t": 0.9, "distance": "ordered"}]),
            "beta_likeness": st.sampled_from([{"beta": 2}, {"beta": 5, "kind": "basic"}]),
            "delta_disclosure": st.sampled_from([1.5, 5]),
            "alpha_k": st.sampled_from([{"alpha": 0.8, "k": 2}]),
        }
    return st.lists(st.sampled_from(sorted(some)), min_size=1, max_size=2, unique=True).flatmap(
        lambda names: st.fixed_dictionaries({name: some[name] for name in names})
    )


@st.composite
def cases(draw: Callable[..., Any]) -> Case:
    rows = draw(st.sampled_from([40, 20, 30, 40, 25, 40, 7, 2, 1, 0]))
    width = draw(st.integers(2, 5))
    allowed = COLUMN_NAMES + (sorted(CLASHING) if draw(st.integers(0, 9)) == 9 else [])
    names = draw(st.lists(st.sampled_from(allowed), min_size=width, max_size=width, unique=True))
    table = pa.table({name: draw(columns(rows)) for name in names})
    sensitive, *others = names
    qis = others[: draw(st.integers(1, len(others)))]
    document: dict[str, Any] = {
        "version": 1,
        "dataset": draw(st.sampled_from(["people", "../x", "a\nb", "<b>"])),
        "input": {"path": "unused.parquet"},
        "columns": {"quasi_identifiers": {name: {} for name in qis}, "publish_as_is": others[len(qis) :]},
        "nulls": draw(st.sampled_from(["category", "category", "category", "suppress", "error"])),
        "output": {"queries": draw(st.sampled_from([0, 0, 3]))},
    }
    listed = isinstance(table.schema.field(sensitive).type, pa.ListType)
    case = draw(st.sampled_from(["mvpi-set", "mvpi-multiset"])) if listed else "svpi"
    if draw(st.integers(0, 9)):
        document["columns"]["sensitive"] = {"column": sensitive, "case": case}
        document["privacy"] = draw(criteria(single=not listed))
        document["output"]["form"] = draw(st.sampled_from(["generalized", "bucketized"]))
    else:
        document["privacy"] = {"k_anonymity": 2}
    if draw(st.integers(0, 3)) == 0:
        method = draw(st.sampled_from(["r", "safe-d", "none"]))
        document["suppression"] = {"method": method, "l": 2, "budget": draw(st.sampled_from([0.9, 1]))}
    if draw(st.integers(0, 5)) == 0:
        document["partitioner"] = draw(st.sampled_from(["anatomy", "art", "mondrian"]))
        robust = {"r": draw(st.sampled_from([1.2, 2])), "priors": [{"attributes": [qis[0]]}]}
        document["privacy"] = {"l_diversity": {"kind": "distinct", "l": 2}, "robustness": robust}
        document.setdefault("suppression", {"budget": 1.0})
    return Case(table, document)


def outcome(spark: Any, case: Case, root: Path) -> str:
    """Publish a case and look at what is left; says what it ended in."""
    out = root / uuid.uuid4().hex
    document = copy.deepcopy(case.document)
    document["output"]["path"] = str(out)
    try:
        table = spark.createDataFrame(case.table)
        try:
            spec = ReleaseSpec.parse(document)
            run = anonymize(spec, table=table)
        except CLEAN as error:
            assert str(error).strip()
            assert not (out / "release").exists()
            return type(error).__name__
        finally:
            left = [path.name for path in out.glob(".*")] if out.exists() else []
            assert not any(name.startswith((".staging", ".replaced")) for name in left), left
        assert run.ok and verify(out, spark=spark).ok
        released = run.summary["release"]
        assert released["rows"] + released["suppressed"]["total"] == case.table.num_rows
        return "released"
    finally:
        shutil.rmtree(out, ignore_errors=True)


QUICK = {"spark.sql.shuffle.partitions": "1", "spark.sql.adaptive.enabled": "false"}
INTERPRETED = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}


@contextmanager
def set_to(spark: Any, wanted: dict[str, str]) -> Iterator[None]:
    before = {key: spark.conf.get(key) for key in wanted}
    for key, value in wanted.items():
        spark.conf.set(key, value)
    yield
    for key, value in before.items():
        spark.conf.set(key, value)


@pytest.fixture(scope="module")
def quick(spark) -> Iterator[Any]:
    """The session with settings for tables of a few rows: a fifth of the time."""
    with set_to(spark, QUICK):
        yield spark


def all_at_once(try_one: Callable[[Case], str], some: list[Case]) -> Counter[str]:
    """What cases end in, tried in threads of their own; a bug shows the case it came up with."""

    def tried(case: Case) -> str:
        try:
            return try_one(case)
        except Exception as error:
            raise AssertionError(f"{type(error).__name__}: {error}\n{case!r}") from error

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return Counter(pool.map(tried, some))


BATCHES = st.lists(cases(), min_size=AT_ONCE, max_size=AT_ONCE)


@pytest.mark.parametrize(("expressions", "batches"), [("compiled", 40), ("interpreted", 85)])
def test_tables_are_published_or_refused(quick, tmp_path, expressions, batches):
    """The whole way, verification included, for 500 tables; Spark has two ways to evaluate a plan."""
    ended: Counter[str] = Counter()

    @seed(batches)
    @campaign("PPDP_FUZZ_TABLES", batches, derandomize=False)
    @given(BATCHES)
    def published(some: list[Case]) -> None:
        ended.update(all_at_once(lambda case: outcome(quick, case, tmp_path), some))

    with set_to(quick, INTERPRETED if expressions == "interpreted" else {}):
        published()
    assert ended.total() >= AT_ONCE * int(os.environ.get("PPDP_FUZZ_TABLES") or batches)
    assert ended["released"] > 0.1 * ended.total() and len(ended) > 2, ended
