"""Groups as the adversary sees them: who is in each, with which priors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ppdp_spark.core.data.groups import FloatArray, IntArray, PriorExtrema
from ppdp_spark.errors import DataError


@dataclass(frozen=True, eq=False)
class SignatureGroups:
    """People of many groups by signature: rows `offsets[g] : offsets[g + 1]` describe group g.

    where
        offsets  where each group's rows start, and where the last one's end, shape (groups + 1,)
        people   how many people of the group share the row's signature, shape (rows,)
        priors   p(s : x) of every value, shape (rows, values)
        counts   occurrences of every value in each group, shape (groups, values); one value per person

    Rows of one group with equal priors may be merged: nothing depends on it but the cost.
    """

    offsets: IntArray
    people: IntArray
    priors: FloatArray
    counts: IntArray

    def __post_init__(self) -> None:
        for name, kind in (("offsets", np.int64), ("people", np.int64), ("counts", np.int64)):
            object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name), dtype=kind))
        object.__setattr__(self, "priors", np.ascontiguousarray(self.priors, dtype=np.float64))
        self._check_shapes()
        self._check_contents()

    @classmethod
    def of_people(cls, priors: FloatArray, counts: IntArray) -> SignatureGroups:
        """Groups of equal size, person by person; `priors` has shape (groups, people, values)."""
        groups, size, width = np.shape(priors)
        offsets = np.arange(groups + 1) * size
        return cls(
            offsets,
            np.ones(groups * size, dtype=np.int64),
            np.reshape(priors, (groups * size, width)),
            counts,
        )

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def sizes(self) -> IntArray:
        """People in each group."""
        return np.asarray(self.counts.sum(axis=1))

    def extrema(self) -> PriorExtrema:
        """Smallest and largest prior of every value in each group."""
        if not len(self):
            return PriorExtrema(np.empty(self.counts.shape), np.empty(self.counts.shape))
        starts = self.offsets[:-1]
        return PriorExtrema(
            np.minimum.reduceat(self.priors, starts), np.maximum.reduceat(self.priors, starts)
        )

    def _check_shapes(self) -> None:
        rows, groups = len(self.people), len(self.offsets) - 1
        width = self.counts.shape[-1]
        if self.priors.shape != (rows, width) or self.counts.shape != (groups, width):
            raise DataError(
                f"`priors` {self.priors.shape} and `counts` {self.counts.shape} must have one column a value,"
                f" and {rows} rows of signatures in {groups} groups"
            )
        if self.offsets[0] != 0 or self.offsets[-1] != rows or (np.diff(self.offsets) < 1).any():
            raise DataError("`offsets` must rise from 0 to the number of rows, with a row for every group")

    def _check_contents(self) -> None:
        problems = []
        if not ((self.priors >= 0) & (self.priors <= 1)).all():
            problems.append("`priors` must be probabilities from 0 to 1")
        if (self.people < 1).any() or (self.counts < 0).any():
            problems.append("`people` must be at least 1 and `counts` at least 0")
        elif len(self) and (np.add.reduceat(self.people, self.offsets[:-1]) != self.sizes).any():
            problems.append("`counts` of a group must sum to its `people`: one value per person")
        if problems:
            raise DataError(problems)
