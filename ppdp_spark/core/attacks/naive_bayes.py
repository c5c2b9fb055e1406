"""Naive Bayes over groups: P(s | q) ∝ P(s) Π_j P(q_j | s), used inside groups and fitted to what comes out.

Quasi-identifiers are codes, a number for each class of values (see `attribute_codes`). P(s) is the share of s
in the release. It is fixed by the counts of the groups, and scaling to them cancels it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ppdp_spark.core.attacks.group_scaling import scaled
from ppdp_spark.core.maxent.buckets import Buckets, FloatArray, IntArray

SMOOTHING = 100.0
"""People with the quasi-identifiers of everybody who are added to those of each value: c of `fitted`.

With few of them, learning from a few thousand people believes chance; with many it misses what is there.
"""


@dataclass(frozen=True, eq=False)
class NaiveBayes:
    """How quasi-identifiers depend on the sensitive value.

    where
        given    log P(q_j = code | s) by attribute, each of shape (codes, values)
        penalty  c Σ_j Σ_s Σ_code π_j(code) log P(q_j = code | s): the smoothing's part of the objective
    """

    given: tuple[FloatArray, ...]
    penalty: float

    @classmethod
    def even(cls, sizes: Sequence[int], values: int) -> NaiveBayes:
        """Nothing depends on anything: inside a group everybody has a value with its share."""
        return cls(tuple(np.zeros((size, values)) for size in sizes), 0.0)

    @classmethod
    def fitted(cls, counts: Sequence[FloatArray]) -> NaiveBayes:
        """The model of these expected people by attribute, code and value.

        P(code | s) = (N(code, s) + c π(code)) / (N(s) + c), where π(code) is the share of all people: the
        most probable one under the objective with its penalty.
        """
        given, penalty = [], 0.0
        for by_code in counts:
            people = by_code.sum(axis=1, keepdims=True)
            added = SMOOTHING * people / people.sum()
            chance = (by_code + added) / (by_code.sum(axis=0) + SMOOTHING)
            logs = np.log(chance, out=np.zeros_like(chance), where=chance > 0)
            penalty += float((added * logs).sum())
            given.append(logs)
        return cls(tuple(given), penalty)


@dataclass(frozen=True, eq=False)
class Evidence:
    """What some groups say under a model; sums over groups.

    where
        counts     expected people by attribute, each of shape (codes, values)
        objective  max Σ x log Π_j P(q_j | s) − Σ x log x over all x with the counts of the groups
        residual   largest miss of a count, as a share of the group's people
    """

    counts: tuple[FloatArray, ...]
    objective: float
    residual: float

    def __add__(self, other: Evidence) -> Evidence:
        return Evidence(
            tuple(a + b for a, b in zip(self.counts, other.counts, strict=True)),
            self.objective + other.objective,
            max(self.residual, other.residual),
        )


@dataclass(frozen=True, eq=False)
class CodedGroups:
    """Groups and the quasi-identifiers of their cells in codes, shape (cells, attributes)."""

    buckets: Buckets
    codes: NDArray[np.int32]

    def masses(self, model: NaiveBayes) -> FloatArray:
        """Expected records of every variable."""
        return scaled(self.buckets, self._log_weights(model))[0]

    def evidence(self, model: NaiveBayes) -> Evidence:
        """The E-step: everybody's values under the model, counted by code and value."""
        masses, objective, residual = scaled(self.buckets, self._log_weights(model))
        cell, value = self._places()
        counts = list[FloatArray]()
        for j, logs in enumerate(model.given):
            at = self.codes[cell, j] * np.int64(logs.shape[1]) + value
            found: FloatArray = np.bincount(at, weights=masses, minlength=logs.size).astype(np.float64)
            counts.append(found.reshape(logs.shape))
        return Evidence(tuple(counts), objective, residual)

    def _log_weights(self, model: NaiveBayes) -> FloatArray:
        """Σ_j log P(q_j | s) of every variable."""
        cell, value = self._places()
        weights = np.zeros(len(cell))
        for j, logs in enumerate(model.given):
            weights += logs[self.codes[cell, j], value]
        return weights

    def _places(self) -> tuple[IntArray, IntArray]:
        """Cell and value of every variable."""
        buckets = self.buckets
        cells = np.arange(len(buckets.cell_qi))
        _, value = buckets.variables_of(cells)
        return np.repeat(cells, buckets.widths[buckets.cell_bucket]), buckets.value_code[value].astype(
            np.int64
        )
