"""Mondrian where some criterion is not kept by unions: a tree first, then groups chosen from it."""

from __future__ import annotations

from dataclasses import dataclass

from ppdp_spark.core.criteria.robustness.priors import PeoplePriors
from ppdp_spark.core.partition.art.bottom_up import ArtPlacement
from ppdp_spark.core.partition.mondrian import partition
from ppdp_spark.core.partition.partitioners import CutsName
from ppdp_spark.core.partition.placement import CodedPeople, Placed
from ppdp_spark.core.partition.tree_choice import settle


@dataclass(frozen=True)
class TreePlacement(ArtPlacement):
    """Groups from a tree of cuts, and those whom none of them can take packed bottom-up.

    Criteria that unions keep decide how far to cut: where they forbid a side, no part of it is better. All
    criteria decide which nodes of the tree become groups.
    """

    cuts: CutsName = "median"

    def cut(self, people: CodedPeople, priors: PeoplePriors) -> Placed:
        tree = partition(people.codes, people.sensitive, people.axes, self.kept_by_unions, cuts=self.cuts)
        starts, ends, held = settle(tree, self.judge(people, priors, tree.order).allowed)
        done = Placed.of_runs(tree.order, starts[held], ends[held])
        rest = Placed.of_runs(tree.order, starts[~held], ends[~held]).order
        return done.beside(self.packed(people, priors, rest)) if len(rest) else done
