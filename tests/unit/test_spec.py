"""The release spec: what is accepted, how every mistake is named, and that nothing else ever escapes."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from ppdp_spark.errors import SpecError
from ppdp_spark.spec import (
    ColumnsSpec,
    LDiversitySpec,
    ReleaseSpec,
    SensitiveSpec,
    SkylinePointSpec,
    SuppressionSpec,
)

ROOT = Path(__file__).parents[2]
READY = sorted((ROOT / "conf").glob("census-*.yaml"))


def valid() -> dict[str, Any]:
    """A spec that uses every field."""
    return {
        "version": 1,
        "dataset": "census-2026",
        "input": {"path": "data/census.csv", "options": {"header": True, "password": "hunter2", "sep": ";"}},
        "columns": {
            "identifiers": ["person_id"],
            "quasi_identifiers": {
                "age": {"type": "numeric"},
                "sex": "categorical",
                "birth": None,
                "a.b": {"hierarchy": "tree.csv", "weight": 2},
            },
            "sensitive": {"column": "occupation", "case": "svpi"},
            "publish_as_is": ["region"],
            "group": "bucket",
        },
        "nulls": "suppress",
        "privacy": {
            "k_anonymity": 10,
            "l_diversity": {"kind": "recursive", "c": 3, "l": 6},
            "t_closeness": {"t": 0.3, "distance": "ordered"},
            "beta_likeness": {"beta": 2, "kind": "basic"},
            "delta_disclosure": 1.5,
            "alpha_k": {"alpha": 0.5, "k": 5},
            "skyline": {
                "default": [{"l": 3, "k": 20, "m": 2, "c": 0.5}],
                "values": {
                    "HIV": [{"l": 3, "k": 100, "m": 5, "c": 0.3}],
                    7: [{"l": 0, "k": 1, "m": 0, "c": 1}],
                },
            },
            "robustness": {
                "r": 3,
                "model": "binary",
                "priors": [{"attributes": ["sex"]}, {"attributes": ["age", "sex"], "path": "priors.csv"}],
            },
        },
        "partitioner": "mondrian",
        "suppression": {"method": "r", "l": 6, "budget": 0.2, "unsafe_fixed_seed": 987654321},
        "output": {"path": "out/census", "form": "bucketized", "overwrite": True},
        "explore": {"values": ["HIV"], "confidence": [0.5, 1], "max_l": 3, "max_m": 0},
    }


def changed(path: str, value: Any) -> dict[str, Any]:
    """The valid spec with one place replaced; `...` removes it."""
    spec = copy.deepcopy(valid())
    *parents, last = path.split("/")
    node: Any = spec
    for key in parents:
        node = node[int(key) if isinstance(node, list) else key]
    key = int(last) if isinstance(node, list) else last
    if value is ...:
        del node[key]
    else:
        node[key] = value
    return spec


def problems(mapping: Any, **options: Any) -> tuple[str, ...]:
    with pytest.raises(SpecError) as caught:
        ReleaseSpec.parse(mapping, **options)
    assert caught.value.exit_code == 2
    return caught.value.problems


def written(folder: Path, text: str) -> Path:
    path = folder / "spec.yaml"
    path.write_text(text, encoding="utf-8")
    return path


# What is accepted


def test_every_field_arrives() -> None:
    spec = ReleaseSpec.parse(valid())
    assert spec.input.format == "csv"
    assert spec.input.options == {"header": "true", "password": "hunter2", "sep": ";"}
    columns = spec.columns
    assert list(columns.quasi_identifiers) == ["age", "sex", "birth", "a.b"]
    assert [c.type for c in columns.quasi_identifiers.values()] == [
        "numeric",
        "categorical",
        None,
        "categorical",
    ]
    assert columns.quasi_identifiers["a.b"].weight == 2.0
    assert columns.sensitive == SensitiveSpec(column="occupation", case="svpi")
    privacy = spec.privacy
    assert privacy.criteria == tuple(valid()["privacy"])
    assert privacy.delta_disclosure is not None and privacy.delta_disclosure.delta == 1.5
    assert privacy.skyline is not None and list(privacy.skyline.values) == ["HIV", "7"]
    assert privacy.robustness is not None and privacy.robustness.priors[1].attributes == ("age", "sex")
    assert (spec.suppression.l, spec.suppression.unsafe_fixed_seed) == (6, 987654321)
    assert spec.explore is not None and spec.explore.confidence == (0.5, 1.0)


def test_defaults() -> None:
    spec = ReleaseSpec.parse(
        {
            "version": 1,
            "dataset": "d",
            "input": {"table": "db.people"},
            "columns": {"quasi_identifiers": {"age": {}}, "sensitive": "job"},
        }
    )
    assert (spec.nulls, spec.partitioner, spec.explore) == ("category", "mondrian", None)
    assert spec.columns.sensitive == SensitiveSpec(column="job")
    assert (spec.suppression.method, spec.suppression.budget) == ("none", 0.1)
    assert (spec.output.path, spec.output.form, spec.output.overwrite) == (None, "generalized", False)
    assert spec.columns.quasi_identifiers["age"].weight == 1.0
    assert spec.privacy.criteria == ()
    assert spec.warnings == ()


@pytest.mark.parametrize(
    ("path", "format_"),
    [
        ("a/b.parquet", "parquet"),
        ("a/b.parquet/", "parquet"),
        ("b.CSV.gz", "csv"),
        ("b.orc", "orc"),
        ("b.jsonl", "json"),
        ("data/*.snappy.parquet", "parquet"),
    ],
)
def test_format_is_told_from_the_path(path: str, format_: str) -> None:
    assert ReleaseSpec.parse(changed("input/path", path)).input.format == format_


def test_the_spec_is_frozen() -> None:
    spec = ReleaseSpec.parse(valid())
    with pytest.raises(ValidationError):
        spec.dataset = "other"  # type: ignore[misc]
    with pytest.raises(ValidationError):
        spec.privacy.k_anonymity = 2  # type: ignore[misc]


def test_models_built_in_python_obey_the_same_rules() -> None:
    with pytest.raises(SpecError, match="recursive"):
        LDiversitySpec(kind="recursive", l=3)
    with pytest.raises(SpecError, match="one role"):
        ColumnsSpec(identifiers=("a",), publish_as_is=("a",))
    parts = {**valid(), "columns": ColumnsSpec(sensitive=SensitiveSpec(column="x", case="mvpi-set"))}
    assert any("one value a person" in problem for problem in problems(parts))


# One mistake, one line


@pytest.mark.parametrize(
    ("path", "value", "line"),
    [
        ("version", ..., "`version` is missing: add `version: 1`"),
        ("version", 2, "`version` (2) must be 1"),
        ("version", True, "`version` (true/false) must be a whole number"),
        ("version", 1.0, "`version` (decimal number) must be a whole number"),
        ("dataset", "", "`dataset` (empty text) must not be empty"),
        ("dataset", 2026, "`dataset` (whole number) must be text; put it in quotes"),
        ("dataset", "x" * 201, "`dataset` (" + "x" * 39 + "…) must have at most 200 characters"),
        ("input", ..., "`input` is missing: add `input: {path: data/census.parquet}`"),
        ("input", {}, "`input` needs `path: ...` or `table: ...`"),
        ("input", {"path": "a.csv", "table": "t"}, "`input` has both `path` and `table`: keep one"),
        ("input", {"table": "t", "format": "csv"}, "`input.format` does not go with `table`: remove it"),
        (
            "input/path",
            "data/people",
            "`input.format` is missing and the ending of `path` does not tell it: "
            "add parquet, csv, orc or json",
        ),
        (
            "input/format",
            "parkuet",
            "`input.format` (parkuet) must be one of parquet, csv, orc, json; did you mean `parquet`?",
        ),
        ("input/options", ["a"], "`input.options` (list) must be a mapping (`key: value` lines)"),
        ("input/options/password", ["hunter2"], "`input.options.password` (list) must be text"),
        ("columns", "age", "`columns` (text) must be a mapping (`key: value` lines)"),
        ("columns/identifiers", "person_id", "`columns.identifiers` (text) must be a list, such as [a, b]"),
        ("columns/identifiers", ["x", "x"], "`columns.identifiers` names `x` twice"),
        (
            "columns/publish_as_is",
            ["AGE"],
            "`columns.publish_as_is` names `AGE`, which is in `quasi_identifiers` already as `age` "
            "(case does not matter): a column has one role",
        ),
        (
            "columns/sensitive/column",
            "person_id",
            "`columns.sensitive` names `person_id`, which is in `identifiers` already: a column has one role",
        ),
        (
            "columns/group",
            "occupation",
            "`columns.group` names `occupation`, which is in `sensitive` already: a column has one role",
        ),
        ("columns/sensitive", {}, "`columns.sensitive.column` is missing: add `column: occupation`"),
        (
            "columns/quasi_identifiers/sex",
            "category",
            "`columns.quasi_identifiers.sex.type` (category) must be one of numeric, categorical, date, "
            "timestamp, boolean; did you mean `categorical`?",
        ),
        (
            "columns/quasi_identifiers/a.b/weight",
            0,
            '`columns.quasi_identifiers."a.b".weight` (0) must be greater than 0',
        ),
        (
            "columns/quasi_identifiers/a.b/weight",
            float("inf"),
            '`columns.quasi_identifiers."a.b".weight` (inf) must be a finite number',
        ),
        (
            "columns/quasi_identifiers/a.b/type",
            "numeric",
            '`columns.quasi_identifiers."a.b".hierarchy` needs `type: categorical`, not numeric',
        ),
        (
            "columns/quasi_identifiers",
            ["age"],
            "`columns.quasi_identifiers` (list) must be a mapping (`key: value` lines)",
        ),
        ("nulls", "drop", "`nulls` (drop) must be one of category, suppress, error"),
        ("privacy/k_anonymity", 1, "`privacy.k_anonymity` (1) must be at least 2"),
        ("privacy/k_anonymity", "ten", "`privacy.k_anonymity` (text) must be a whole number"),
        ("privacy/k_anonymity", 10.5, "`privacy.k_anonymity` (decimal number) must be a whole number"),
        ("privacy/k_anonymity", True, "`privacy.k_anonymity` (true/false) must be a whole number"),
        (
            "privacy/k_anonymity",
            10**13,
            "`privacy.k_anonymity` (10000000000000) must be at most 1000000000000",
        ),
        (
            "privacy/k_anonymity",
            None,
            "`privacy.k_anonymity` (empty) demands nothing: give it a value or remove the key",
        ),
        ("privacy/k_anonymitty", 3, "`privacy.k_anonymitty` is not a known key; did you mean `k_anonymity`?"),
        (
            "output/zzz",
            3,
            "`output.zzz` is not a known key; known are `path`, `form`, `overwrite`, `queries`",
        ),
        ("privacy", None, "`privacy` (empty) must be a mapping (`key: value` lines)"),
        ("privacy/l_diversity/kind", ..., "`privacy.l_diversity.kind` is missing: add `kind: recursive`"),
        ("privacy/l_diversity/l", 1, "`privacy.l_diversity.l` (1) must be greater than 1"),
        (
            "privacy/l_diversity/l",
            2.5,
            "`privacy.l_diversity.l` (decimal number) must be a whole number for recursive ℓ-diversity",
        ),
        ("privacy/l_diversity/l", "6", "`privacy.l_diversity.l` (text) must be a number"),
        (
            "privacy/l_diversity/c",
            ...,
            "`privacy.l_diversity.c` is missing: recursive ℓ-diversity needs it, add `c: 3`",
        ),
        (
            "privacy/l_diversity/kind",
            "entropy",
            "`privacy.l_diversity.c` belongs to recursive ℓ-diversity only: "
            "remove it, or change `kind` (entropy)",
        ),
        ("privacy/t_closeness/t", 0, "`privacy.t_closeness.t` (0) must be greater than 0"),
        ("privacy/t_closeness/t", 1.5, "`privacy.t_closeness.t` (1.5) must be at most 1"),
        ("privacy/t_closeness/t", float("nan"), "`privacy.t_closeness.t` (nan) must be a finite number"),
        (
            "privacy/t_closeness/distance",
            "order",
            "`privacy.t_closeness.distance` (order) must be one of equal, ordered; did you mean `ordered`?",
        ),
        ("privacy/beta_likeness/beta", -1, "`privacy.beta_likeness.beta` (-1) must be greater than 0"),
        ("privacy/delta_disclosure", 0, "`privacy.delta_disclosure.delta` (0) must be greater than 0"),
        ("privacy/alpha_k/alpha", 1.01, "`privacy.alpha_k.alpha` (1.01) must be at most 1"),
        (
            "privacy/alpha_k/alpha",
            10**400,
            "`privacy.alpha_k.alpha` (a very large number) must be a finite number",
        ),
        ("privacy/alpha_k/k", 1, "`privacy.alpha_k.k` (1) must be at least 2"),
        ("privacy/skyline/default/0/l", -1, "`privacy.skyline.default.0.l` (-1) must be at least 0"),
        ("privacy/skyline/default/0/c", 0, "`privacy.skyline.default.0.c` (0) must be greater than 0"),
        ("privacy/skyline/default/0/k", ..., "`privacy.skyline.default.0.k` is missing: add `k: 20`"),
        (
            "privacy/skyline/values/HIV",
            [],
            "`privacy.skyline.values.HIV` (list) must have at least one entry",
        ),
        (
            "privacy/skyline/values/HIV/0/m",
            "2",
            "`privacy.skyline.values.HIV.0.m` (text) must be a whole number",
        ),
        (
            "privacy/skyline",
            {},
            "`privacy.skyline` has no points: add `default: [{l: 3, k: 20, m: 2, c: 0.5}]`",
        ),
        ("privacy/robustness/r", 1, "`privacy.robustness.r` (1) must be greater than 1"),
        (
            "privacy/robustness/priors",
            [],
            "`privacy.robustness.priors` (list) must have at least one entry",
        ),
        (
            "privacy/robustness/priors/0/attributes",
            ["sexx"],
            "`privacy.robustness.priors.0.attributes.0` (sexx) is not one of `columns.quasi_identifiers`; "
            "did you mean `sex`?",
        ),
        (
            "privacy/robustness/priors/0/attributes",
            ["sex", "sex"],
            "`privacy.robustness.priors.0.attributes` names a column twice",
        ),
        ("partitioner", "kd", "`partitioner` (kd) must be one of mondrian, art, anatomy"),
        ("suppression/l", ..., "`suppression.l` is missing: method r needs it, add `l: 6`"),
        ("suppression/l", 0, "`suppression.l` (0) must be at least 1"),
        ("suppression/budget", 1.2, "`suppression.budget` (1.2) must be at most 1"),
        ("output/overwrite", "yes", "`output.overwrite` (text) must be true or false"),
        ("explore/confidence", [0.5, 2], "`explore.confidence.1` (2) must be at most 1"),
        ("explore/values", [3], "`explore.values.0` (whole number) must be text; put it in quotes"),
    ],
)
def test_one_mistake_one_line(path: str, value: Any, line: str) -> None:
    assert problems(changed(path, value), input_needed=True) == (line,)


def test_everything_wrong_is_reported_at_once() -> None:
    spec = valid()
    spec["privacy"]["k_anonymity"] = 1
    spec["privacy"]["l_diversity"] = {"kind": "recursive", "l": 1, "x": 0}
    spec["columns"]["publish_as_is"] = ["age", 3]
    spec["privacy"]["robustness"]["priors"][0]["attributes"] = ["zip"]
    spec["nulls"] = 0
    del spec["dataset"]
    places = {problem.split("`")[1] for problem in problems(spec, overrides=["privacy", "output.path=["])[2:]}
    assert places == {
        "privacy.k_anonymity",
        "privacy.l_diversity.l",
        "privacy.l_diversity.x",
        "privacy.l_diversity.c",
        "columns.publish_as_is",
        "columns.publish_as_is.1",
        "privacy.robustness.priors.0.attributes.0",
        "nulls",
        "dataset",
    }


def test_a_sensitive_column_is_needed_by_what_looks_at_it() -> None:
    (line,) = problems(changed("columns/sensitive", ...))
    assert line.startswith("`columns.sensitive` is missing: needed by `privacy.l_diversity`, `privacy.t_clos")
    assert "k_anonymity" not in line
    for name in ("privacy.robustness", "suppression", "output.form", "explore"):
        assert f"`{name}`" in line
    plain = {key: valid()[key] for key in ("version", "dataset", "input")}
    spec = {**plain, "columns": {"quasi_identifiers": {"age": None}}, "privacy": {"k_anonymity": 2}}
    assert ReleaseSpec.parse(spec).privacy.criteria == ("k_anonymity",)
    assert "`partitioner`" in problems({**spec, "partitioner": "art"})[0]


def test_sets_of_values_go_with_k_anonymity_and_the_skyline_only() -> None:
    lines = problems(changed("columns/sensitive/case", "mvpi-set"))
    assert [line.split("`")[1] for line in lines] == [
        *(f"privacy.{n}" for n in valid()["privacy"] if n not in ("k_anonymity", "skyline")),
        "suppression",
    ]


def test_keys_that_are_no_text() -> None:
    spec = valid()
    spec["columns"]["quasi_identifiers"][3] = {}
    spec["columns"]["quasi_identifiers"][""] = {}
    spec[5] = 1
    assert problems(spec) == (
        "`columns.quasi_identifiers.3` as a key (whole number) must be text; put it in quotes",
        '`columns.quasi_identifiers.""` as a key (empty text) must not be empty',
        "`5` is not a known key; known are " + ", ".join(f"`{name}`" for name in ReleaseSpec.model_fields),
    )
    doubled = changed("privacy/skyline/values", {7: [], "7": []})
    assert "as a key (whole number)" in problems(doubled)[0]


def test_secrets_are_never_echoed() -> None:
    for seed in (-987654321, 10**30, "987654321", [987654321]):
        (line,) = problems(changed("suppression/unsafe_fixed_seed", seed))
        assert "987654321" not in line and str(10**30) not in line
    for override in ("suppression.unsafe_fixed_seed 987654321", "suppression.unsafe_fixed_seed=[987654321"):
        (line,) = problems(valid(), overrides=[override])
        assert "987654321" not in line
    with pytest.raises(SpecError) as caught:
        SuppressionSpec(method="r", l=2, unsafe_fixed_seed=-987654321)
    assert "987654321" not in str(caught.value)
    spec = ReleaseSpec.parse(valid())
    for text in (repr(spec), str(spec), json.dumps(spec.to_dict())):
        assert "987654321" not in text and "hunter2" not in text


def test_numbers_that_python_does_not_print() -> None:
    (line,) = problems(changed("privacy/k_anonymity", 10**5000))
    assert line == "`privacy.k_anonymity` (a very large number) must be at most 1000000000000"


def test_long_and_odd_values_are_cut() -> None:
    (line,) = problems(changed("nulls", "drop\n\x1b[31m" + "x" * 500))
    assert "\n" not in line and "\x1b" not in line and len(line) < 150
    lines = problems({**valid(), "k" * 500: 1, "a\nb": 2, "\ud800": 3})
    assert all(len(line) < 300 and line.isprintable() for line in lines)


@pytest.mark.parametrize("mapping", [None, [], "version: 1", 3])
def test_what_is_no_mapping(mapping: Any) -> None:
    (line,) = problems(mapping)
    assert line.startswith("the spec (") and line.endswith("must be a mapping (`key: value` lines)")


# Files


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    cases = {
        tmp_path / "none.yaml": "does not exist",
        tmp_path: "is a folder",
        Path("a\0b"): "cannot be read",
        tmp_path / ("x" * 300): "cannot be read",
        written(tmp_path, "# nothing\n"): "is empty: start it with `version: 1`",
    }
    for path, message in cases.items():
        with pytest.raises(SpecError, match=message):
            ReleaseSpec.load(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("version: 1\nprivacy: {k_anonymity: 2\n", "is not valid YAML: line 3, column 1"),
        ("version: 1\n  dataset: x\n", "is not valid YAML: line 2, column 10"),
        ("version: 1\nversion: 1\n", "line 2, column 1: the key `version` is there twice"),
        ("privacy:\n  k_anonymity: 2\n  k_anonymity: 5\n", "line 3, column 3: the key `k_anonymity`"),
        ("a: &x [1]\nb: *x\n", "line 2, column 4: aliases are not supported"),
        ("? [a, b]\n: 1\n", "line 1, column 3: a key must be text"),
        ("a: !!python/object/apply:os.getcwd []\n", "line 1, column 4: could not determine a constructor"),
        ("a: \x07\n", "line 1, column 4: special characters"),
        ("a: 1\n---\nb: 2\n", "line 2, column 1: expected a single document"),
        ("- " * 2_000, "nested too deeply"),
        ("a: " + "9" * 5000, "a number or a tag that cannot be read"),
        ("a: !!int x", "a number or a tag that cannot be read"),
        ("- version: 1\n", r"the spec \(list\) must be a mapping"),
        ("version", r"the spec \(text\) must be a mapping"),
        ("# " + "x" * 1_000_000, "larger than 1 MB"),
    ],
)
def test_yaml_that_is_wrong(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        ReleaseSpec.load(written(tmp_path, text))


def test_files_that_are_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    path.write_bytes("version: 1\ndataset: caf\u00e9".encode("latin-1"))
    with pytest.raises(SpecError, match=r"not UTF-8 text \(byte 24\)"):
        ReleaseSpec.load(path)


MINIMAL = """\
version: 1
dataset: "d"
input: {path: people.csv}
columns:
  quasi_identifiers: {%s}
  sensitive: job
