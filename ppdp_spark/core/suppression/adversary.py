"""What the adversary of the suppression paper learns about S_1 from a release by R-suppression.

The adversary knows the algorithm, T_P and |T| [Skewed, Sec 2], and wants the most frequent value S_1 of
the base table T. The paper proves that at least l values remain possible, and bounds the posterior by
1/l on the premise that "each eligible set is equally likely" [Skewed, Lemma 1]. This audit drops the
premise: it states a prior over base tables and computes the posterior of that prior.

**Prior.** Uniform over the vectors of positive counts of the published values that sum to |T| and violate
l-eligibility; given the counts, who has which value is exchangeable, so T_P tells no more than its
counts. Admitting values that do not occur in T_P changes nothing: R-suppression never removes a value
altogether unless it publishes nothing. Of values that need no protection all rows are in T_P; the vectors
of the prior then sum to |T| without these rows, `beside` in number.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, softmax

from ppdp_spark.core.data.groups import FloatArray
from ppdp_spark.core.suppression.base_tables import Hypothesis, Release, hypotheses
from ppdp_spark.core.suppression.d import Counts, checked_l, count_vector, exact_total
from ppdp_spark.core.suppression.r import has_l_candidacy, is_p_eligible
from ppdp_spark.errors import DataError, NotConvergedError, SpecError

PRIOR = (
    "uniform over all vectors of positive counts of the published values that sum to |T| and violate "
    "l-eligibility"
)
_CANDIDATES_APART = 64
_DRAWN_OF_A_GROUP = 8
_MIN_EFFECTIVE_SAMPLES = 100
_CHUNK = 20_000


@dataclass(frozen=True)
class AttackAudit:
    """What an adversary may conclude about S_1; computed from public numbers only.

    where
        l              the l of the release
        candidates     positions of the values that may be S_1, in the caller's order
        guarantee      1/l, the paper's bound
        posterior_max  largest posterior of a value being S_1 under `prior`; None if nothing was suppressed
        interval       where `posterior_max` lies: a point if exact, else a confidence interval
        confidence     of `interval`: 1 if exact
        method         `exact`, `monte-carlo`, `symmetry` (candidates alike), `not-needed` (none suppressed)
        prior          the prior over base tables, in words
        posterior      posterior of each candidate, in the order of `candidates`
        evaluations    base tables looked at
        effective      effective sample size of a Monte Carlo answer
    """

    l: int
    candidates: tuple[int, ...]
    guarantee: float
    posterior_max: float | None
    interval: tuple[float, float] | None
    confidence: float
    method: str
    prior: str
    posterior: tuple[float, ...]
    evaluations: int
    effective: float | None = None

    @property
    def sentence(self) -> str:
        if self.posterior_max is None or self.interval is None:
            return "Nothing was suppressed: no value is more frequent than 1/l, so there is nothing to infer."
        low, high = self.interval
        how = "exactly" if self.method in ("exact", "symmetry") else f"between {low:.3f} and {high:.3f}"
        share = f"{self.posterior_max:.3f}, {how}" if how == "exactly" else how
        return (
            f"At least {self.l} values ({len(self.candidates)} here) may have been the most frequent one "
            f"before suppression; an adversary for whom every skewed base table was equally likely gives "
            f"the likeliest of them probability {share} (1/l is {self.guarantee:.3f})."
        )

    def to_dict(self) -> dict[str, Any]:
        """Aggregates: how many candidates, not which."""
        return {
            "l": self.l,
            "candidates": len(self.candidates),
            "guarantee": self.guarantee,
            "posterior_max": self.posterior_max,
            "interval": None if self.interval is None else list(self.interval),
            "confidence": self.confidence,
            "method": self.method,
            "prior": self.prior,
            "evaluations": self.evaluations,
            "effective": self.effective,
            "sentence": self.sentence,
        }


def candidates(published: Counts, total: int, l: int, beside: int = 0) -> tuple[int, ...]:
    """Positions of the values that may be S_1 given T_P and |T|: those with F'_i >= F'_l, so at least l.

    Each of them may: T_P with all suppressed records given to S'_i violates l-eligibility by l-candidacy,
    has S'_i on top by P-eligibility, and level F'_i is one STEP-1 can draw [Skewed, Lemma 1]. No other
    may: STEP-1 leaves fewer than l values above S_1, and D-suppression keeps the order. If nothing was
    suppressed there is no S_1 to hide, and no candidate.
    """
    vector = _checked_release(published, total, l, beside)
    if exact_total(vector) + beside == total:
        return ()
    if not vector.any():
        return tuple(range(vector.size))
    return tuple(np.flatnonzero(vector >= np.partition(vector, -l)[-l]).tolist())


def _checked_release(published: Counts, total: int, l: int, beside: int) -> NDArray[np.int64]:
    vector = count_vector(published)
    l_value = checked_l(l)
    if total >= 2**62:
        raise SpecError("`total` must be below 2**62")
    if not is_p_eligible(vector, l_value, beside):
        raise DataError("`published` (not l-eligible) must be a result of R-suppression")
    if exact_total(vector) + beside != total and (
        l_value > vector.size or not has_l_candidacy(vector, total, l_value, beside)
    ):
        raise DataError("`published` (without l-candidacy) must be a result of R-suppression")
    return vector


def posterior(
    published: Counts,
    total: int,
    l: int,
    *,
    beside: int = 0,
    seed: int = 0,
    samples: int = 100_000,
    exact_limit: int = 200_000,
    confidence: float = 0.95,
) -> AttackAudit:
    """The audit of a release: exact if at most `exact_limit` base tables fit it, else Monte Carlo.

    Nothing suppressed: no S_1 to hide. Nothing published: the prior favours no value. More than
    64 candidates: equally frequent ones share their posterior evenly (the prior favours none of them; only
    when two tie for the top of T does the algorithm call the earlier one S_1).

    The Monte Carlo estimator is self-normalised importance sampling: draw a hypothesis (S_1, how many
    values STEP-2 cut), half the time in proportion to its number of base tables and half the time evenly,
    then a base table of it; weigh it by prior over proposal times its exact likelihood. The interval is
    the normal one of that ratio, simultaneous over all candidates (Bonferroni), so that it holds for
    the largest of them.
    """
    found = candidates(published, total, l, beside)
    release = Release(count_vector(published), total, l, beside)
    if not found:
        return _audit(l, found, np.zeros(0), method="not-needed")
    equal = np.unique(release.counts[list(found)]).size == 1
    if not release.counts.any() or (equal and len(found) > _CANDIDATES_APART):
        return _audit(l, found, np.full(len(found), 1 / len(found)), method="symmetry")
    apart = len(found) <= _CANDIDATES_APART
    groups = [(v,) for v in found] if apart else _equally_frequent(release, found)
    rng = np.random.default_rng(seed)
    cases = [case for group in groups for case in _cases(release, group, rng)]
    evaluations = sum(case.hypothesis.number() for case in cases)
    if apart and evaluations <= exact_limit:
        exact = exact_posterior(published, total, l, beside)
        shares = np.array([float(exact[value]) for value in found])
        return _audit(l, found, shares, method="exact", evaluations=evaluations)
    return _monte_carlo(cases, found, rng=rng, samples=samples, confidence=confidence)


def exact_posterior(published: Counts, total: int, l: int, beside: int = 0) -> dict[int, Fraction]:
    """Pr(S_1 = value | T_P, |T|) of every candidate, by enumeration of all base tables that fit."""
    found = candidates(published, total, l, beside)
    release = Release(count_vector(published), total, l, beside)
    mass = {value: sum(map(_exact_mass, hypotheses(release, value)), Fraction(0)) for value in found}
    whole = sum(mass.values())
    return {value: part / whole for value, part in mass.items()}


def _exact_mass(hypothesis: Hypothesis) -> Fraction:
    """l · Σ Pr(T_P | T) over the base tables of a hypothesis."""
    hits, lengths = hypothesis.hits(*hypothesis.tables())
    distinct, index = np.unique(lengths, return_inverse=True)
    summed = np.zeros(distinct.size, dtype=np.int64)
    np.add.at(summed, index.ravel(), hits.ravel())
    return sum((Fraction(int(h), int(n)) for h, n in zip(summed, distinct, strict=True)), Fraction(0))


@dataclass(frozen=True)
class _Case:
    """A hypothesis that stands for `copies` like it: one for each of `group`, shared by those drawn."""

    hypothesis: Hypothesis
    group: tuple[int, ...]
    copies: float

    @property
    def log_tables(self) -> float:
        return math.log(self.hypothesis.number()) + math.log(self.copies)


def _equally_frequent(release: Release, found: tuple[int, ...]) -> list[tuple[int, ...]]:
    positions = np.array(found)
    published = release.counts[positions]
    return [tuple(positions[published == count].tolist()) for count in np.unique(published)]


def _cases(release: Release, group: tuple[int, ...], rng: np.random.Generator) -> list[_Case]:
    drawn = rng.choice(np.array(group), size=min(len(group), _DRAWN_OF_A_GROUP), replace=False)
    copies = len(group) / drawn.size
    return [_Case(case, group, copies) for value in drawn for case in hypotheses(release, int(value))]


def _monte_carlo(
    cases: list[_Case],
    found: tuple[int, ...],
    *,
    rng: np.random.Generator,
    samples: int,
    confidence: float,
) -> AttackAudit:
    log_tables = np.array([case.log_tables for case in cases])
    proposal = 0.5 * softmax(log_tables) + 0.5 / len(cases)
    importance = np.exp(log_tables - log_tables.max()) / proposal
    sums: dict[tuple[int, ...], FloatArray] = {case.group: np.zeros(2) for case in cases}
    for index, size in enumerate(rng.multinomial(samples, proposal)):
        weights = importance[index] * _likelihoods(cases[index].hypothesis, int(size), rng)
        sums[cases[index].group] += (weights.sum(), np.square(weights).sum())
    return _estimate(cases[0].hypothesis.release.l, found, sums, samples=samples, confidence=confidence)


def _likelihoods(hypothesis: Hypothesis, size: int, rng: np.random.Generator) -> FloatArray:
    """Pr(T_P | T) of `size` base tables drawn, times their weights."""
    parts = [np.zeros(0)]
    for start in range(0, size, _CHUNK):
        cut, extra, weights = hypothesis.draws(min(_CHUNK, size - start), rng)
        hits, lengths = hypothesis.hits(cut, extra)
        parts.append(weights * (hits / lengths).mean(axis=1))
    return np.concatenate(parts)


def _estimate(
    l: int,
    found: tuple[int, ...],
    sums: dict[tuple[int, ...], FloatArray],
    *,
    samples: int,
    confidence: float,
) -> AttackAudit:
    weight, square = np.array(list(sums.values())).T
    effective = float(weight.sum() ** 2 / square.sum()) if square.any() else 0.0
    if effective < _MIN_EFFECTIVE_SAMPLES:
        raise NotConvergedError(
            f"the attack audit's effective sample size ({effective:.0f}) must be at least "
            f"{_MIN_EFFECTIVE_SAMPLES}: raise `samples` ({samples})"
        )
    share = weight / weight.sum()
    spread = np.sqrt((1 - share) ** 2 * square + share**2 * (square.sum() - square)) / weight.sum()
    margin = float(ndtri(1 - (1 - confidence) / (2 * share.size))) * spread
    sizes = np.array([len(group) for group in sums])
    interval = (
        max(0.0, float(((share - margin) / sizes).max())),
        min(1.0, float(((share + margin) / sizes).max())),
    )
    by_value = {v: part / len(group) for group, part in zip(sums, share, strict=True) for v in group}
    shares = np.array([by_value.get(value, 0.0) for value in found])
    audit = _audit(l, found, shares, method="monte-carlo", evaluations=samples)
    return replace(audit, interval=interval, confidence=confidence, effective=effective)


def _audit(
    l: int,
    found: tuple[int, ...],
    shares: FloatArray,
    *,
    method: str,
    evaluations: int = 0,
) -> AttackAudit:
    largest = float(shares.max()) if shares.size else None
    return AttackAudit(
        l=l,
        candidates=found,
        guarantee=1 / l,
        posterior_max=largest,
        interval=None if largest is None else (largest, largest),
        confidence=1.0,
        method=method,
        prior=PRIOR,
        posterior=tuple(shares.tolist()),
        evaluations=evaluations,
    )
