"""From encoded rows to described groups: which criteria cut where, and in how many passes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from pyspark.sql import DataFrame

from ppdp_spark.core.criteria.base import LocalCriterion, VerdictRow
from ppdp_spark.core.criteria.skyline import SkylineCriterion, balanced_floors
from ppdp_spark.core.data.groups import GroupSummaries
from ppdp_spark.core.data.value_names import ValueDomain
from ppdp_spark.run.guarantees import (
    NOTHING,
    criteria_of,
    promises_nothing,
    separable_criteria,
)
from ppdp_spark.run.knowledge import coupled_skyline
from ppdp_spark.run.results import Stages
from ppdp_spark.spark.data.layout import Layout
from ppdp_spark.spark.data.profile import Profile
from ppdp_spark.spark.partition.coupled_skyline import Coupling
from ppdp_spark.spark.partition.fragments import Tree, confirmed_tree, count_fragments, propose_tree
from ppdp_spark.spark.partition.mondrian import CutFragment, DescribeGroups, all_sound, partition_rows
from ppdp_spark.spec import PrivacySpec

Save = Callable[[DataFrame], DataFrame]


@dataclass(frozen=True)
class Grouping:
    """Partitions a table under the criteria of a spec.

    where
        criteria  criteria that each group meets by itself
        coupled   skyline points that couple groups, if there are any
    """

    layout: Layout
    privacy: PrivacySpec
    profile: Profile
    criteria: tuple[LocalCriterion, ...]
    coupled: SkylineCriterion | None

    @classmethod
    def of(cls, privacy: PrivacySpec, profile: Profile, layout: Layout) -> Grouping:
        domain = value_domain(profile)
        criteria = separable_criteria(privacy, domain)
        return cls(layout, privacy, profile, criteria, coupled_skyline(privacy, domain))

    @property
    def whole(self) -> GroupSummaries:
        """The undivided table as one group."""
        counts = value_domain(self.profile).counts
        return GroupSummaries(np.array([self.profile.kept]), np.array([counts], np.int64))

    def feasibility(self) -> list[VerdictRow]:
        """The verdict on the undivided table: no release is safer, so where it fails all do."""
        domain = value_domain(self.profile)
        criteria = criteria_of(self.privacy, domain)
        if promises_nothing(self.privacy, criteria, domain):
            return [NOTHING]
        return [row for c in criteria for row in c.decide(c.summarise(self.whole, np.array([1])))]

    def partition(self, rows: DataFrame, sample: DataFrame, *, save: Save, stages: Stages) -> DataFrame:
        """Described groups of the table; `sample` is a part of its encoded rows chosen by content."""
        criteria, coupling = self.criteria, None
        if self.coupled is not None:
            coupling = Coupling(self.layout, self.criteria, self.coupled)
            floors = balanced_floors(self.coupled.case, self.coupled.targets, self.whole)
            criteria = coupling.floored(floors)
        task = CutFragment(self.layout, criteria, raw=coupling is not None)
        with stages.stage("fragment"):
            tree = propose_tree(sample, self.layout.attributes, self.profile.kept)
        with stages.stage("partition"):
            groups = save(partition_rows(rows, tree, task))
            if not all_sound(groups):
                groups = save(partition_rows(rows, self._confirmed(rows, tree, criteria), task))
        if coupling is None:
            return groups
        with stages.stage("couple"):
            settled = coupling.settle(groups, save)
        with stages.stage("describe"):
            schema = self.layout.described_schema(rows.schema)
            return save(settled.mapInArrow(DescribeGroups(self.layout), schema))

    def _confirmed(self, rows: DataFrame, tree: Tree, criteria: tuple[LocalCriterion, ...]) -> Tree:
        """The cuts of a tree whose sides, counted exactly, satisfy every criterion."""
        counts = count_fragments(rows, tree, self.layout.attributes, self.layout.domain)
        return confirmed_tree(tree, counts, criteria)


def value_domain(profile: Profile) -> ValueDomain:
    """The sensitive values of a table as criteria see them; without a sensitive column, one for all."""
    domain = profile.sensitive
    if domain is None:
        return ValueDomain(("",), (profile.kept,))
    return ValueDomain(domain.labels, domain.counts, domain.judged_case, domain.type)