privacy:
  skyline:
    default: [{l: 0, k: 1, m: 0, c: 1}]
    values: {%s}
"""


def test_keys_stay_as_they_are_written(tmp_path: Path) -> None:
    values = "NO: [{l: 1, k: 1, m: 0, c: 1e-1}], 010: [{l: 1, k: 1, m: 0, c: .5}]"
    spec = ReleaseSpec.load(written(tmp_path, MINIMAL % ("yes: , 1.10: numeric, 2020-01-01: date", values)))
    assert list(spec.columns.quasi_identifiers) == ["yes", "1.10", "2020-01-01"]
    assert spec.privacy.skyline is not None and list(spec.privacy.skyline.values) == ["NO", "010"]
    assert spec.privacy.skyline.values["NO"][0].c == 0.1


@pytest.mark.parametrize("number", ["010", "1:30", "0x10", "1e1"])
def test_numbers_mean_what_they_look_like(tmp_path: Path, number: str) -> None:
    path = written(tmp_path, MINIMAL % ("age: ", ""))
    with pytest.raises(SpecError, match=r"`privacy.k_anonymity` \((text|decimal number)\) must be a whole"):
        ReleaseSpec.load(path, [f"privacy.k_anonymity={number}"])


def test_relative_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, work = tmp_path / "conf", tmp_path / "work"
    folder.mkdir()
    work.mkdir()
    monkeypatch.chdir(work)
    for file in (folder / "people.csv", folder / "tree.csv", work / "priors.csv"):
        file.touch()
    text = MINIMAL % ("age: , sex: {hierarchy: tree.csv}, city: {hierarchy: /abs/c.csv}", "")
    path = written(folder, text + "  robustness: {r: 2, priors: [{attributes: [sex], path: priors.csv}]}\n")
    spec = ReleaseSpec.load(path, ["output.path=people.csv"])
    assert spec.input.path == str(folder / "people.csv")
    assert spec.columns.quasi_identifiers["sex"].hierarchy == str(folder / "tree.csv")
    assert spec.columns.quasi_identifiers["city"].hierarchy == "/abs/c.csv"
    assert spec.privacy.robustness is not None and spec.privacy.robustness.priors[0].path == "priors.csv"
    assert spec.output.path == "people.csv"
    assert ReleaseSpec.load(path, ["input.path=s3a://b/people.csv"]).input.path == "s3a://b/people.csv"
    assert ReleaseSpec.load(path, ["input.path='*.csv'"]).input.path == str(folder / "*.csv")


# Overrides


def test_overrides() -> None:
    spec = ReleaseSpec.parse(
        valid(),
        overrides=[
            "privacy.k_anonymity=20",
            "privacy.skyline.default.0.k=5",
            "privacy.skyline.values.HIV.0={l: 1, k: 2, m: 3, c: 0.5}",
            'columns.quasi_identifiers."a.b".weight=3',
            "columns.quasi_identifiers.'birth'.type=date",
            'input.options."x=\\"y"=1',
            "explore.values=[a=b, c.d]",
            "privacy.k_anonymity=21",
        ],
    )
    assert spec.privacy.k_anonymity == 21
    assert spec.privacy.skyline is not None
    assert spec.privacy.skyline.default[0].k == 5
    assert spec.privacy.skyline.values["HIV"][0].m == 3
    assert spec.columns.quasi_identifiers["a.b"].weight == 3
    assert spec.columns.quasi_identifiers["birth"].type == "date"
    assert spec.input.options['x="y'] == "1"
    assert spec.explore is not None and spec.explore.values == ("a=b", "c.d")


def test_overrides_leave_the_mapping_alone() -> None:
    mapping = valid()
    ReleaseSpec.parse(mapping, overrides=["privacy.skyline.default.0.k=5", "output.path=x"])
    assert mapping == valid()


def test_overrides_make_what_is_missing() -> None:
    spec = ReleaseSpec.parse(changed("output", ...), overrides=["output.path=here"])
    assert spec.output.path == "here"


@pytest.mark.parametrize(
    "override", ["", "privacy", "=3", ".a=3", "a..b=3", '"a=3', 'a"b=3', "a.=3", '"a"b=3']
)
def test_overrides_that_are_no_assignments(override: str) -> None:
    (line,) = problems(valid(), overrides=["nulls=error", override])
    assert line.startswith("override 2 must be PATH=VALUE, such as privacy.k_anonymity=20")


@pytest.mark.parametrize(
    ("override", "line"),
    [
        (
            "output.path={a: 1",
            "override 1 of `output.path` has a value that is not valid YAML: line 1, column 6: "
            "while parsing a flow mapping, expected ',' or '}', but got '<stream end>'",
        ),
        (
            "privacy.skyline.default.1.k=5",
            "override 1 `privacy.skyline.default.1` is not an entry of the list; there are 0 to 0",
        ),
        (
            "privacy.skyline.default.x=5",
            "override 1 `privacy.skyline.default.x` is not an entry of the list; there are 0 to 0",
        ),
        (
            "columns.quasi_identifiers.sex.weight=5",
            "override 1 `columns.quasi_identifiers.sex` (text) is not a mapping: "
            "write it out before setting `weight` in it",
        ),
        ("privacy.k=5", "`privacy.k` is not a known key; did you mean `k_anonymity`?"),
        ("privacy.k_anonymity=1", "`privacy.k_anonymity` (1) must be at least 2"),
        (
            "privacy.k_anonymity=",
            "`privacy.k_anonymity` (empty) demands nothing: give it a value or remove the key",
        ),
    ],
)
def test_overrides_that_cannot_be(override: str, line: str) -> None:
    assert problems(valid(), overrides=[override]) == (line,)


# What commands need


def test_anonymize_needs_a_criterion() -> None:
    spec = ReleaseSpec.parse(changed("privacy", {}))
    with pytest.raises(SpecError, match="`privacy` demands nothing"):
        spec.require_criteria()
    ReleaseSpec.parse(valid()).require_criteria()


def test_what_commands_need() -> None:
    bare = ReleaseSpec.parse({"version": 1, "dataset": "d", "input": {"table": "t"}, "columns": {}})
    wanted = {
        "anonymize": [
            "`privacy` demands",
            "`columns.quasi_identifiers` is empty",
            "`output.path` is missing",
        ],
        "check": ["`columns.group` and"],
        "explore": ["`columns.sensitive` is missing", "`columns.group` and"],
        "suppress": ["`output.path` is missing", "`suppression.method` (none)"],
    }
    for command, starts in wanted.items():
        with pytest.raises(SpecError) as caught:
            bare.require_for(command)  # type: ignore[arg-type]
        assert len(caught.value.problems) == len(starts)
        assert all(p.startswith(s) for p, s in zip(caught.value.problems, starts, strict=True))
        ReleaseSpec.parse(changed("privacy/robustness", ...)).require_for(command)  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="unsafe-d"):
        ReleaseSpec.parse(changed("suppression/method", "unsafe-d")).require_for("anonymize")


def test_robustness_and_the_partitioners_that_may_leave_people_out() -> None:
    demanding = ReleaseSpec.parse(valid())
    with pytest.raises(SpecError) as caught:
        demanding.require_for("anonymize")
    for name in ("t_closeness", "beta_likeness", "delta_disclosure", "skyline"):
        assert any(f"`privacy.{name}`" in problem for problem in caught.value.problems)
    with pytest.raises(SpecError, match="not part of `explore`"):
        demanding.require_for("explore")
    demanding.require_for("check")
    spec = changed("privacy", {"k_anonymity": 3})
    for partitioner, needs in (("art", "robustness"), ("anatomy", "l_diversity")):
        with pytest.raises(SpecError, match=rf"`partitioner` \({partitioner}\) needs `privacy.{needs}`"):
            ReleaseSpec.parse({**spec, "partitioner": partitioner}).require_for("anonymize")


def test_warnings() -> None:
    (seed,) = ReleaseSpec.parse(valid()).warnings
    assert "unsafe_fixed_seed" in seed and "not for publication" in seed
    spec = changed("suppression/unsafe_fixed_seed", ...)
    spec["privacy"]["skyline"] = {
        "values": {
            "x": [
                {"l": 1, "k": 2, "m": 0, "c": 0.5},
                {"l": 1, "k": 3, "m": 0, "c": 0.4},
                {"l": 2, "k": 1, "m": 0, "c": 0.4},
                {"l": 2, "k": 1, "m": 0, "c": 0.4},
            ]
        }
    }
    assert ReleaseSpec.parse(spec).warnings == (
        "`privacy.skyline.values.x.0` adds nothing: `privacy.skyline.values.x.1` already demands as much",
        "`privacy.skyline.values.x.3` adds nothing: `privacy.skyline.values.x.2` already demands as much",
        "`privacy.skyline.default` is empty: only the values named in `values` are protected",
    )


@pytest.mark.parametrize("weaker", [{"l": 0}, {"k": 0}, {"m": 0}, {"c": 0.6}])
def test_a_point_covers_only_what_knows_less_and_asks_less(weaker: dict[str, Any]) -> None:
    strong = SkylinePointSpec(l=2, k=2, m=2, c=0.5)
    weak = strong.model_copy(update=weaker)
    assert strong.dominates(weak) and strong.dominates(strong)
    assert not weak.dominates(strong)


# Round trip, fingerprint, schema


@pytest.mark.parametrize("path", READY, ids=lambda path: path.stem)
def test_ready_specs(path: Path) -> None:
    spec = ReleaseSpec.load(path)
    spec.require_for("anonymize" if spec.attack is None else "attack")
    assert spec.warnings == ()
    hierarchy = spec.columns.quasi_identifiers["education"].hierarchy
    assert hierarchy is not None and Path(hierarchy).is_file()
    assert conforms(json.loads(json.dumps(spec.to_dict())), ReleaseSpec.json_schema())


def test_there_are_ready_specs() -> None:
    assert {path.stem for path in READY} >= {"census-k10", "census-diverse"}


def test_round_trip() -> None:
    spec = ReleaseSpec.parse(valid())
    plain = json.loads(json.dumps(spec.to_dict(secrets=True)))
    assert ReleaseSpec.parse(plain) == spec
    hidden = spec.to_dict()
    assert hidden["suppression"]["unsafe_fixed_seed"] == hidden["input"]["options"]["password"] == "(hidden)"
    assert hidden["input"]["options"]["sep"] == ";"


def test_fingerprint() -> None:
    one = ReleaseSpec.parse(valid()).fingerprint()
    assert len(one) == 64 and int(one, 16) > 0
    reordered = {key: valid()[key] for key in reversed(valid())}
    assert ReleaseSpec.parse(reordered).fingerprint() == one
    for path, value in [
        ("output/path", "elsewhere"),
        ("output/overwrite", False),
        ("suppression/unsafe_fixed_seed", 1),
        ("columns/quasi_identifiers/a.b/weight", 2.0),
    ]:
        assert ReleaseSpec.parse(changed(path, value)).fingerprint() == one
    for path, value in [
        ("privacy/k_anonymity", 11),
        ("output/form", "generalized"),
        ("suppression/unsafe_fixed_seed", ...),
        ("nulls", "error"),
        ("input/options/sep", ","),
    ]:
        assert ReleaseSpec.parse(changed(path, value)).fingerprint() != one


def test_entropy_level_is_one_number() -> None:
    two, also_two = ({"kind": "entropy", "l": level} for level in (2, 2.0))
    specs = [ReleaseSpec.parse(changed("privacy/l_diversity", level)) for level in (two, also_two)]
    assert specs[0].fingerprint() == specs[1].fingerprint()
    assert problems(changed("privacy/l_diversity", {"kind": "entropy", "l": 1})) == (
        "`privacy.l_diversity.l` (1.0) must be greater than 1",
    )


IGNORED = {"title", "description", "default", "examples", "$schema", "$defs"}
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


def conforms(value: Any, schema: dict[str, Any], root: dict[str, Any] | None = None) -> bool:
    """Whether JSON conforms to a schema: the part of draft 2020-12 that ours may use, no more."""
    root = root or schema
    for keyword, wanted in schema.items():
        if keyword in IGNORED:
            continue
        if keyword == "$ref":
            target = root["$defs"][wanted.removeprefix("#/$defs/")]
            ok = conforms(value, target, root)
        elif keyword == "anyOf":
            ok = any(conforms(value, option, root) for option in wanted)
        elif keyword in ("const", "enum"):
            ok = value in (wanted if keyword == "enum" else [wanted])
        elif keyword == "type" and isinstance(wanted, list):
            ok = any(conforms(value, {"type": one}, root) for one in wanted)
        elif keyword == "type":
            number = isinstance(value, int | float) and not isinstance(value, bool)
            ok = (
                number and (wanted == "number" or isinstance(value, int))
                if wanted in ("number", "integer")
                else isinstance(value, TYPES[wanted])
            )
        elif keyword == "required":
            ok = not isinstance(value, dict) or set(wanted) <= set(value)
        elif keyword == "properties":
            ok = not isinstance(value, dict) or all(
                conforms(v, wanted[k], root) for k, v in value.items() if k in wanted
            )
        elif keyword == "additionalProperties":
            extra = (
                [v for k, v in value.items() if k not in schema.get("properties", {})]
                if isinstance(value, dict)
                else []
            )
            ok = all(wanted is not False and (wanted is True or conforms(v, wanted, root)) for v in extra)
        elif keyword == "propertyNames":
            ok = not isinstance(value, dict) or all(conforms(k, wanted, root) for k in value)
        elif keyword == "items":
            ok = not isinstance(value, list) or all(conforms(v, wanted, root) for v in value)
        elif keyword in ("minItems", "minLength"):
            ok = not isinstance(value, list | str) or len(value) >= wanted
        elif keyword in ("maxItems", "maxLength"):
            ok = not isinstance(value, list | str) or len(value) <= wanted
        elif keyword == "minProperties":
            ok = not isinstance(value, dict) or len(value) >= wanted
        else:
            compare = {
                "minimum": lambda v, w: v >= w,
                "maximum": lambda v, w: v <= w,
                "exclusiveMinimum": lambda v, w: v > w,
            }[keyword]
            ok = not isinstance(value, int | float) or compare(value, wanted)
        if not ok:
            return False
    return True


def test_json_schema() -> None:
    schema = ReleaseSpec.json_schema()
    assert json.loads(json.dumps(schema)) == schema
    assert schema["$schema"].endswith("2020-12/schema")
    spec = valid()
    spec["privacy"]["skyline"]["values"] = {"7": [{"l": 0, "k": 1, "m": 0, "c": 1}]}
    spec["input"]["options"] = {"header": "true"}
    assert conforms(spec, schema)
    assert conforms({**spec, "columns": {**spec["columns"], "sensitive": "occupation"}}, schema)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("dataset", ...),
        ("datasett", "x"),
        ("version", 2),
        ("privacy/k_anonymity", 1),
        ("privacy/k_anonymity", "2"),
        ("privacy/delta_disclosure", 0),
        ("privacy/skyline/default/0/c", 0),
        ("privacy/robustness/priors", []),
        ("columns/quasi_identifiers/sex", "categry"),
        ("columns/quasi_identifiers/age", {"wight": 1}),
        ("columns/identifiers", "x"),
        ("columns/sensitive", ""),
    ],
)
def test_json_schema_refuses_what_the_models_refuse(path: str, value: Any) -> None:
    spec = changed(path, value)
    spec["privacy"]["skyline"]["values"] = {}
    assert not conforms(spec, ReleaseSpec.json_schema())
    assert problems(spec)


# Nothing but a spec or a SpecError


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([0, 1, 2, -1, 10**19, 10**400, -(10**4000)]),
    st.floats(),
    st.text(max_size=60),
    st.sampled_from(
        ["", "none", "r", "anatomy", "mvpi-set", "age", "occupation", "entropy", "\ud800", "a\0b"]
    ),
    st.binary(max_size=3),
    st.dates(),
)
THINGS = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.one_of(st.text(max_size=5), st.integers(), st.none(), st.booleans()), inner, max_size=3
        ),
        st.tuples(inner),
        st.sets(st.integers(), max_size=2),
    ),
    max_leaves=6,
)


def mutate(data: st.DataObject, node: Any) -> Any:
    """A copy of the node with something inside replaced, removed, added or renamed."""
    keys = list(node) if isinstance(node, dict) else list(range(len(node))) if isinstance(node, list) else []
    if not keys or data.draw(st.integers(0, 5)) == 0:
        return data.draw(THINGS)
    key = data.draw(st.sampled_from(keys))
    action = data.draw(st.sampled_from(["into", "into", "into", "remove", "add", "rename"]))
    result = copy.copy(node)
    if action == "into":
        result[key] = mutate(data, node[key])
    elif action == "remove":
        del result[key]
    elif isinstance(result, list):
        result.append(data.draw(THINGS))
    else:
        name = data.draw(
            st.one_of(st.text(max_size=8), st.integers(), st.sampled_from(["k", "age", "AGE", "l"]))
        )
        result[name] = result.pop(key) if action == "rename" else data.draw(THINGS)
    return result


def outcome(mapping: Any, overrides: list[str]) -> ReleaseSpec | SpecError:
    try:
        return ReleaseSpec.parse(mapping, base=ROOT / "conf", overrides=overrides)
    except SpecError as error:
        assert error.problems and all(problem.isprintable() for problem in error.problems)
        return error


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_any_mutation_is_a_spec_or_a_spec_error(data: st.DataObject) -> None:
    mapping: Any = valid()
    for _ in range(data.draw(st.integers(1, 3))):
        mapping = mutate(data, mapping)
    result = outcome(mapping, [])
    if isinstance(result, ReleaseSpec):
        assert ReleaseSpec.parse(json.loads(json.dumps(result.to_dict(secrets=True)))) == result
        assert len(result.fingerprint()) == 64
        assert all(isinstance(warning, str) for warning in result.warnings)


@settings(max_examples=200, deadline=None)
@given(
    st.text(max_size=30), st.sampled_from(["", "privacy.", "privacy.skyline.default.0.", "columns.", "x="])
)
def test_any_override_is_a_spec_or_a_spec_error(text: str, start: str) -> None:
    outcome(valid(), [start + text])


@settings(max_examples=200, deadline=None)
@given(
    st.one_of(
        st.binary(max_size=60), st.text("ab:{}[]-!&*#|>\"' \n\t0159.,?%@`", max_size=40).map(str.encode)
    )
)
def test_any_file_is_a_spec_or_a_spec_error(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any.yaml"
    path.write_bytes(content)
    with pytest.raises(SpecError) as caught:
        ReleaseSpec.load(path)
    assert all(problem.isprintable() for problem in caught.value.problems)


def test_the_spec_needs_neither_spark_nor_numpy() -> None:
    code = (
        "import sys; sys.modules['pyspark'] = None; import ppdp_spark.spec;"
        "print([m for m in ('numpy', 'pandas', 'scipy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"
