"""Suppression where some values need no protection, against the algorithm run record by record."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest

from ppdp_spark.core.criteria.release.bookkeeping import Eligibility
from ppdp_spark.core.data.groups import GroupSummaries
from ppdp_spark.core.data.value_names import Sensitivity
from ppdp_spark.core.suppression.adversary import candidates, exact_posterior, posterior
from ppdp_spark.core.suppression.r import outcome_distribution, safe_d, unsafe_d
from ppdp_spark.spark.data.profile import SensitiveDomain
from ppdp_spark.spark.suppression import suppression_stage as stage
from ppdp_spark.spec import ReleaseSpec

Counts = tuple[int, ...]


def stopped(kept: list[int], l: int, total: int, beside: int) -> bool:
    """No protected value is too frequent among all rows, and l protected values may have been the first."""
    ordered = sorted(kept, reverse=True)
    published = sum(kept) + beside
    return ordered[0] * l <= published and (ordered[l - 1] + total - published) * l > total


def literal(counts: Counts, l: int, beside: int, level: int | None = None) -> Counts:
    """One record at a time, rows beside untouched; with a level, STEP-1 first, which at level 0 takes all.

    Otherwise S_1 might be the only value that is missing.
    """
    if level == 0:
        return (0,) * len(counts)
    rank = sorted(range(len(counts)), key=lambda v: (-counts[v], v))
    kept, total = list(counts), sum(counts) + beside
    if level is not None:
        kept[rank[0]] = level
    while not stopped(kept, l, total, beside):
        kept[max((v for v in rank if kept[v] == max(kept)), key=rank.index)] -= 1
    return tuple(kept)


def levels(counts: Counts, l: int) -> dict[int, Fraction]:
    """How likely STEP-1 draws each level."""
    ordered = [*sorted(counts, reverse=True), 0]
    draw: dict[int, Fraction] = defaultdict(Fraction)
    for h in range(l):
        for level in range(ordered[h + 1], ordered[h] + 1):
            draw[level] += Fraction(1, l * (ordered[h] - ordered[h + 1] + 1))
    return draw


def skewed_tables(number: int, seed: int) -> Iterator[tuple[Counts, int, int]]:
    """Counts of protected values, l, and rows beside, where a protected value is too frequent."""
    rng = random.Random(seed)
    while number:
        m = rng.randint(2, 6)
        counts = tuple(rng.randint(1, rng.choice([3, 9, 20])) for _ in range(m))
        l, beside = rng.randint(2, m), rng.choice([0, 1, 5, 12, 30])
        if max(counts) * l > sum(counts) + beside:
            number -= 1
            yield counts, l, beside


def test_every_outcome_is_that_of_the_algorithm_record_by_record():
    for counts, l, beside in skewed_tables(300, 1):
        wanted: dict[Counts, Fraction] = defaultdict(Fraction)
        for level, share in levels(counts, l).items():
            wanted[literal(counts, l, beside, level)] += share
        assert outcome_distribution(counts, l, beside=beside) == wanted
        found = unsafe_d(counts, l, beside)
        assert tuple(found.kept) == literal(counts, l, beside) and found.total == sum(counts) + beside
        safe = safe_d(counts, l, beside)
        assert max(safe.kept) == sorted(counts)[-l]
        assert stopped(safe.kept.tolist(), l, safe.total, beside)


def compositions(total: int, parts: int) -> Iterator[Counts]:
    if parts == 1:
        yield (total,)
        return
    for head in range(1, total - parts + 2):
        for tail in compositions(total - head, parts - 1):
            yield (head, *tail)


@pytest.mark.parametrize(
    ("rows", "values", "l", "beside"), [(12, 4, 3, 3), (13, 3, 2, 6), (11, 4, 4, 2), (14, 3, 3, 1)]
)
def test_the_audit_is_the_posterior_over_all_base_tables_with_the_same_rows_beside(rows, values, l, beside):
    total = rows + beside
    mass: dict[Counts, dict[int, Fraction]] = defaultdict(lambda: defaultdict(Fraction))
    for counts in compositions(rows, values):
        if max(counts) * l > total:
            for level, share in levels(counts, l).items():
                mass[literal(counts, l, beside, level)][counts.index(max(counts))] += share
    assert mass
    for published, by_first in mass.items():
        found = candidates(published, total, l, beside)
        assert len(found) >= l and set(found) == set(by_first)
        if any(published):
            whole = sum(by_first.values())
            wanted = {value: part / whole for value, part in by_first.items()}
            assert exact_posterior(published, total, l, beside) == wanted
            audit = posterior(published, total, l, beside=beside)
            assert audit.posterior_max == pytest.approx(float(max(wanted.values())))


def spec(**suppression: object) -> ReleaseSpec:
    return ReleaseSpec.parse(
        {
            "version": 1,
            "dataset": "x",
            "columns": {
                "quasi_identifiers": {"age": "numeric"},
                "sensitive": {"column": "ill", "not_sensitive": ["none"]},
            },
            "suppression": suppression,
        }
    )


def domain(*counts: int) -> SensitiveDomain:
    about = Sensitivity(("none",), only=False)
    return SensitiveDomain(
        "ill", "svpi", "string", ("flu", "gout", "none", "zoster"), counts, sensitivity=about
    )


def test_unprotected_values_are_never_suppressed_and_may_be_as_frequent_as_they_are():
    asked = spec(method="r", l=3, budget=0.9)
    decision = stage.decide(asked, domain(30, 4, 40, 6), random.Random(7))
    assert decision.suppression is not None and decision.suppression.total == 80
    kept = decision.suppression.kept
    assert kept[2] == 40 and decision.suppression.removed[2] == 0
    assert stopped(kept[[0, 1, 3]].tolist(), 3, 80, 40) and kept[0] < 30
    nothing = stage.decide(asked, domain(20, 4, 90, 6), random.Random(7))
    assert nothing.suppression is not None and not nothing.suppression.suppressed
    facts = stage.facts(domain(30, 4, 40, 6), decision)
    assert facts is not None and facts["before"] == [30, 6, 4] and len(facts["after"]) == 3


def test_eligibility_is_about_protected_values_among_all_rows():
    (fine,) = stage.decide(spec(l=3), domain(20, 4, 90, 6), random.Random()).rows
    (broken,) = stage.decide(spec(l=3), domain(30, 4, 40, 6), random.Random()).rows
    assert fine.ok and fine.value == 20 / 120
    assert not broken.ok and broken.value == 30 / 80


def test_a_release_is_judged_by_the_counts_of_protected_values():
    mask = (True, True, False, True)
    groups = GroupSummaries(np.array([60, 20]), np.array([[20, 2, 38, 0], [4, 2, 8, 6]]))
    for total, holds in ((80, True), (90, True), (200, True)):
        rows = Eligibility(3, total, mask).decide(Eligibility(3, total, mask).summarise(groups, np.arange(2)))
        assert rows[0].ok is holds and rows[0].value == 24 / 80
        if total > 80:
            assert rows[1].ok == ((4 + total - 80) * 3 > total)
    assert not Eligibility(3, 80).decide(np.array([24, 4, 46, 6]))[0].ok


def test_the_audit_is_of_what_is_published():
    """Whoever found no place is missing like those suppressed: the adversary sees no difference."""
    asked, held = spec(method="r", l=3, budget=0.9), domain(30, 9, 10, 12)
    decision = stage.decide(asked, held, random.Random(3))
    assert decision.suppression is not None and decision.audit is not None
    kept = decision.suppression.kept
    assert stage.published(decision, held, kept.tolist()) is decision
    fewer = (kept - [1, 0, 2, 1]).tolist()
    shown = stage.published(decision, held, fewer)
    wanted = posterior([fewer[0], fewer[1], fewer[3]], 61, 3, beside=fewer[2])
    assert shown.audit is not None and shown.audit.posterior == wanted.posterior != decision.audit.posterior
    row = next(row for row in shown.rows if row.criterion == "suppression_attack")
    assert row.value == wanted.posterior_max and [r.criterion for r in shown.rows] == [
        r.criterion for r in decision.rows
    ]
    impossible = stage.published(decision, held, [30, 0, 0, 0])
    assert impossible.audit is decision.audit
    assert impossible.rows[-1].level.endswith("before people without a place were left out")


def test_candidacy_is_not_asked_of_a_table_that_was_eligible_already():
    """Sixty people, at most a third with one value; one finds no place, and nothing was suppressed."""
    counts = np.array([19, 19, 11, 10])
    assert [row.ok for row in Eligibility(3, 60).decide(counts)] == [True, False]
    (row,) = Eligibility(3, 60, already=True).decide(counts)
    assert row.ok and "most frequent value" in row.level
    rng = random.Random(1)
    eligible, violating = (
        stage.public_facts(spec(), stage.decide(spec(method="r", l=3, budget=1), table, rng))
        for table in (domain(20, 20, 10, 10), domain(40, 10, 5, 5))
    )
    assert eligible == {"method": "r", "l": 3, "total": 60, "already_eligible": True}
    assert violating == {"method": "r", "l": 3, "total": 60}
