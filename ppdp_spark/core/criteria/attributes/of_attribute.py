"""A criterion about one of several sensitive attributes that are published independently of each other."""

from __future__ import annotations

from dataclasses import dataclass

from ppdp_spark.core.criteria.base import AppliedToPart
from ppdp_spark.core.data.groups import BoolArray, FloatArray, GroupSummaries


@dataclass(frozen=True)
class OfAttribute(AppliedToPart):
    """A criterion that sees the counts of its own attribute and no others.

    Published independently of each other, the attributes of a group tell nothing about one another, so each
    has to satisfy its criteria by itself: whoever knows one attribute of a person knows of another what the
    group tells everybody [Machanavajjhala et al. 2007] [Li et al. 2012].

    where
        columns  where the values of the attribute stand among the counts of all attributes
    """

    columns: slice

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.criterion.name

    @property
    def needs_counts(self) -> bool:  # type: ignore[override]
        return self.criterion.needs_counts

    @property
    def union_closed(self) -> bool:  # type: ignore[override]
        return self.criterion.union_closed

    def achieved(self, groups: GroupSummaries) -> FloatArray:
        return self.criterion.achieved(self._own(groups))

    def allowed(self, groups: GroupSummaries) -> BoolArray:
        return self.criterion.allowed(self._own(groups))

    def allowed_cuts(self, left: GroupSummaries, right: GroupSummaries) -> BoolArray:
        return self.criterion.allowed_cuts(self._own(left), self._own(right))

    def _own(self, groups: GroupSummaries) -> GroupSummaries:
        return GroupSummaries(groups.sizes, groups.counts[:, self.columns])
