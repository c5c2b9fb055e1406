"""`columns.weight`: what it combines with, and what needs it."""

from __future__ import annotations

import pytest

from ppdp_spark.errors import SpecError
from ppdp_spark.spec import ReleaseSpec, WeightSpec


def spec(weight="w", *, columns=None, privacy=None, **rest) -> ReleaseSpec:
    given = {"weight": weight, "quasi_identifiers": {"age": "numeric"}, "sensitive": "ill"}
    return ReleaseSpec.parse(
        {
            "version": 1,
            "dataset": "survey",
            "input": {"table": "t"},
            "columns": {**given, **(columns or {})},
            "privacy": {"k_anonymity": 5, "estimated_population": 100} if privacy is None else privacy,
            "output": {"path": "out"},
            **rest,
        }
    )


DISTINCT = {"kind": "distinct", "l": 2}
BOTH = {"k_anonymity": 5, "estimated_population": 100}
ROBUST = {"r": 2, "priors": [{"attributes": ["age"]}]}
SHOWN = {"column": "w", "publish": True}


def test_a_name_will_do():
    assert spec().columns.weight == WeightSpec(column="w")
    assert not spec().columns.weight.publish and spec().columns.as_is == ()
    also = spec(SHOWN, columns={"publish_as_is": ["site"], "may_single_out": ["w"]})
    assert also.columns.as_is == ("site", "w")
    for command in ("anonymize", "check", "eligibility", "suppress"):
        spec(suppression={"method": "r", "l": 2}).require_for(command)


def test_specs_without_it_are_what_they_were():
    assert "weight" not in spec(None, privacy={"k_anonymity": 2}).to_dict()["columns"]


@pytest.mark.parametrize(
    ("command", "told", "given"),
    [
        ("attack", "`columns.weight` is not part of `attack`: remove it", {}),
        ("explore", "`columns.weight` is not part of `explore`: remove it", {}),
        ("explore", "`privacy.estimated_population` is not part of `explore`", {"weight": None}),
        ("anonymize", "needs weights: add `weight: ...` to `columns`", {"weight": None}),
        ("check", "needs weights: add `weight: ...` to `columns`", {"weight": None}),
        ("check", "is an estimate", {"privacy": {"estimated_population": 100}}),
        ("anonymize", "is an estimate", {"privacy": {"estimated_population": 100}}),
        (
            "anonymize",
            "needs `partitioner: mondrian`: anatomy does not add up weights",
            {"partitioner": "anatomy", "privacy": {**BOTH, "l_diversity": DISTINCT}},
        ),
        ("plan", "needs `partitioner: mondrian`: blind does not add up weights", {"partitioner": "blind"}),
        ("eligibility", "needs `output.form: generalized`", {"output": {"form": "bucketized"}}),
        (
            "anonymize",
            "`privacy.robustness` cannot be combined with `privacy.estimated_population`: remove one of them",
            {"privacy": {**BOTH, "robustness": ROBUST}},
        ),
        (
            "anonymize",
            "`privacy.skyline` with m above 0 cannot be combined with `privacy.estimated_population`: use",
            {"privacy": {**BOTH, "skyline": {"default": [{"l": 0, "k": 1, "m": 1, "c": 0.5}]}}},
        ),
    ],
)  # fmt: skip
def test_what_it_does_not_combine_with(command, told, given):
    with pytest.raises(SpecError) as caught:
        spec(**given).require_for(command)
    assert any(told in problem for problem in caught.value.problems)


@pytest.mark.parametrize(
    ("weight", "given", "told"),
    [
        ("age", {}, "a column has one role"),
        ({"column": "w", "publish": "yes"}, {}, "must be true or false"),
        ({"publish": True}, {}, "columns.weight.column"),
        (5, {}, "columns.weight"),
        ("w", {"columns": {"may_single_out": ["w"]}}, "is not one of `columns.publish_as_is`"),
        (SHOWN, {"columns": {"sensitive": ["ill", "job"]}}, "columns.weight.publish"),
        ("w", {"privacy": {"k_anonymity": 5, "estimated_population": 1}}, "must be at least 2"),
        ("w", {"privacy": {"k_anonymity": 5, "estimated_population": 99.5}}, "estimated_population"),
    ],
)
def test_mistakes(weight, given, told):
    with pytest.raises(SpecError, match=told):
        spec(weight, **given)


def test_weights_that_are_kept_go_with_several_attributes():
    spec(columns={"sensitive": ["ill", "job"]}).require_for("anonymize")
