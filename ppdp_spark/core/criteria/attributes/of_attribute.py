"""A criterion about one of several sensitive attributes that are published independently of each other."""

from __future__ import annotations

from dataclasses import dataclass

from ppdp_spark.core.criteria.base import SeenInPart
from ppdp_spark.core.data.groups import GroupSummaries


@dataclass(frozen=True)
class OfAttribute(SeenInPart):
    """A criterion that sees the counts of its own attribute and no others.

    Published independently of each other, the attributes of a group tell nothing about one another, so each
    has to satisfy its criteria by itself: whoever knows one attribute of a person knows of another what the
    group tells everybody [Machanavajjhala et al. 2007] [Li et al. 2012].

    where
        columns  where the values of the attribute stand among the counts of all attributes
    """

    columns: slice

    def part(self, groups: GroupSummaries) -> GroupSummaries:
        return GroupSummaries(groups.sizes, groups.counts[:, self.columns])
