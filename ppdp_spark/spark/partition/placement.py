"""From encoded rows to groups where people may be left without a place: robustness, ART, Anatomy."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

import numpy as np
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ppdp_spark.core.criteria import AlphaK
from ppdp_spark.core.criteria.base import LocalCriterion, VerdictRow
from ppdp_spark.core.criteria.robustness import relaxed
from ppdp_spark.core.data.groups import GroupSummaries
from ppdp_spark.run.guarantees import attribute_labels, robust_criterion
from ppdp_spark.run.results import Stages
from ppdp_spark.spark.data.layout import Layout
from ppdp_spark.spark.data.profile import Profile
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.engine.aggregates import only_row
from ppdp_spark.spark.partition.fragments import (
    Tree,
    confirmed_tree,
    count_fragments,
    fragments_of,
    propose_tree,
)
from ppdp_spark.spark.partition.grouping import Save
from ppdp_spark.spark.partition.mondrian import all_sound
from ppdp_spark.spark.partition.place_people import (
    EXTRA_COLUMNS,
    PLACED,
    PlaceFragment,
    Placement,
    place_again,
    place_rows,
    raw,
)
from ppdp_spark.spark.partition.priors import PriorSet
from ppdp_spark.spark.partition.supplied_priors import encoded, priors_of
from ppdp_spark.spec import ReleaseSpec


@dataclass(frozen=True)
class Placements:
    """Groups that satisfy every criterion, and how many people found no place in one."""

    groups: DataFrame
    unplaced: int


def needed(spec: ReleaseSpec) -> bool:
    """Whether people of this release may be left without a place."""
    return spec.privacy.robustness is not None or spec.partitioner != "mondrian"


def placement_of(spec: ReleaseSpec, layout: Layout, criteria: tuple[LocalCriterion, ...]) -> Placement:
    """How the spec's partitioner places people; `criteria` are those that need no priors."""
    privacy, robust = spec.privacy, robust_criterion(spec.privacy, published=spec.partitioner == "art")
    distinct = 2 if privacy.l_diversity is None else math.ceil(privacy.l_diversity.l)
    least = max(2, privacy.k_anonymity or 2)
    necessary = list(criteria)
    if robust is not None:
        necessary.append(relaxed(robust.r))
        distinct = max(distinct, math.ceil(float(robust.r)))
    if spec.partitioner == "anatomy":
        necessary.append(AlphaK(Fraction(1, distinct), 2))
    if privacy.l_diversity is not None:
        least = max(least, distinct)
    return Placement(spec.partitioner, tuple(necessary), robust, least, distinct, _positions(spec, layout))


def attributes_of(spec: ReleaseSpec) -> frozenset[int]:
    """Where the attributes of all attribute sets stand among the quasi-identifiers."""
    names = list(spec.columns.quasi_identifiers)
    sets = () if spec.privacy.robustness is None else spec.privacy.robustness.priors
    return frozenset(names.index(name) for prior in sets for name in prior.attributes)


def _positions(spec: ReleaseSpec, layout: Layout) -> tuple[tuple[int, ...], ...]:
    """Where the attributes of each attribute set stand among the quasi-identifiers."""
    names = [attribute.name for attribute in layout.attributes]
    sets = () if spec.privacy.robustness is None else spec.privacy.robustness.priors
    return tuple(tuple(names.index(name) for name in prior.attributes) for prior in sets)


def prior_sets(
    spec: ReleaseSpec, rows: DataFrame, layout: Layout, profile: Profile, save: Save
) -> list[PriorSet]:
    """The priors of every attribute set, in the order of the spec: learned, or from the user's tables."""
    if spec.privacy.robustness is None:
        return []
    assert profile.sensitive is not None
    keys = [tuple(C.code(j) for j in places) for places in _positions(spec, layout)]
    wanted = list(zip(attribute_labels(spec.privacy), keys, spec.privacy.robustness.priors, strict=True))
    encode = partial(encoded, layout=layout, profile=profile)
    counts = dict(zip(profile.sensitive.labels, profile.sensitive.counts, strict=True))
    return priors_of(rows, wanted, encode, counts, save)


def place(
    rows: DataFrame,
    sample: DataFrame,
    *,
    placement: Placement,
    layout: Layout,
    profile: Profile,
    priors: list[PriorSet],
    save: Save,
    stages: Stages,
) -> Placements:
    """Place people inside fragments, then those left over by all of them once more."""
    task = PlaceFragment(layout, placement)
    with stages.stage("fragment"):
        tree = propose_tree(sample, layout.attributes, profile.kept)
    with stages.stage("partition"):
        groups = save(place_rows(rows, tree, task, priors))
        if not all_sound(groups):
            tree = _confirmed(rows, tree, layout, placement.criteria)
            groups = save(place_rows(rows, tree, task, priors))
    with stages.stage("place"):
        return _second_round(groups, len(fragments_of(tree)), task, save)


def _confirmed(rows: DataFrame, tree: Tree, layout: Layout, criteria: tuple[LocalCriterion, ...]) -> Tree:
    counts = count_fragments(rows, tree, layout.attributes, layout.domain)
    return confirmed_tree(tree, counts, criteria)


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


def _people(groups: DataFrame) -> int:
    found = only_row(groups.agg(F.sum(C.SIZE)))[0]
    return int(found or 0)


def budget_row(unplaced: int, profile: Profile, spec: ReleaseSpec) -> VerdictRow:
    """People suppressed in all, by frequency or for want of a place, against the budget."""
    share = (profile.took_part - profile.kept + unplaced) / max(1, profile.took_part)
    broken = share > spec.suppression.budget
    return VerdictRow(
        "suppression_budget",
        f"partitioner {spec.partitioner}, people without a place",
        share,
        spec.suppression.budget,
        "<=",
        0,
        int(broken),
        "fail" if broken else "pass",
        {"people": unplaced},
    )


def feasibility(placement: Placement, whole: GroupSummaries) -> list[VerdictRow]:
    """The necessary conditions on the undivided table: unions keep them, so where it fails all fail."""
    return [row for c in placement.criteria for row in c.decide(c.summarise(whole, np.array([1])))]
