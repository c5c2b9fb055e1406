"""From coded rows to groups where people may be left without a place: robustness, ART, Anatomy."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ppdp_spark.core.criteria.base import LocalCriterion, VerdictRow
from ppdp_spark.core.criteria.robustness import RRobustness
from ppdp_spark.core.criteria.robustness.r_robustness import necessary
from ppdp_spark.core.partition.partitioners import PARTITIONERS
from ppdp_spark.core.partition.placement import Placement
from ppdp_spark.run.criteria.guarantees import separable_criteria
from ppdp_spark.run.criteria.knowledge import attribute_labels, robust_criterion
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.engine.aggregates import only_row
from ppdp_spark.spark.engine.held_tables import Save
from ppdp_spark.spark.engine.versions import to_arrow
from ppdp_spark.spark.partition.coded_table import CodedTable, Placements, prior_places
from ppdp_spark.spark.partition.fragments import fragments_of
from ppdp_spark.spark.partition.place_people import (
    EXTRA_COLUMNS,
    PLACED,
    PlaceFragment,
    place_again,
    place_rows,
    raw,
)
from ppdp_spark.spark.partition.priors import PriorSet
from ppdp_spark.spark.partition.supplied_priors import encoded, priors_of
from ppdp_spark.spark.partition.whole_table import everybody, value_domain


@dataclass(frozen=True)
class Demands:
    """What a spec demands of groups made bottom-up.

    where
        criteria    criteria of single groups that need no priors, the necessary ones among them
        robustness  the criterion that needs priors, if it is demanded
        least       people a group must have
        distinct    values a group must have
    """

    criteria: tuple[LocalCriterion, ...]
    robustness: RRobustness | None
    least: int
    distinct: int

    @classmethod
    def of(cls, table: CodedTable) -> Demands:
        """The demands of the table's spec."""
        privacy, partitioner = table.spec.privacy, PARTITIONERS[table.spec.partitioner]
        domain = value_domain(table.profile)
        criteria = [*separable_criteria(privacy, domain), *_floors(table)]
        robust = robust_criterion(privacy, domain, published=partitioner.each_value_once)
        distinct = 2 if privacy.l_diversity is None else math.ceil(privacy.l_diversity.l)
        if robust is not None:
            criteria.append(necessary(robust))
            distinct = max(distinct, math.ceil(float(robust.r)))
        least = max(2, privacy.least_group_size)
        if privacy.l_diversity is not None:
            least = max(least, distinct)
        return cls(tuple(criteria), robust, least, distinct)


def _floors(table: CodedTable) -> list[LocalCriterion]:
    """What couples groups, as floors that each group reaches by itself.

    Who is left without a place harms nothing. No rounds follow: such a release is safe, and not minimal.
    """
    domain, whole = value_domain(table.profile), everybody(table.profile)
    coupling = [
        family.floors(given, domain, whole)
        for family, given in table.spec.privacy.demanded
        if family.floors is not None and family.traits.couples(given)
    ]
    return [criterion for criterion in coupling if criterion is not None]


@dataclass(frozen=True)
class PlaceTable:
    """Places people inside fragments, then those left over by all of them once more."""

    table: CodedTable
    placement: Placement

    def necessary(self) -> list[VerdictRow]:
        """The necessary conditions on the undivided table: unions keep them, so where it fails all fail."""
        whole, number = everybody(self.table.profile), np.array([1])
        return [row for c in self.placement.kept_by_unions for row in c.decide(c.summarise(whole, number))]

    def place(self) -> Placements:
        """The groups, and how many people are in none."""
        table, spec = self.table, self.table.spec
        task, save = PlaceFragment(table.layout, self.placement, prior_places(spec)), table.saver("groups")
        with table.stages.stage("priors"):
            priors = _prior_sets(table)
        groups, tree = table.confirmed(
            lambda tree: place_rows(table.rows, tree, task, priors), self.placement.kept_by_unions, save
        )
        with table.stages.stage("place"):
            return _second_round(groups, len(fragments_of(tree)), task, save)


def _prior_sets(table: CodedTable) -> list[PriorSet]:
    """The priors of every attribute set, in the order of the spec: learned, or from the user's tables.

    An adversary who knows how values go with signatures knows it of the population: priors are those of the
    whole table, not of what suppression left of it.
    """
    privacy, profile = table.spec.privacy, table.profile
    if privacy.robustness is None:
        return []
    assert profile.sensitive is not None
    keys = [tuple(C.code(j) for j in places) for places in prior_places(table.spec)]
    wanted = list(zip(attribute_labels(privacy), keys, privacy.robustness.priors, strict=True))
    encode = partial(encoded, layout=table.layout, profile=profile)
    counts = dict(zip(profile.sensitive.labels, table.before, strict=True))
    return priors_of(table.signed, wanted, encode, counts, table.saver("priors"))


def _second_round(groups: DataFrame, fragments: int, task: PlaceFragment, save: Save) -> Placements:
    unplaced = _people(groups.where(~F.col(PLACED)))
    again = unplaced and (fragments > 1)
    if again:
        left = place_again(groups.where(~F.col(PLACED)), fragments, unplaced, replace(task, again=True))
        second = save(left)
        groups = groups.where(PLACED).unionByName(second)
        unplaced = _people(second.where(~F.col(PLACED)))
    carried = [raw(name) for name in (*task.layout.row_names, *EXTRA_COLUMNS)]
    return Placements(groups.where(PLACED).drop(*carried, C.FRAGMENT), unplaced)


def values_placed(groups: DataFrame, width: int) -> list[int]:
    """How many people of placed groups have each of so many values, in the order of codes."""
    each = F.inline(F.arrays_zip(C.COUNTED_VALUES, C.COUNTS)).alias("value", "number")
    found = to_arrow(groups.select(each).groupBy("value").agg(F.sum("number").alias("number")))
    pairs = zip(found.column(0).to_pylist(), found.column(1).to_pylist(), strict=True)
    counts = dict(pairs)
    return [int(counts.get(code, 0)) for code in range(width)]


def _people(groups: DataFrame) -> int:
    found = only_row(groups.agg(F.sum(C.SIZE)))[0]
    return int(found or 0)
