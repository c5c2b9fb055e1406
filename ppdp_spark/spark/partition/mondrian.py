"""Mondrian: which criteria cut where, and in how many passes; and blind, where none of them does."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from pyspark.sql import DataFrame

from ppdp_spark.core.attacks.algorithm_aware import AlgorithmAwareAudit
from ppdp_spark.core.criteria.base import LocalCriterion, VerdictRow
from ppdp_spark.core.criteria.skyline import SkylineCriterion, balanced_floors
from ppdp_spark.core.partition.art import TreePlacement
from ppdp_spark.core.partition.blind import BlindPlacement, blind_criteria
from ppdp_spark.run.criteria.audits import audit_of_cuts
from ppdp_spark.run.criteria.guarantees import separable_criteria
from ppdp_spark.run.criteria.households import household_criteria
from ppdp_spark.run.criteria.knowledge import coupled_skyline
from ppdp_spark.run.criteria.population import population_criteria
from ppdp_spark.run.criteria.several_attributes import beside_each_other
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.engine.tasks import in_tasks
from ppdp_spark.spark.partition.coded_table import CodedTable, PartitionerOnSpark, Placements
from ppdp_spark.spark.partition.coupled_skyline import Coupling
from ppdp_spark.spark.partition.cut_people import CutFragment, DescribeGroups, audited, partition_rows
from ppdp_spark.spark.partition.leftovers import Demands, PlaceTable
from ppdp_spark.spark.partition.whole_table import everybody, value_domain, value_domains


def mondrian(table: CodedTable) -> PartitionerOnSpark:
    """Mondrian for the criteria of the table's spec.

    Robustness is not kept by unions: groups are chosen from a finished tree then, and people may be left.
    """
    weighed = population_criteria(table.spec.privacy)
    if len(table.profile.domains) > 1:
        known, domains = table.spec.columns.known, value_domains(table.profile)
        return CutTable(table, (*weighed, *beside_each_other(table.spec.privacy, domains, known)))
    if table.spec.privacy.robustness is None:
        domain, privacy = value_domain(table.profile), table.spec.privacy
        criteria = (*weighed, *separable_criteria(privacy, domain))
        if (household := table.spec.columns.household) is not None:
            know = household.members_know_each_other
            criteria += household_criteria(privacy, domain, members_know=know)
        audit = audit_of_cuts(table.spec, criteria, table.profile.kept)
        return CutTable(table, criteria, coupled_skyline(privacy, domain), audit)
    demands = Demands.of(table)
    return PlaceTable(
        table, TreePlacement(demands.criteria, demands.robustness, demands.least, table.spec.cuts)
    )


@dataclass(frozen=True)
class CutTable:
    """Cuts a table as long as criteria allow it: everybody has a place.

    where
        criteria  criteria that each group meets by itself
        coupled   skyline points that couple groups, if there are any
        audit     what looks at what the cuts tell, if it is wanted
    """

    table: CodedTable
    criteria: tuple[LocalCriterion, ...]
    coupled: SkylineCriterion | None = None
    audit: AlgorithmAwareAudit | None = None

    def necessary(self) -> list[VerdictRow]:
        """Nothing beside the criteria."""
        return []

    def place(self) -> Placements:
        """The groups, in one pass, or in the rounds of the coupled skyline."""
        table, criteria, coupling = self.table, self.criteria, None
        layout, schema, save = table.layout, table.rows.schema, table.saver("groups")
        if self.coupled is not None:
            coupling = Coupling(layout, self.criteria, self.coupled, table.spec.cuts)
            whole = everybody(table.profile)
            criteria = coupling.floored(balanced_floors(self.coupled.case, self.coupled.targets, whole))
        task = CutFragment(layout, criteria, raw=coupling is not None, audit=self.audit, cuts=table.spec.cuts)
        groups, _ = table.confirmed(lambda tree: partition_rows(table.rows, tree, task), criteria, save)
        if coupling is None and self.audit is not None:
            with table.stages.stage("audit"):
                found = self.audit.decide(audited(groups))
            return Placements(groups.drop(C.AUDIT), audit=tuple(found))
        if coupling is None:
            return Placements(groups)
        with table.stages.stage("couple"):
            settled = coupling.settle(groups, save)
        with table.stages.stage("describe"):
            described = in_tasks(settled, DescribeGroups(layout), layout.described_schema(schema))
            return Placements(save(described))


@dataclass(frozen=True)
class BlindTable:
    """Groups that no sensitive value has a part in, of the least size that was chosen for the table."""

    table: CodedTable

    @property
    def least(self) -> int:
        """K."""
        assert self.table.least is not None
        return self.table.least.size

    def necessary(self) -> list[VerdictRow]:
        """There are as many people as one group needs."""
        whole, number = everybody(self.table.profile), np.array([1])
        return [row for c in blind_criteria(self.least) for row in c.decide(c.summarise(whole, number))]

    def place(self) -> Placements:
        """The groups. With robustness, priors travel with people, for the judges; they decide nothing."""
        if self.table.spec.privacy.robustness is None:
            criteria, table = blind_criteria(self.least), self.table
            audit = audit_of_cuts(table.spec, criteria, table.profile.kept)
            return CutTable(table, criteria, audit=audit).place()
        return PlaceTable(self.table, BlindPlacement.of_size(self.least, self.table.spec.cuts)).place()


def blind_groups(table: CodedTable) -> DataFrame:
    """The same groups without anybody's priors."""
    return CutTable(table, blind_criteria(BlindTable(table).least)).place().groups
