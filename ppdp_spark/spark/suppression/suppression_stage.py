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
from ppdp_spark.run.criteria.absent_people import Counts, absent_people
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

ATTACK = "suppression_attack"
BEFORE_PLACING = "before people without a place were left out"

RANKS = 1_000
"""Ranks whose counts the private summary lists."""

_DECIDE: dict[str, Callable[[NDArray[np.int64], int, int, random.Random], core.Suppression]] = {
    "r": lambda counts, l, beside, rng: core.r_suppress(counts, l, rng, beside),
    "safe-d": lambda counts, l, beside, rng: core.safe_d(counts, l, beside),
    "unsafe-d": lambda counts, l, beside, rng: core.unsafe_d(counts, l, beside),
}


@dataclass(frozen=True, eq=False)
class Frequencies:
    """How many rows each value has.

    where
        every      the counts of all values
        protected  whether each of them needs protection: the others are never suppressed
    """

    every: NDArray[np.int64]
    protected: NDArray[np.bool_]

    @classmethod
    def of(cls, domain: SensitiveDomain, counts: Sequence[int] | None = None) -> Frequencies:
        """The counts of a domain, or others of its values."""
        mask = np.zeros(len(domain.values), np.bool_)
        mask[domain.judged.protected_codes] = True
        return cls(np.array(domain.counts if counts is None else counts, np.int64), mask)

    @property
    def own(self) -> NDArray[np.int64]:
        """The counts of the values that need protection."""
        return self.every[self.protected]

    @property
    def beside(self) -> int:
        """How many rows have a value that needs none."""
        return int(self.every[~self.protected].sum())


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


def missed(spec: ReleaseSpec, profile: Profile) -> Callable[[Counts], list[VerdictRow]] | None:
    """What published counts tell of people who are left out of this table; for one value per person."""
    if len(profile.domains) != 1 or profile.domains[0].case != "svpi":
        return None
    (domain,) = profile.domains
    without = profile.nulls.get(domain.column, 0) if spec.nulls == "suppress" else 0
    before = dict(zip(domain.values, domain.counts, strict=True))
    return lambda published: absent_people(before, published, without_value=without)


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
    counts = Frequencies.of(domain)
    if wanted.method == "none":
        return Decision(tuple(_eligibility_rows(counts, wanted.l)))
    found = _DECIDE[wanted.method](counts.own, wanted.l, counts.beside, rng)
    suppression = core.with_others(found, counts.every, counts.protected)
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
    audit = None
    if wanted.method == "r":
        audit = posterior(found.kept, found.total, wanted.l, beside=counts.beside)
    return Decision((budget, *_audit_rows(audit)), suppression, audit)


def published(decision: Decision, domain: SensitiveDomain | None, counts: Sequence[int]) -> Decision:
    """The decision with the audit of what is published, if people were left out for want of a place.

    The adversary sees the published counts and |T|, and takes everybody who is missing for suppressed. Counts
    that R-suppression cannot have left show that somebody found no place, and have no such posterior: the
    audit is then that of the table before, and says so.
    """
    suppression = decision.suppression
    if suppression is None or decision.audit is None or domain is None:
        return decision
    shown, l, total = Frequencies.of(domain, counts), suppression.l, suppression.total
    if int(shown.every.sum()) == suppression.published:
        return decision
    rows = tuple(row for row in decision.rows if row.criterion != ATTACK)
    possible = core.is_p_eligible(shown.own, l, shown.beside) and core.has_l_candidacy(
        shown.own, total, l, shown.beside
    )
    if not possible:
        told = [replace(row, level=f"{row.level}; {BEFORE_PLACING}") for row in _audit_rows(decision.audit)]
        return replace(decision, rows=(*rows, *told))
    audit = posterior(shown.own, total, l, beside=shown.beside)
    return replace(decision, rows=(*rows, *_audit_rows(audit)), audit=audit)


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
            ATTACK,
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


def _eligibility_rows(counts: Frequencies, l: int) -> list[VerdictRow]:
    """One row if every value is rare enough; otherwise one for each value that is not, by rank."""
    total = int(counts.every.sum())
    broken = core.violations(counts.own, l, counts.beside)
    if not broken:
        share = int(counts.own.max(initial=0)) / max(1, total)
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
    """For the private summary: counts of protected values by rank before and after, rate, audit in words."""
    suppression = decision.suppression
    if suppression is None or domain is None:
        return None
    before, after = Frequencies.of(domain), Frequencies.of(domain, suppression.kept.tolist())
    return {
        **suppression.to_dict(),
        "attribute": domain.column,
        "before": sorted(before.own.tolist(), reverse=True)[:RANKS],
        "after": sorted(after.own.tolist(), reverse=True)[:RANKS],
        "audit": None if decision.audit is None else decision.audit.to_dict(),
    }


def public_facts(spec: ReleaseSpec, decision: Decision) -> dict[str, Any] | None:
    """What the adversary of the paper is assumed to know: the method, l, |T|, and which attribute decided.

    Also that the table was l-eligible already, so that whoever is missing was left out for want of a place.
    """
    found, named = decision.suppression, spec.suppression.attribute
    if found is None:
        return None
    told: dict[str, Any] = {"method": found.method, "l": found.l, "total": found.total}
    told |= {} if found.suppressed else {"already_eligible": True}
    return told if named is None else {**told, "attribute": named}


def declared_rows(table: DataFrame, spec: ReleaseSpec, roles: Roles) -> DataFrame:
    """The rows that take part, with the columns that suppression tells rows apart by: those with a role."""
    columns = spec.columns
    names = [*columns.of_records, *columns.quasi_identifiers, *columns.publish_as_is]
    names += [attribute.column for attribute in columns.attributes]
    names += [each.column for each in (columns.household, columns.weight) if each is not None]
    return table.where(take_part(table, spec, roles)).select(*(C.quoted(name) for name in names))
