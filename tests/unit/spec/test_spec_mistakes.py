"""Every mistake in a spec is named, with its field and the fix, and no secret with it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ppdp_spark.errors import SpecError
from ppdp_spark.spec import (
    ReleaseSpec,
    SuppressionSpec,
)
from support.specs import changed, problems, valid

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
            "`output.zzz` is not a known key; known are `path`, `form`, `bounds`, `overwrite`, `queries`",
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
            "`privacy.skyline.values.HIV` has no points: name the value in `not_sensitive` of "
            "`columns.sensitive` if it needs no protection, or give it a point",
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
        ("partitioner", "kd", "`partitioner` (kd) must be one of mondrian, art, anatomy, blind"),
        ("suppression/l", ..., "`suppression.l` is missing: method r needs it, add `l: 6`"),
        ("suppression/l", 0, "`suppression.l` (0) must be at least 1"),
        ("suppression/budget", 1.2, "`suppression.budget` (1.2) must be at most 1"),
        ("output/overwrite", "yes", "`output.overwrite` (text) must be true or false"),
        (
            "output/bounds",
            "grid",
            "`output.bounds` is about ranges, and `form` (bucketized) publishes everybody's own "
            "quasi-identifiers: remove one of them",
        ),
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
