"""What the report says of households: households are not people, and what is not known is not promised."""

from __future__ import annotations

from ppdp_spark.core.criteria import AlphaK
from ppdp_spark.core.criteria.base import VerdictRow
from ppdp_spark.core.criteria.households.household_anonymity import HouseholdAnonymity
from ppdp_spark.core.criteria.households.known_household import KnownHousehold
from ppdp_spark.report import render
from ppdp_spark.report.sentences.criteria import guarantees

SUMMARY = {"command": "anonymize", "release": {"form": "generalized"}, "sensitive": {"column": "ill"}}


def told(criterion, value, status, **witness):
    row = VerdictRow(
        criterion.name, criterion.level, value, criterion.threshold, criterion.relation, 9,
        int(status == "fail"), status, witness, criterion.parameters,
    ).to_dict()  # fmt: skip
    verdict = {"status": status, "publishable": status == "pass", "reason": None, "criteria": [row]}
    assert "household" in render({**SUMMARY, "run_id": "r", "dataset": "d"}, verdict)
    (guarantee,) = guarantees(SUMMARY, verdict)
    return guarantee


def test_k_households():
    kept = told(HouseholdAnonymity(5), 6.0, "pass")
    assert kept.title == "k-anonymity in households, k = 5"
    assert kept.claim == (
        "Every published combination of quasi-identifiers belongs to at least 5 different households."
    )
    assert kept.margin == "Fewest households of a group: 6; at least 5 is needed: a margin of 1."
    assert "1 of 9 groups have people of fewer than 5" in told(HouseholdAnonymity(5), 2.0, "fail").claim


def test_somebody_who_knows_a_household():
    criterion = KnownHousehold(AlphaK(0.5, 2))
    kept = told(criterion, 0.4, "pass")
    assert kept.title == "known to a household: (α, k)-anonymity, α = 0.5, k = 2"
    assert kept.claim.startswith("Without the members of any one household: Every group has")
    assert "50 %" in kept.claim.replace("\u202f", " ").replace("50%", "50 %")
    broken = told(criterion, 0.9, "fail")
    assert broken.claim.startswith("Not met: without the members of any one household: 1 of 9 groups")
    assert guarantees(SUMMARY, {"criteria": [{**criterion_row(criterion), "status": "measured"}]}) == []


def criterion_row(criterion):
    return {"criterion": criterion.name, "level": criterion.level, "value": 0.4, "threshold": None}


def test_what_is_not_known_is_not_promised():
    reason = "the owner's table of households is not there"
    for criterion in (HouseholdAnonymity(5), KnownHousehold(AlphaK(0.5, 2))):
        unknown = told(criterion, None, "fail", reason=reason)
        assert unknown.status == "fail" and unknown.claim.startswith("Not met") and reason in unknown.claim
