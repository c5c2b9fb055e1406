"""The suppression stage: decide on counts, audit what an adversary infers, then take the rows away."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import DataFrame

from ppdp_spark.core.criteria.base import VerdictRow
from ppdp_spark.core.suppression import r as core
from ppdp_spark.core.suppression.adversary import AttackAudit, posterior
from ppdp_spark.core.suppression.keyed_random import KeyedRandom
from ppdp_spark.errors import BudgetError, InfeasibleError, PpdpError
from ppdp_spark.run.criteria.refusals import Refusal
from ppdp_spark.run.registry import Registry
from ppdp_spark.run.results import Verdict
from ppdp_spark.spark.data.profile import Profile, SensitiveDomain, recounted, sensitive_value, take_part
from ppdp_spark.spark.data.tables import Roles
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.suppression.suppress_rows import Loss, suppress_rows
from ppdp_spark.spec import ReleaseSpec, SuppressionSpec

SAME_DRAW = (
    "running again on the same data draws the same, because a fresh draw after a refusal would tell "
    "others more about the most frequent value than the audit says: raise the budget, or choose a smaller l "
    "(the key of the draw is `.releases/draw.key` beside the output: publish all releases of these data from "
    "the same folder)"
)
"""What the owner must know who would simply try again."""

RANKS = 1_000
"""Ranks whose counts the private summary lists."""

_DECIDE: dict[str, Callable[[NDArray[np.int64], int, random.Random], core.Suppression]] = {
    "r": lambda counts, l, rng: core.r_suppress(counts, l, rng),
    "safe-d": lambda counts, l, rng: core.safe_d(counts, l),
    "unsafe-d": lambda counts, l, rng: core.unsafe_d(counts, l),
}


@dataclass(frozen=True)
class Decision:
    """How many rows of each value go, and what an adversary can make of it.

    where
        rows        verdict rows: eligibility before, the budget
        suppression None where nothing was asked or nothing may be suppressed
        audit       what the published counts tell about the most frequent value
    """

    rows: tuple[VerdictRow, ...] = ()
    suppression: core.Suppression | None = None
    audit: AttackAudit | None = None

    @property
    def within_budget(self) -> bool:
        return all(row.ok for row in self.rows if row.criterion == "suppression_budget")

    @property
    def ok(self) -> bool:
        return all(row.ok for row in self.rows)


def decisive(spec: ReleaseSpec, profile: Profile) -> SensitiveDomain | None:
    """The attribute whose frequent values are suppressed; None if suppression is not asked about any."""
    asked = spec.suppression.method != "none" or spec.suppression.l is not None
    if not asked or spec.deciding is None:
        return None
    return next(domain for domain in profile.domains if domain.column == spec.deciding.column)


def generator(spec: ReleaseSpec, domain: SensitiveDomain | None, draws: Registry) -> random.Random:
    """The draw for these very data: a function of the owner's secret key and of the counts of values.

    Running again on the same data draws the same, however the last run ended. A fresh draw after a
    refusal would be a draw under the condition that the budget holds, which tells more about the most
    frequent value than the audit says. The variants of a sweep use the key of the output they vary. A fixed
    seed only where the spec insists.
    """
    wanted = spec.suppression
    if wanted.unsafe_fixed_seed is not None:
        return random.Random(wanted.unsafe_fixed_seed)
    if wanted.method == "none" or domain is None:
        return core.secret_rng()
    counted = [domain.column, domain.values, domain.counts]
    name = json.dumps(counted, separators=(",", ":")).encode()
    return KeyedRandom(draws.draw_key(), name)


def decide(spec: ReleaseSpec, domain: SensitiveDomain | None, rng: random.Random) -> Decision:
    """Decide once on the counts of values. Nothing is ever redrawn: that would change the odds."""
    found = _decided(spec.suppression, domain, rng)
    attribute = spec.suppression.attribute
    if attribute is None:
        return found
    return replace(found, rows=tuple(row.of_attribute(attribute) for row in found.rows))


def _decided(wanted: SuppressionSpec, domain: SensitiveDomain | None, rng: random.Random) -> Decision:
    if wanted.l is None or domain is None:
        return Decision()
    counts = np.array(domain.counts, np.int64)
    if wanted.method == "none":
        return Decision(tuple(_eligibility_rows(counts, wanted.l)))
    suppression = _DECIDE[wanted.method](counts, wanted.l, rng)
    budget = VerdictRow(
        "suppression_budget",
        f"method {wanted.method}, l = {wanted.l}",
        suppression.rate,
        wanted.budget,
        "<=",
        0,
        int(suppression.rate > wanted.budget),
        "fail" if suppression.rate > wanted.budget else "pass",
    )
    audit = posterior(suppression.kept, suppression.total, wanted.l) if wanted.method == "r" else None
    return Decision((budget, *_audit_rows(audit)), suppression, audit)


def refusal_of(decision: Decision) -> Refusal | None:
    """Stops before anything is written if the data is too skewed, or the cure costs too much."""
    if decision.ok:
        return None
    failing = next(row for row in decision.rows if not row.ok)
    if decision.within_budget:
        error: PpdpError = InfeasibleError(
            "the data is not l-eligible: a sensitive value is too frequent (see the private verdict); "
            "set `suppression.method: r`, or a smaller `suppression.l`"
        )
    else:
        error = BudgetError(
            f"suppression would remove {failing.value:.2%} of the rows, more than "
            f"`suppression.budget` ({failing.threshold:.2%}); {SAME_DRAW}"
        )
    return Refusal(decision.rows, error)


def with_decision(judged: Sequence[VerdictRow], decision: Decision, spec: ReleaseSpec) -> Verdict:
    """The verdict on a release: what was decided about suppression, then what its files say."""
    seeded = spec.suppression.unsafe_fixed_seed is not None
    reason = "the suppression used a fixed seed: not for publication" if seeded else None
    return Verdict((*decision.rows, *judged), not seeded, reason)


def _audit_rows(audit: AttackAudit | None) -> list[VerdictRow]:
    """What an adversary may conclude about the most frequent value, beside what the paper promises."""
    if audit is None or audit.posterior_max is None or audit.interval is None:
        return []
    low, high = audit.interval
    promised = {"candidates": len(audit.candidates), "candidates promised": audit.l}
    estimate = {"from": low, "to": high, "confidence": audit.confidence, "method": audit.method}
    return [
        VerdictRow(
            "suppression_attack",
            f"most frequent value before suppression, l = {audit.l}; prior: {audit.prior}",
            audit.posterior_max,
            None,
            "<=",
            0,
            0,
            "measured",
            {**promised, **estimate},
        )
    ]


def _eligibility_rows(counts: NDArray[np.int64], l: int) -> list[VerdictRow]:
    """One row if every value is rare enough; otherwise one for each value that is not, by rank."""
    total = int(counts.sum())
    broken = core.violations(counts, l)
    if not broken:
        share = int(counts.max(initial=0)) / max(1, total)
        return [VerdictRow("l_eligibility", f"l = {l}", share, 1 / l, "<=", 0, 0, "pass")]
    return [
        VerdictRow(
            "l_eligibility",
            f"l = {l}, value of rank {found.rank}",
            found.count / total,
            1 / l,
            "<=",
            0,
            1,
            "fail",
            {"rank": found.rank, "rows": found.count, "rows above |T|/l": found.excess},
        )
        for found in broken
    ]


def taken_away(
    table: DataFrame,
    spec: ReleaseSpec,
    domain: SensitiveDomain | None,
    *,
    decision: Decision,
    rng: random.Random,
) -> DataFrame:
    """The rows that take part without those that go; `table` has the columns that tell rows apart."""
    suppression = decision.suppression
    if suppression is None or domain is None or not suppression.suppressed:
        return table
    losses = [
        Loss(domain.values[i], domain.counts[i], int(suppression.removed[i]))
        for i in np.flatnonzero(suppression.removed).tolist()
    ]
    assert spec.deciding is not None
    return suppress_rows(table, sensitive_value(spec.deciding, table), losses, rng)


def apply(
    table: DataFrame,
    spec: ReleaseSpec,
    roles: Roles,
    profile: Profile,
    *,
    decision: Decision,
    rng: random.Random,
) -> tuple[DataFrame, Profile]:
    """The table without the rows that go, and its profile; the table as it is if none go."""
    suppression, domain = decision.suppression, decisive(spec, profile)
    if suppression is None or domain is None or not suppression.suppressed:
        return table, profile
    kept = taken_away(declared_rows(table, spec, roles), spec, domain, decision=decision, rng=rng)
    left = replace(domain, counts=tuple(int(number) for number in suppression.kept))
    domains = tuple(left if each is domain else each for each in profile.domains)
    profile = replace(profile, kept=suppression.published, domains=domains)
    return kept, recounted(kept, spec, roles, profile)


def facts(domain: SensitiveDomain | None, decision: Decision) -> dict[str, Any] | None:
    """For the private summary: counts by rank before and after, the rate, the audit in words."""
    suppression = decision.suppression
    if suppression is None or domain is None:
        return None
    return {
        **suppression.to_dict(),
        "attribute": domain.column,
        "before": sorted(domain.counts, reverse=True)[:RANKS],
        "after": sorted((int(n) for n in suppression.kept), reverse=True)[:RANKS],
        "audit": None if decision.audit is None else decision.audit.to_dict(),
    }


def public_facts(spec: ReleaseSpec, decision: Decision) -> dict[str, Any] | None:
    """What the adversary of the paper is assumed to know: the method, l, |T|, and which attribute decided."""
    found, named = decision.suppression, spec.suppression.attribute
    if found is None:
        return None
    told = {"method": found.method, "l": found.l, "total": found.total}
    return told if named is None else {**told, "attribute": named}


def declared_rows(table: DataFrame, spec: ReleaseSpec, roles: Roles) -> DataFrame:
    """The rows that take part, with the columns that suppression tells rows apart by: those with a role."""
    columns = spec.columns
    names = [*columns.of_records, *columns.quasi_identifiers, *columns.publish_as_is]
    names += [attribute.column for attribute in columns.attributes]
    names += [columns.household.column] if columns.household is not None else []
    return table.where(take_part(table, spec, roles)).select(*(C.quoted(name) for name in names))
