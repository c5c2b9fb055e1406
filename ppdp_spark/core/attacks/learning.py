"""An adversary without any knowledge learns from the release itself who has what [Kifer 2009].

Expectation and maximization in turn: everybody's values under the model, inside groups (E); the model of
these expected values (M). Both steps raise the same function, max_x Σ x log P(q | s) − Σ x log x with the
penalty of the smoothing, so it never falls. The first model knows nothing: it gives the shares of the groups.

The E-step scales P(s | q) to the counts of a group instead of summing over all ways to hand out its values:
exact where groups are large, and less sure than the sum where they are small.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ppdp_spark.core.attacks.naive_bayes import Evidence, NaiveBayes
from ppdp_spark.errors import NotConvergedError

MOST_ROUNDS = 50
SETTLED = 1e-4
"""Gain of a round, in nats per person, below which learning ends."""

LARGEST_MISS = 1e-8
"""Share of its people by which a group's counts may be missed; above it there is no result."""

EStep = Callable[[NaiveBayes], Evidence]


@dataclass(frozen=True, eq=False)
class Learned:
    """What was learned.

    where
        model      the last model
        rounds     models that were fitted
        gain       what the last round added to the objective, in nats per person
        residual   largest miss of a group's counts, as a share of its people
        objective  after each round
    """

    model: NaiveBayes
    rounds: int
    gain: float
    residual: float
    objective: tuple[float, ...]

    @property
    def converged(self) -> bool:
        """Whether learning ended because a round added nothing more; any model is somebody's attack."""
        return self.gain <= SETTLED


def learned(step: EStep, sizes: Sequence[int], values: int, people: float) -> Learned:
    """Rounds of both steps, until nothing more is gained or `MOST_ROUNDS` are done.

    where
        step    the E-step over all groups of the release
        sizes   codes of each quasi-identifier
        values  sensitive values
        people  in the release
    """
    evidence = step(NaiveBayes.even(sizes, values))
    history, gain, residual = list[float](), float("inf"), evidence.residual
    model = NaiveBayes.fitted(evidence.counts)
    for _ in range(MOST_ROUNDS):
        evidence = step(model)
        residual = max(residual, evidence.residual)
        _require_counts(residual)
        history.append(evidence.objective + model.penalty)
        gain = (history[-1] - history[-2]) / people if len(history) > 1 else gain
        if gain <= SETTLED or len(history) == MOST_ROUNDS:
            break
        model = NaiveBayes.fitted(evidence.counts)
    return Learned(model, len(history), gain, residual, tuple(history))


def _require_counts(residual: float) -> None:
    if not residual <= LARGEST_MISS:
        raise NotConvergedError(
            f"`attack.learn`: counts of a group are missed by {residual:.1e} of its people: no result"
        )
