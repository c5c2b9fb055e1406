"""What a spec wants to know about readers who know the program."""

from __future__ import annotations

from collections.abc import Sequence

from ppdp_spark.core.attacks.algorithm_aware import NAME, AlgorithmAwareAudit
from ppdp_spark.core.criteria.base import LocalCriterion, VerdictRow
from ppdp_spark.spec import ReleaseSpec
from ppdp_spark.spec.requirements import not_audited

SAMPLE_PEOPLE = 20_000
"""People of whose groups a sample consists, about."""

_ROOM = 4
"""A sample of so many times the people still has intervals that hold together with the confidence stated."""


def audit_of_cuts(
    spec: ReleaseSpec, criteria: Sequence[LocalCriterion], people: int
) -> AlgorithmAwareAudit | None:
    """The audit of groups that these criteria cut from so many people; None if the spec has none."""
    if spec.audit.algorithm == "none" or not_audited(spec) is not None:
        return None
    least = max(2, spec.privacy.least_group_size)
    if spec.audit.algorithm == "full":
        return AlgorithmAwareAudit(tuple(criteria), least, people, limit=spec.audit.at_most, cuts=spec.cuts)
    one_in = max(1, people // SAMPLE_PEOPLE)
    expected = min(people, _ROOM * SAMPLE_PEOPLE)
    return AlgorithmAwareAudit(tuple(criteria), least, expected, one_in, cuts=spec.cuts)


def silence(spec: ReleaseSpec) -> list[VerdictRow]:
    """The verdict row that says why there is no audit."""
    reason = not_audited(spec) or "`audit.algorithm` is none"
    return [VerdictRow(NAME, f"not audited: {reason}", None, None, "<=", 0, 0, "measured")]
