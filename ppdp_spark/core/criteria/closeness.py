"""t-closeness [Li, Li & Venkatasubramanian, ICDE 2007]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ppdp_spark.core.criteria.distribution import DistributionCriterion
from ppdp_spark.core.criteria.exact import product_at_most
from ppdp_spark.core.criteria.family import Family, Parameters, Traits, Unasked, choice, share
from ppdp_spark.core.criteria.parameters import Number, rational, value_counts
from ppdp_spark.core.criteria.protected_values import OthersAsOne, others_together
from ppdp_spark.core.data.groups import BoolArray, FloatArray, IntArray
from ppdp_spark.core.data.value_names import ValueDomain
from ppdp_spark.errors import SpecError

LARGEST_INT64 = 2**63 - 1


@dataclass(frozen=True)
class TCloseness(DistributionCriterion):
    """t-closeness: the earth mover's distance of every group's distribution from the table's is at most t.

    where
        t             the largest distance allowed, 0 to 1; counts as its decimal text says
        distribution  occurrences of each sensitive value in the whole table, in code order
        ordered       False: equal distance, ½ Σ |q − p|; True: values are ordered by code and moving from
                      one to the next costs 1/(m−1), Σ |cumulative q − cumulative p| / (m−1)

    m counts the values that occur in the table. The comparison with t is exact.

    Closed under union: the distance is convex in q, and q of a union is a mixture.
    """

    t: Number
    distribution: tuple[int, ...]
    ordered: bool = False

    name: ClassVar[str] = "t_closeness"
    relation: ClassVar[str] = "<="

    def __post_init__(self) -> None:
        if not 0 <= rational("t", self.t) <= 1:
            raise SpecError(f"`t` ({self.t!s}) must be from 0 to 1")
        if not isinstance(self.ordered, bool):
            raise SpecError(f"`ordered` ({self.ordered!s}) must be true or false")
        object.__setattr__(self, "distribution", value_counts("distribution", self.distribution))

    @property
    def level(self) -> str:
        return f"t = {self.t}, {'ordered' if self.ordered else 'equal'} distance"

    @property
    def threshold(self) -> float:
        return float(self.t)

    def distances(self, counts: IntArray) -> FloatArray:
        """The earth mover's distance of each group."""
        table = self.table_counts
        shift = counts / counts.sum(axis=1, keepdims=True) - table / table.sum()
        return np.asarray(self._work(shift) / self._work_of_distance_one(len(table)))

    def within(self, counts: IntArray) -> BoolArray:
        t, total, table = rational("t", self.t), counts.sum(axis=1), self.table_counts
        distances = self.distances(counts)
        margin = 8 * (len(table) + 8) * np.finfo(np.float64).eps
        decided = np.asarray(distances < self.threshold - margin)
        close = np.asarray(np.abs(distances - self.threshold) <= margin)
        if close.any():
            scale = [total[close], int(table.sum()), self._work_of_distance_one(len(table))]
            work = self._scaled_work(counts[close])
            decided[close] = product_at_most([work, t.denominator], [*scale, t.numerator])
        return decided

    def _scaled_work(self, counts: IntArray) -> Any:
        """`_work` times the occurrences in the group times those in the table: a whole number."""
        table, total = self.table_counts, counts.sum(axis=1, keepdims=True)
        largest = 2 * int(total.max()) * int(table.sum()) * len(table)
        kind: Any = np.int64 if largest <= LARGEST_INT64 else object
        counts, total, table = counts.astype(kind), total.astype(kind), table.astype(kind)
        return self._work(counts * table.sum() - table * total)

    def _work(self, shift: Any) -> Any:
        return np.abs(np.cumsum(shift, axis=1) if self.ordered else shift).sum(axis=1)

    def _work_of_distance_one(self, values: int) -> int:
        return max(values - 1, 1) if self.ordered else 2


def _closeness_of_some(given: Parameters, domain: ValueDomain) -> OthersAsOne:
    """Unprotected values are one: the distance then bounds what is learned of any set of protected ones."""
    mask = domain.protected or ()
    counts = others_together(np.array(domain.counts, np.int64), mask)
    return OthersAsOne(TCloseness(given["t"], tuple(counts.tolist())), mask)


def _in_order_only(given: Parameters) -> str:
    if given["distance"] != "ordered":
        return ""
    return "with `distance: ordered` measures along the order of all values, and is not defined"


T_CLOSENESS = Family(
    field="t_closeness",
    names=(TCloseness.name,),
    summary="t-closeness under the equal or the ordered ground distance.",
    parameters=(share("t", example=0.3), choice("distance", "equal", "ordered", default="equal")),
    build=lambda given, domain: TCloseness(given["t"], tuple(domain.counts), given["distance"] == "ordered"),
    traits=Traits(table=True),
    of_some=_closeness_of_some,
    whole_only=_in_order_only,
    measures=(
        Unasked("largest distance, equal", {"t": 1, "distance": "equal"}),
        Unasked("largest distance, ordered", {"t": 1, "distance": "ordered"}),
    ),
    cost=3,
)
