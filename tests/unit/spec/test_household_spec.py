"""`columns.household`: what it combines with, and what else is told."""

from __future__ import annotations

import pytest

from ppdp_spark.errors import SpecError
from ppdp_spark.spec import HouseholdSpec, ReleaseSpec


def spec(household="home", *, columns=None, privacy=None, **rest) -> ReleaseSpec:
    given = {"household": household, "quasi_identifiers": {"age": "numeric"}, "sensitive": "ill"}
    return ReleaseSpec.parse(
        {
            "version": 1,
            "dataset": "homes",
            "input": {"table": "t"},
            "columns": {**given, **(columns or {})},
            "privacy": {"k_anonymity": 5} if privacy is None else privacy,
            "output": {"path": "out"},
            **rest,
        }
    )


DISTINCT = {"kind": "distinct", "l": 2}
KNOWN = {"column": "home", "members_know_each_other": True}
POINT = {"l": 0, "k": 1, "c": 0.5}
ROBUST = {"r": 2, "priors": [{"attributes": ["age"]}]}


def test_a_name_will_do():
    assert spec().columns.household == HouseholdSpec(column="home")
    assert not spec().columns.household.members_know_each_other
    for command in ("anonymize", "check", "eligibility", "suppress"):
        spec(suppression={"method": "r", "l": 2}).require_for(command)


def test_specs_without_it_are_what_they_were():
    assert "household" not in str(spec(None).to_dict())


@pytest.mark.parametrize(
    ("command", "told", "given"),
    [
        ("attack", "`columns.household` is not part of `attack`: remove it", {}),
        ("explore", "`columns.household` is not part of `explore`: remove it", {}),
        ("anonymize", "a k that counts households", {"privacy": {"l_diversity": DISTINCT}}),
        (
            "anonymize",
            "`partitioner: mondrian`: anatomy does not count them",
            {"partitioner": "anatomy", "privacy": {"k_anonymity": 5, "l_diversity": DISTINCT}},
        ),
        (
            "plan",
            "`partitioner: mondrian`: blind does not count them",
            {"partitioner": "blind", "privacy": {"k_anonymity": 5}},
        ),
        (
            "anonymize",
            "`privacy.robustness` cannot be combined with `columns.household`: remove one of them",
            {"privacy": {"k_anonymity": 5, "robustness": ROBUST}},
        ),
        (
            "anonymize",
            "`privacy.skyline` with m above 0 cannot be combined with `columns.household`: use points",
            {"privacy": {"k_anonymity": 5, "skyline": {"default": [{**POINT, "m": 1}]}}},
        ),
        (
            "check",
            "members_know_each_other` is not defined for `privacy.skyline`: remove one of them",
            {"household": KNOWN, "privacy": {"skyline": {"default": [{**POINT, "m": 0}]}}},
        ),
        ("check", "needs a criterion about sensitive values", {"household": KNOWN}),
        ("check", "is about sensitive values: add", {"household": KNOWN, "columns": {"sensitive": None}}),
        (
            "check",
            "is defined for one value per person only, not for `columns.sensitive.case` (mvpi-set)",
            {"household": KNOWN, "columns": {"sensitive": {"column": "ill", "case": "mvpi-set"}}},
        ),
    ],
)  # fmt: skip
def test_what_it_does_not_combine_with(command, told, given):
    with pytest.raises(SpecError) as caught:
        spec(**given).require_for(command)
    assert any(told in problem for problem in caught.value.problems)


@pytest.mark.parametrize(
    ("household", "told"),
    [
        ("age", "a column has one role"),
        ({"column": "home", "members_know_each_other": "yes"}, "must be true or false"),
        ({"members_know_each_other": True}, "columns.household.column"),
        (5, "columns.household"),
    ],
)
def test_mistakes(household, told):
    with pytest.raises(SpecError, match=told):
        spec(household)
