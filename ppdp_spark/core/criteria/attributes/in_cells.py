"""A criterion about one of several sensitive attributes that are published side by side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ppdp_spark.core.criteria.base import InEveryPart
from ppdp_spark.core.data.groups import GroupSummaries, IntArray, linked_values_of


@dataclass(frozen=True)
class InCells(InEveryPart):
    """A criterion about one attribute in every cell: the people of a group who are alike in what is known.

    Where rows keep the values of a person together, whoever knows some of them finds the person among the
    rows of the group that have these, so the criterion must hold there [Machanavajjhala et al. 2007].

    Which cells. An adversary may know any of the attributes that are declared to be known, exactly or only
    that the value is one of some. The people that are left are then those of a union of cells of somebody who
    knows all of them exactly. So a criterion that unions keep holds for all these adversaries, and for those
    who know none, if it holds in the finest cells. One that unions do not keep need not, whatever it is in
    the finest cells: it is refused where specs are read.

    Closed under union where the criterion is: a cell of a union is the union of a cell of each, or of one.

    where
        attribute  place of the attribute that the criterion is about
        known      places of those that the adversary knows
        width      how many values the attribute has
    """

    attribute: int
    known: tuple[int, ...]
    width: int

    needs_counts: ClassVar[bool] = False
    needs_linked: ClassVar[bool] = True

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.criterion.name

    @property
    def union_closed(self) -> bool:  # type: ignore[override]
        return self.criterion.union_closed

    def parts(self, groups: GroupSummaries) -> Iterator[tuple[IntArray, GroupSummaries]]:
        return linked_values_of(groups).cells(self.attribute, self.known, self.width)
