"""What the adversary believes: P*(s | q), the worst linkages, and the distance from the truth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import rel_entr

from ppdp_spark.core.maxent.buckets import Buckets, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Posterior:
    """P*(s | subject) as a table, in order of subject, then value.

    where
        subject      tuple id or person
        value        code of the sensitive value
        probability  P*(s | subject); values the subject's buckets do not have are left out: they are 0
        people       people of the subject
    """

    subject: IntArray
    value: IntArray
    probability: FloatArray
    people: FloatArray

    def __len__(self) -> int:
        return len(self.subject)

    def maxima(self) -> Posterior:
        """The most probable value of every subject; the smallest code among equals."""
        order = np.lexsort((self.value, -self.probability, self.subject))
        first = np.ones(len(order), dtype=bool)
        first[1:] = np.diff(self.subject[order]) != 0
        return self._rows(order[first])

    def worst(self, number: int) -> Posterior:
        """The `number` most probable linkages, most probable first."""
        return self._rows(np.lexsort((self.value, self.subject, -self.probability))[:number])

    def _rows(self, index: IntArray) -> Posterior:
        return Posterior(self.subject[index], self.value[index], self.probability[index], self.people[index])


@dataclass(frozen=True)
class Score:
    """One side of the pair (bound, score): how far knowledge gets the adversary.

    where
        highest   max over q and s of P*(s | q)
        mean      mean over people of max over s of P*(s | q)
        distance  estimation accuracy against the truth in nats, if the truth is known; may be infinite
    """

    highest: float
    mean: float
    distance: float | None = None


def posterior(buckets: Buckets, x: FloatArray) -> Posterior:
    """P*(s | q) = Σ_b P(q, s, b) / P(q) [MaxEnt, Section 3.1]; named people count in their tuple."""
    return _table(buckets, x, buckets.cell_qi.astype(np.int64))


def posterior_of_people(buckets: Buckets, x: FloatArray) -> Posterior:
    """P*(s | i) of every named person [MaxEnt, Section 6]."""
    return _table(buckets, x, buckets.cell_person.astype(np.int64))


def score(estimate: Posterior, truth: Posterior | None = None) -> Score:
    """The score of a posterior."""
    best = estimate.maxima()
    return Score(
        highest=float(best.probability.max(initial=0.0)),
        mean=float(best.probability @ best.people / best.people.sum()) if len(best) else 0.0,
        distance=None if truth is None else estimation_accuracy(truth, estimate),
    )


def true_posterior(qi: IntArray, sensitive: IntArray) -> Posterior:
    """P(s | q) of the original table, one row per person."""
    return _grouped(np.asarray(qi), np.asarray(sensitive), np.ones(len(qi)))


def estimation_accuracy(truth: Posterior, estimate: Posterior) -> float:
    """Σ_q P(q) Σ_s P(s|q) log(P(s|q) / P*(s|q)) in nats, with 0 log 0 = 0 [MaxEnt, Section 7.1].

    Infinite where a true linkage is held impossible; nothing is smoothed.
    """
    width = int(max(truth.value.max(initial=0), estimate.value.max(initial=0))) + 1
    key, known = truth.subject * width + truth.value, estimate.subject * width + estimate.value
    at = np.minimum(np.searchsorted(known, key), max(len(known) - 1, 0))
    there = known[at] == key if len(known) else np.zeros(len(key), dtype=bool)
    believed = np.where(there, estimate.probability[at] if len(known) else 0.0, 0.0)
    parts = truth.people * (rel_entr(truth.probability, believed))
    everyone = (truth.people * truth.probability).sum()
    return float(parts.sum() / everyone) if len(truth) else 0.0


def _table(buckets: Buckets, x: FloatArray, subject_of_cell: IntArray) -> Posterior:
    chosen = np.flatnonzero(subject_of_cell >= 0)
    variables, values = buckets.variables_of(chosen)
    subject = np.repeat(subject_of_cell[chosen], buckets.widths[buckets.cell_bucket[chosen]])
    return _grouped(subject, buckets.value_code[values].astype(np.int64), x[variables])


def _grouped(subject: IntArray, value: IntArray, mass: FloatArray) -> Posterior:
    """Masses summed by (subject, value) and divided by the subject's total."""
    width = int(value.max(initial=0)) + 1
    keys, inverse = np.unique(subject.astype(np.int64) * width + value, return_inverse=True)
    joint = np.bincount(inverse, weights=mass, minlength=len(keys))
    owner = keys // width
    _, group = np.unique(owner, return_inverse=True)
    people = np.bincount(group, weights=joint, minlength=1)[group].astype(np.float64)
    return Posterior(owner, keys % width, joint / people, people)
