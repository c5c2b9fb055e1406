"""What the report says about a reader who knows the program."""

from __future__ import annotations

from typing import Any

from ppdp_spark.core.attacks.algorithm_aware import AlgorithmAwareAudit, Audited, Place
from ppdp_spark.core.criteria import AlphaK
from ppdp_spark.core.criteria.base import VerdictRow
from ppdp_spark.report.sentences.criteria import Guarantee, guarantees

FOUND = Audited(
    groups=90,
    people=1200,
    bound=12,
    exact=9,
    unanswered=2,
    unknown=31,
    beyond=7,
    undecided=4,
    failing=3,
    worst=Place(0.8, 0.75, 0.5, 12, False),
)


def told(found: Audited = FOUND, **more: Any) -> Guarantee:
    (row,) = AlgorithmAwareAudit((AlphaK(0.5, 5),), 5, 1200, **more).decide(found)
    return said(row)


def said(row: VerdictRow) -> Guarantee:
    summary = {"spec": {"columns": {"sensitive": {"column": "illness"}}}}
    (guarantee,) = guarantees(summary, {"criteria": [row.to_dict()]})
    return guarantee


def test_what_was_measured_is_said_with_all_that_is_not_known() -> None:
    found = told(one_in=3)
    assert found.status == "measured" and found.claim == (
        "Whoever knows how this program makes groups is at most 80 % sure of the value of illness of anybody "
        "for whom there is an answer. Of 1,200 people looked at, 7 have a posterior that the criteria do not "
        "allow a group; for 4 that is not decided; for 31 there is no answer."
    )
    assert "not in the sample" in found.limits and "confidence of 99 %" in found.limits
    assert "not in the sample" not in told().limits


def test_a_condition_that_is_not_met_is_a_failure() -> None:
    assert told(limit=0.6).status == "fail" and told(limit=0.6).claim.startswith("Not met: ")
    assert told(Audited(groups=5, people=50), limit=0.6).claim.startswith(
        "Not met: there is no answer for any"
    )


def test_silence_is_said() -> None:
    row = VerdictRow("algorithm_aware", "not audited: so it is", None, None, "<=", 0, 0, "measured")
    assert said(row).claim.startswith("It was not looked at") and "(so it is)" in said(row).claim
