"""What a spec of blind groups may say, and what it must."""

from __future__ import annotations

import pytest

from ppdp_spark.errors import SpecError
from ppdp_spark.spec import ReleaseSpec
from support.specs import problems


def document(**more):
    return {
        "version": 1,
        "dataset": "d",
        "input": {"path": "x.parquet"},
        "columns": {"quasi_identifiers": {"age": {}, "sex": {}}, "sensitive": "ill"},
        "privacy": {"alpha_k": {"alpha": 0.5, "k": 5}},
        "partitioner": "blind",
        "output": {"path": "out"},
        **more,
    }


def lacking(command="anonymize", **more):
    with pytest.raises(SpecError) as caught:
        ReleaseSpec.parse(document(**more)).require_for(command)
    return caught.value.problems


PRIORS = {"robustness": {"r": 2, "priors": [{"attributes": ["sex"]}]}}
SETS = {"column": "ills", "case": "mvpi-set"}
SKYLINE = {"skyline": {"default": [{"l": 1, "k": 2, "m": 2, "c": 0.75}]}}


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"least_size": 5},
        {"nulls": "error"},
        {"privacy": PRIORS, "least_size": 50},
        {"privacy": {**PRIORS, "t_closeness": {"t": 0.3}, **SKYLINE}, "least_size": 50},
        {"columns": {**document()["columns"], "sensitive": SETS}, "privacy": SKYLINE, "least_size": 9},
        {"columns": {"quasi_identifiers": {"age": {}}}, "privacy": {"k_anonymity": 3}, "nulls": "suppress"},
    ],
)
@pytest.mark.parametrize("command", ["anonymize", "eligibility", "plan"])
def test_what_blind_groups_work_with(more, command):
    """Nobody is left out, so that criteria which other partitioners cannot combine go together."""
    ReleaseSpec.parse(document(**more)).require_for(command)


@pytest.mark.parametrize("command", ["anonymize", "eligibility", "plan"])
def test_everything_that_looks_at_values_is_refused_at_once(command):
    more = {"suppression": {"method": "r", "l": 3}, "nulls": "suppress", "least_size": 4}
    found = lacking(command, **more)
    assert [problem.split(" ")[0] for problem in found] == ["`suppression.method`", "`nulls`", "`least_size`"]
    assert "(blind)" in found[0] and "must be at least 5" in found[2]


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"privacy": PRIORS}, "priors of people are not public; add `least_size: 50`"),
        (
            {"columns": {**document()["columns"], "sensitive": SETS}, "privacy": SKYLINE},
            "several values per person; add `least_size: 50`",
        ),
    ],
)
def test_a_size_that_cannot_be_predicted_must_be_given(more, told):
    assert [problem.endswith(told) for problem in lacking(**more)] == [True]


def test_a_least_size_belongs_to_blind_groups():
    for partitioner in ("mondrian", "anatomy"):
        (found,) = problems(document(partitioner=partitioner, least_size=9))
        assert found.startswith("`least_size` belongs to `partitioner: blind`")
    assert (
        "`least_size` belongs to"
        in problems({k: v for k, v in document(least_size=9).items() if k != "partitioner"})[0]
    )


@pytest.mark.parametrize("wrong", [1, 0, -3, 2.5, "many", True])
def test_a_least_size_is_a_whole_number_from_two_on(wrong):
    (found,) = problems(document(least_size=wrong))
    assert found.startswith("`least_size`")


def test_a_plan_needs_no_output_and_no_other_partitioner():
    spec = {name: part for name, part in document().items() if name != "output"}
    ReleaseSpec.parse(spec).require_for("plan")
    assert lacking("plan", partitioner="mondrian")[0].startswith(
        "`partitioner` (mondrian) looks at sensitive"
    )


def test_learned_priors_are_warned_of():
    """Whether groups are robust with them depends on who has which value."""
    learned = ReleaseSpec.parse(document(privacy=PRIORS, least_size=50))
    public = {"robustness": {"r": 2, "priors": [{"attributes": ["sex"], "path": "priors.csv"}]}}
    assert any("learned from the table" in warning for warning in learned.warnings)
    assert not ReleaseSpec.parse(document(privacy=public, least_size=50)).warnings
    assert not ReleaseSpec.parse(document(privacy=PRIORS, partitioner="mondrian")).warnings
