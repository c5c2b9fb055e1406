"""The attack audit against a brute force over all base tables that runs the algorithm literally."""

from __future__ import annotations

import random
from collections import defaultdict
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from ppdp_spark.core.suppression.adversary import PRIOR, candidates, exact_posterior, posterior
from ppdp_spark.core.suppression.base_tables import Hypothesis, Release, hypotheses
from ppdp_spark.core.suppression.r import r_suppress
from ppdp_spark.errors import DataError, NotConvergedError, SpecError


def compositions(total, parts):
    if parts == 1:
        yield (total,)
        return
    for head in range(1, total - parts + 2):
        for tail in compositions(total - head, parts - 1):
            yield (head, *tail)


def literal(counts, l, level):
    rank = sorted(range(len(counts)), key=lambda v: (-counts[v], v))
    kept, total = list(counts), sum(counts)
    kept[rank[0]] = level
    while True:
        ordered = sorted(kept, reverse=True)
        if ordered[0] * l <= sum(kept) and (ordered[l - 1] + total - sum(kept)) * l > total:
            return tuple(kept)
        kept[max((v for v in rank if kept[v] == ordered[0]), key=rank.index)] -= 1


@cache
def joint(total, values, l):
    """Pr(T_P, S_1) up to a constant, under the uniform prior: {T_P: {S_1: mass}}."""
    mass = defaultdict(lambda: defaultdict(Fraction))
    for counts in compositions(total, values):
        if max(counts) * l <= total:
            continue
        ordered = [*sorted(counts, reverse=True), 0]
        draw = defaultdict(Fraction)
        for h in range(l):
            for level in range(ordered[h + 1], ordered[h] + 1):
                draw[level] += Fraction(1, l * (ordered[h] - ordered[h + 1] + 1))
        for level, p in draw.items():
            mass[literal(counts, l, level)][counts.index(max(counts))] += p
    return mass


SMALL = [
    (14, 4, 3),
    (12, 4, 2),
    (13, 4, 4),
    (15, 6, 2),
    (11, 5, 4),
    (20, 3, 2),
    (20, 3, 3),
    (14, 6, 3),
    (10, 6, 4),
    (11, 7, 4),
]


@pytest.mark.parametrize(("total", "values", "l"), [*SMALL, (18, 5, 3)])
def test_exact_posterior_and_candidates_of_every_release(total, values, l):
    releases = joint(total, values, l)
    assert releases
    for published, mass in releases.items():
        found = candidates(published, total, l)
        assert len(found) >= l
        assert set(found) == set(mass)
        if any(published):
            whole = sum(mass.values())
            assert exact_posterior(published, total, l) == {v: p / whole for v, p in mass.items()}


def test_the_largest_posterior_of_18_records_5_values_l_3():
    """38/53 = 0.717: the prior is uniform over *labelled* count vectors."""
    shares = {w: max(mass.values()) / sum(mass.values()) for w, mass in joint(18, 5, 3).items()}
    worst = max(shares, key=shares.__getitem__)
    assert sorted(worst) == [1, 1, 4, 4, 5]
    audit = posterior(worst, 18, 3)
    assert max(exact_posterior(worst, 18, 3).values()) == shares[worst] == Fraction(38, 53)
    assert (audit.method, round(audit.posterior_max, 3)) == ("exact", 0.717)


def test_values_absent_from_the_base_table_change_nothing():
    with_absent = exact_posterior((5, 0, 4, 4, 1, 1, 0), 18, 3)
    assert list(with_absent.values()) == list(exact_posterior((5, 4, 4, 1, 1), 18, 3).values())


def random_release(rng, largest):
    while True:
        m = rng.randint(3, 7)
        l = rng.randint(2, m - 1)
        counts = [rng.randint(1, rng.choice([5, 12, 20])) for _ in range(m)]
        counts[rng.randrange(m)] += largest
        if max(counts) * l > sum(counts):
            return r_suppress(counts, l, rng), l


def test_monte_carlo_interval_covers_the_exact_value():
    """60 intervals of 95 %: 50 or fewer covering has a probability below 1e-3."""
    rng = random.Random(5)
    covered = total = 0
    while total < 60:
        release, l = random_release(rng, 20)
        exact = posterior(release.kept, release.total, l)
        if exact.method != "exact":
            continue
        sampled = posterior(release.kept, release.total, l, exact_limit=0, samples=5_000, seed=total)
        assert sampled.method == "monte-carlo"
        assert sampled.effective >= 100
        assert sampled.interval is not None
        low, high = sampled.interval
        assert 0 <= low <= sampled.posterior_max <= high <= 1
        assert sum(sampled.posterior) == pytest.approx(1)
        total += 1
        covered += low - 1e-12 <= exact.posterior_max <= high + 1e-12
    assert covered > 50


