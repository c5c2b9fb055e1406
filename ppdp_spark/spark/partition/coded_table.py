"""What every partitioner is given and gives back, and the one way to confirm the cuts of the driver."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ppdp_spark.core.criteria.base import LocalCriterion, VerdictRow
from ppdp_spark.core.data.forms import FORMS
from ppdp_spark.core.partition.least_size import LeastSize
from ppdp_spark.core.partition.partitioners import PARTITIONERS
from ppdp_spark.run.criteria.least_size import least_size_of
from ppdp_spark.run.results import Stages
from ppdp_spark.spark.data.encode import encode_rows
from ppdp_spark.spark.data.layout import Layout
from ppdp_spark.spark.data.profile import Profile
from ppdp_spark.spark.data.tables import Roles
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.engine.held_tables import Save
from ppdp_spark.spark.engine.versions import to_arrow
from ppdp_spark.spark.partition.fragments import (
    Cut,
    Tree,
    combinations,
    confirmed_tree,
    count_fragments,
    propose_tree,
    sampled,
    without_cuts_to,
)
from ppdp_spark.spark.partition.whole_table import value_domain
from ppdp_spark.spec import ReleaseSpec


@dataclass(frozen=True)
class CodedTable:
    """A table in codes, ready to be put into groups.

    where
        layout  of the groups that are wanted
        rows    all rows
        sample  some of them, chosen by content
        signed  all rows before suppression with the columns that priors are about, and no others
        before  how many of them have each sensitive value, if there is one sensitive attribute
        least   the least size of blind groups; None for other partitioners
        saver   gives what writes tables of a name and reads them back
    """

    spec: ReleaseSpec
    profile: Profile
    layout: Layout
    rows: DataFrame
    sample: DataFrame
    signed: DataFrame
    saver: Callable[[str], Save]
    stages: Stages
    least: LeastSize | None = None
    before: tuple[int, ...] = ()

    @classmethod
    def of(
        cls,
        table: DataFrame,
        spec: ReleaseSpec,
        roles: Roles,
        profile: Profile,
        *,
        saver: Callable[[str], Save],
        stages: Stages,
        unsuppressed: tuple[DataFrame, Profile] | None = None,
    ) -> CodedTable:
        """The rows of a table that take part.

        Priors are learned from the table before suppression, `unsuppressed`, if rows were suppressed.
        """
        everyone, known = unsuppressed or (table, profile)
        encoded = encode_rows(table, spec, roles, profile)
        kinds, least = None, None
        if PARTITIONERS[spec.partitioner].blind:
            kinds = combinations(profile.attributes)
            with stages.stage("size"):
                least = least_size_of(spec, value_domain(profile))
        rows, sample = encoded.drop(C.CONTENT), sampled(encoded, profile.kept, kinds)
        used = {place for places in prior_places(spec) for place in places}
        signed = encode_rows(everyone, spec, roles, known, only=used) if used else rows
        before = known.domains[0].counts if len(known.domains) == 1 else ()
        published = FORMS[spec.output.form].codes_published
        columns, weight = spec.columns, spec.columns.weight
        layout = Layout(
            profile.attributes,
            profile.domains,
            published,
            len(columns.as_is),
            households=columns.household is not None,
            weighted=weight is not None,
            weight_shown=weight is not None and weight.publish,
            ranging=columns.ranging,
            linked=columns.sensitive_linked is not None,
        )
        return cls(spec, profile, layout, rows, sample, signed, saver, stages, least, before)

    def confirmed(
        self, grouped: Callable[[Tree], DataFrame], criteria: Sequence[LocalCriterion], save: Save
    ) -> tuple[DataFrame, Tree]:
        """Groups made within the fragments of a tree, and the tree.

        The driver proposes a tree from the sample. If a fragment does not satisfy the criteria, as `sound`
        says of its groups, only those cuts are kept whose sides, counted exactly, do, and the groups are made
        again. Households and linked values do not add up over fragments: with them, the cuts to such
        fragments go until none is left. Without cuts there is nothing to confirm.
        """
        attributes = self.layout.attributes
        with self.stages.stage("fragment"):
            tree = propose_tree(self.sample, attributes, self.profile.kept)
        with self.stages.stage("partition"):
            groups = save(grouped(tree))
            while not self.layout.adds_up and isinstance(tree, Cut) and (lacking := _unsound(groups)):
                tree = without_cuts_to(tree, lacking)
                groups = save(grouped(tree))
            if self.layout.adds_up and isinstance(tree, Cut) and not groups.where(~F.col(C.SOUND)).isEmpty():
                counts = count_fragments(self.rows, tree, self.layout)
                tree = confirmed_tree(tree, counts, criteria)
                groups = save(grouped(tree))
        return groups, tree


def _unsound(groups: DataFrame) -> set[int]:
    """The fragments that do not satisfy the criteria as a whole."""
    found = groups.where(~F.col(C.SOUND)).select(C.FRAGMENT).distinct()
    return set(to_arrow(found).column(0).to_pylist())


@dataclass(frozen=True)
class Placements:
    """Groups that satisfy every criterion, and how many people found no place in one.

    where
        audit  the verdict on what a reader concludes who knows how groups are made, if that was looked at
    """

    groups: DataFrame
    unplaced: int = 0
    audit: tuple[VerdictRow, ...] = ()


class PartitionerOnSpark(Protocol):
    """Puts the people of one table into described groups, each of which satisfies every criterion."""

    def necessary(self) -> list[VerdictRow]:
        """The undivided table under what this partitioner demands beside the spec's own criteria."""

    def place(self) -> Placements:
        """The groups."""


def prior_places(spec: ReleaseSpec) -> tuple[tuple[int, ...], ...]:
    """Where the attributes of each attribute set of the priors stand among the quasi-identifiers."""
    names = list(spec.columns.quasi_identifiers)
    sets = () if spec.privacy.robustness is None else spec.privacy.robustness.priors
    return tuple(tuple(names.index(name) for name in prior.attributes) for prior in sets)
