"""What criteria share that compare a group's distribution of values with the whole table's."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np

from ppdp_spark.core.criteria.base import LocalCriterion
from ppdp_spark.core.criteria.exact import agreeing, integers
from ppdp_spark.core.criteria.protected_values import counted, told
from ppdp_spark.core.data.groups import BoolArray, FloatArray, GroupSummaries, IntArray
from ppdp_spark.errors import DataError


class DistributionCriterion(LocalCriterion):
    """A bound on how far the shares q of a group may be from the shares p of the whole table.

    Shares are among occurrences, so with sets or multisets of values per person q and p still sum to 1.
    Only values that occur in the table count as its domain. A group without any occurrence, or with a
    value the table does not have, has no comparable distribution: its value is infinite, it is not allowed.
    A criterion that looks at values one by one looks at those that need protection, in `protected`.
    """

    distribution: tuple[int, ...]
    protected: tuple[bool, ...] | None = None

    higher_is_safer: ClassVar[bool] = False

    @property
    def some(self) -> str:
        """How many values it looks at, for its level; nothing if at all."""
        return "" if self.protected is None else f", {told(self.protected)}"

    @property
    def parameters(self) -> dict[str, Any]:
        return {**super().parameters, **({} if self.protected is None else counted(self.protected))}

    @abstractmethod
    def distances(self, counts: IntArray) -> FloatArray:
        """The achieved values of comparable groups, from counts of the values of the table."""

    @abstractmethod
    def within(self, counts: IntArray) -> BoolArray:
        """Whether comparable groups satisfy the criterion."""

    @property
    def table_counts(self) -> IntArray:
        """Occurrences in the whole table, of the values that occur in it."""
        counts = np.array(self.distribution, dtype=np.int64)
        return counts[counts > 0]

    def own(self, of_values: Any) -> Any:
        """Columns of protected values, of an array with one column for each value of the table."""
        if self.protected is None:
            return of_values
        return of_values[..., np.array(self.protected)[np.array(self.distribution) > 0]]

    def achieved(self, groups: GroupSummaries) -> FloatArray:
        comparable, counts = self._comparable(groups)
        values = np.full(len(groups), np.inf)
        if comparable.any():
            values[comparable] = self.distances(counts)
        return agreeing(values, self.allowed(groups), self.threshold, self.relation)

    def allowed(self, groups: GroupSummaries) -> BoolArray:
        comparable, counts = self._comparable(groups)
        decided = np.zeros(len(groups), dtype=np.bool_)
        if comparable.any():
            decided[comparable] = self.within(counts)
        return decided

    def _comparable(self, groups: GroupSummaries) -> tuple[BoolArray, IntArray]:
        """Which groups can be compared with the table, and the counts of those."""
        if len(groups) == 0:
            return np.zeros(0, dtype=np.bool_), np.zeros((0, len(self.table_counts)), dtype=np.int64)
        counts = integers(groups.counts)
        if counts.shape[1] != len(self.distribution):
            raise DataError(
                f"groups count {counts.shape[1]} sensitive values, `distribution` ({len(self.distribution)}"
                " counts) must have one for each of them, in the same order"
            )
        known = np.array(self.distribution) > 0
        comparable = np.asarray(counts.any(axis=1))
        if not known.all():
            comparable &= ~counts[:, ~known].any(axis=1)
            counts = counts[:, known]
        return comparable, counts if comparable.all() else counts[comparable]