def test_monte_carlo_estimates_converge_and_are_seeded():
    published, total, l = (9, 9, 5, 3, 2), 60, 3
    exact = posterior(published, total, l)
    first = posterior(published, total, l, exact_limit=0, samples=200_000, seed=1)
    assert exact.method == "exact"
    assert first.posterior == pytest.approx(exact.posterior, abs=0.01)
    assert first == posterior(published, total, l, exact_limit=0, samples=200_000, seed=1)
    assert first != posterior(published, total, l, exact_limit=0, samples=200_000, seed=2)


def test_draws_weighted_are_uniform_over_the_tables_of_a_hypothesis():
    release = Release(np.array([9, 9, 5, 3, 2]), 60, 3)
    hypothesis = Hypothesis(release, 2, 2, 0)
    cut, extra = hypothesis.tables()
    assert len(cut) == hypothesis.number()
    drawn_cut, drawn, weights = hypothesis.draws(200_000, np.random.default_rng(3))
    index = {tuple(np.array(e)[np.argsort(c)]): n for n, (c, e) in enumerate(zip(cut, extra, strict=True))}
    ordered = np.take_along_axis(drawn, np.argsort(drawn_cut, axis=1), axis=1)
    cells = np.array([index[tuple(row)] for row in ordered.tolist()])
    share = np.bincount(cells, weights=weights, minlength=len(index)) / weights.sum()
    spread = np.sqrt(np.bincount(cells, weights=weights**2, minlength=len(index))) / weights.sum()
    assert np.all(np.abs(share - 1 / len(index)) < 5.5 * np.maximum(spread, 1e-9))
    assert weights.mean() == pytest.approx(1, abs=0.02)


def test_large_releases():
    counts = np.array([10**9 // i for i in range(1, 21)])
    for seed in range(6):
        release = r_suppress(counts, 5, random.Random(seed))
        audit = posterior(release.kept, release.total, 5, seed=seed)
        assert len(audit.candidates) >= 5
        assert audit.interval is not None
        low, high = audit.interval
        assert high - low < 0.05
        assert audit.posterior_max >= 1 / len(audit.candidates)
        again = posterior(release.kept, release.total, 5, seed=seed + 100)
        assert again.interval[0] <= high and low <= again.interval[1]


def test_extreme_releases():
    nothing_published = posterior([0, 0, 0], 12, 3)
    assert (nothing_published.method, nothing_published.candidates) == ("symmetry", (0, 1, 2))
    assert nothing_published.posterior_max == pytest.approx(1 / 3)
    many = posterior(np.ones(100_000, dtype=np.int64), 200_000, 3)
    assert (many.method, many.posterior_max) == ("symmetry", 1e-5)
    untouched = posterior([3, 3, 3], 9, 3)
    assert (untouched.method, untouched.posterior_max, untouched.candidates) == ("not-needed", None, ())
    assert "Nothing was suppressed" in untouched.sentence
    grouped = posterior(np.r_[500, np.full(80, 300)], 40_000, 3, samples=20_000)
    assert grouped.method == "monte-carlo"
    assert sum(grouped.posterior) == pytest.approx(1)


def test_what_is_not_a_result_of_r_suppression_is_refused():
    with pytest.raises(DataError, match="not l-eligible"):
        posterior([9, 1, 1], 20, 2)
    with pytest.raises(DataError, match="candidacy"):
        posterior([6, 6, 1, 1, 4], 19, 3)
    with pytest.raises(DataError, match="`total`"):
        candidates([3, 3], 5, 2)
    with pytest.raises(SpecError, match="`total`"):
        candidates([3, 3], 2**62, 2)


def test_too_few_samples_are_no_answer():
    with pytest.raises(NotConvergedError, match="raise `samples`"):
        posterior((9, 9, 5, 3, 2), 60, 3, exact_limit=0, samples=50)


def test_the_audit_in_plain_words_and_numbers():
    audit = posterior((5, 4, 4, 1, 1), 18, 3)
    assert audit.prior == PRIOR
    told = audit.to_dict()
    assert told["candidates"] == 3
    assert told["posterior_max"] == pytest.approx(38 / 53)
    assert "posterior" not in told
    assert "At least 3 values" in told["sentence"] and "0.717, exactly" in told["sentence"]
    sampled = posterior((5, 4, 4, 1, 1), 18, 3, exact_limit=0)
    assert "between 0.7" in sampled.sentence


def test_hypotheses_count_their_tables():
    release = Release(np.array([5, 5, 4, 1, 1]), 24, 3)
    for hypothesis in hypotheses(release, 0):
        cut, extra = hypothesis.tables()
        assert len(cut) == len(extra) == hypothesis.number()
        assert isinstance(hypothesis, Hypothesis)
