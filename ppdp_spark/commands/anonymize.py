"""`anonymize`: read, encode, partition, publish, verify from the files, commit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from ppdp_spark.commands.verify import judge_release
from ppdp_spark.core.criteria.base import VerdictRow
from ppdp_spark.core.data.weight_units import decimal_text
from ppdp_spark.run.active_session import session_of
from ppdp_spark.run.commit.staging import Staging
from ppdp_spark.run.criteria.audits import silence
from ppdp_spark.run.criteria.knowledge import require_named_values
from ppdp_spark.run.criteria.refusals import (
    LINKED,
    TOO_FREQUENT,
    Refusal,
    blindly,
    composing,
    infeasible,
    nobody,
    over_budget,
    too_sure,
    unread,
)
from ppdp_spark.run.manifest import public_manifest
from ppdp_spark.run.registry import Registry, tries_told
from ppdp_spark.run.results import Run, Stages, Verdict
from ppdp_spark.run.storage import MANIFEST, Folder, table_digests
from ppdp_spark.run.summary import run_facts, spec_facts
from ppdp_spark.run.translated_errors import told_plainly
from ppdp_spark.spark.bounds.bound_grids import people_alone, with_grids
from ppdp_spark.spark.composition.earlier_releases import (
    AuditedComposition,
    EarlierReleases,
    audited_composition,
)
from ppdp_spark.spark.composition.published_groups import PublishedGroups
from ppdp_spark.spark.data.as_is import AsIs, BesideSensitive, beside_sensitive, singled_out
from ppdp_spark.spark.data.encode import encode_rows
from ppdp_spark.spark.data.identifiers import require_households, require_one_row_each
from ppdp_spark.spark.data.person_records import PersonFacts, input_facts, one_record_each
from ppdp_spark.spark.data.profile import Profile, profile_table
from ppdp_spark.spark.data.survey_weights import WeightFacts, kept_units, require_same_weight, require_weights
from ppdp_spark.spark.data.tables import Roles, assign_roles, reject_name_clashes, require_single_values
from ppdp_spark.spark.engine.parallel_jobs import all_at_once
from ppdp_spark.spark.input.given_tables import TableLike, source_of, table_of
from ppdp_spark.spark.input.input_files import InputFiles
from ppdp_spark.spark.judge.several_attributes import feasible_cells
from ppdp_spark.spark.partition.coded_table import CodedTable, Placements
from ppdp_spark.spark.partition.leftovers import values_placed
from ppdp_spark.spark.partition.partitioners import partitioner_of
from ppdp_spark.spark.partition.whole_table import (
    enough_households,
    enough_population,
    feasibility,
    value_domains,
)
from ppdp_spark.spark.release.publish import publish, require_conserved
from ppdp_spark.spark.release.published_tables import PublishedTables
from ppdp_spark.spark.release.release_summary import release_summary, weight_facts
from ppdp_spark.spark.suppression import suppression_stage as suppression
from ppdp_spark.spark.utility.measure import Questions, measure
from ppdp_spark.spec import ReleaseSpec, SpecLike
from ppdp_spark.spec.requirements import case_of


@told_plainly
def anonymize(
    spec: SpecLike,
    *,
    table: TableLike | None = None,
    spark: SparkSession | None = None,
    trial: bool = False,
    draws_of: str | None = None,
) -> Run:
    """Publish the table as the spec says, verified from the written files, or publish nothing.

        run = anonymize("spec.yaml", table=people)
        run.release.show()

    A run that fails raises an error and leaves an earlier release as it was; its own verdict, in the
    output folder, says why.

    where
        spec      a `ReleaseSpec`, a mapping with the same fields, or the path of a YAML file
        table     a Spark or pandas DataFrame in place of the spec's input
        spark     the session to use; left out, that of the table or the active one
        trial     whether the release is for choosing only, and not entered in the registry
        draws_of  the output that a trial varies: random draws use the key beside that one
    """
    spec = ReleaseSpec.of(spec)
    spec.require_for("anonymize", table_given=table is not None)
    session, source = session_of(table, spark), source_of(spec, table)
    with Staging.open(spec, trial=trial) as staging:
        draws = Registry.beside(staging.output if draws_of is None else Folder.at(draws_of))
        run = _Anonymization(spec, session, Stages(), staging, draws, source).run(table)
        return replace(run, _published=PublishedTables.at(Folder.at(run.paths["release"]), session))


@dataclass(frozen=True)
class _Read:
    """A table that has been read.

    where
        files    what it was read from
        people   one record per person
        brought  how many rows were brought together, if any were
        weighed  what weights make up, if people have some
        as_is    who is alone with columns that are published as they are
        beside   who is alone with these and a sensitive column
    """

    files: InputFiles
    people: DataFrame
    brought: PersonFacts | None
    roles: Roles
    profile: Profile
    weighed: WeightFacts | None
    as_is: AsIs
    beside: tuple[BesideSensitive, ...]


@dataclass(frozen=True)
class _Anonymization:
    spec: ReleaseSpec
    spark: SparkSession
    stages: Stages
    staging: Staging
    draws: Registry
    source: str

    def run(self, table: TableLike | None) -> Run:
        read = self._read(table)
        people, profile, roles = read.people, read.profile, read.roles
        alone = partial(people_alone, people, self.spec, roles, profile)
        absent = suppression.missed(self.spec, profile)
        asked = self._asked(people, roles, profile)
        suppressing = suppression.decisive(self.spec, profile)
        rng = suppression.generator(self.spec, suppressing, self.draws)
        with self.stages.stage("suppress") as counts:
            decision = suppression.decide(self.spec, suppressing, rng)
            self._stop(suppression.refusal_of(decision))
            kept, profile = suppression.apply(people, self.spec, roles, profile, decision=decision, rng=rng)
            self._stop(nobody(profile.kept))
            counts["rows"] = profile.kept
        everyone, stages = (people, read.profile), self.stages
        saver = self.staging.saver
        coded = CodedTable.of(
            kept, self.spec, roles, profile, saver=saver, stages=stages, unsuppressed=everyone
        )
        placed = self._placed(coded)
        if placed.unplaced and decision.audit is not None and suppressing is not None:
            counts_placed = values_placed(placed.groups, len(suppressing.values))
            decision = suppression.published(decision, suppressing, counts_placed)
        self._stop(too_sure(placed.audit))
        metrics = measure(placed.groups, coded.layout, self.stages, asked)
        read.files.require_same()
        self._require_all(read.weighed, coded, metrics, unplaced=placed.unplaced)
        self.stages.count("partition", rows=profile.kept)
        with self.stages.stage("publish") as counts:
            place = self.staging
            folders = {"release": place.release, "owned": place.owned, "scratch": place.scratch}
            owned = publish(placed.groups, coded.layout, self.spec, metrics=metrics, **folders)
            counts |= {"rows": metrics["people"], "groups": metrics["groups"]}
        with self.stages.stage("verify"):
            manifest = self._manifest(coded, metrics, decision)
            release, owned_now = self.staging.release, self.staging.owned
            judged = judge_release(self.spark, release, manifest, owned=owned_now, alone=alone, absent=absent)
        refused = blindly(judged, coded.least)
        if refused is not None:
            Registry.beside(self.staging.output).refused(self.spec.dataset, self._facts())
        self._stop(refused)
        judged += placed.audit or silence(self.spec)
        together = self._together(kept, manifest, judged)
        judged += together.rows
        verdict = suppression.with_decision(judged, decision, self.spec)
        summary = self._summary(read, coded, metrics)
        summary["suppression"] = suppression.facts(suppressing, decision)
        summary["warnings"] += together.warnings
        if together.facts is not None:
            summary["composition"] = together.facts
        return self.staging.finish(verdict, summary, manifest, kept=owned)

    def _together(
        self, people: DataFrame, manifest: Mapping[str, Any], judged: Sequence[VerdictRow]
    ) -> AuditedComposition:
        """What the release tells together with earlier ones; a release to choose by is not published."""
        asked = self.spec.composition.earlier
        if self.staging.trial or asked == "accept" or not all(row.ok for row in judged):
            return AuditedComposition()
        self.staging.release.write_json(MANIFEST, manifest)
        digest = self.staging.release.digest(MANIFEST)
        declared = self.spec.columns.quasi_identifiers.items()
        trees = {name: column.hierarchy for name, column in declared if column.hierarchy is not None}
        new, registry = PublishedGroups.at(self.staging.folder, trees), Registry.beside(self.staging.output)
        earlier = EarlierReleases.of(registry, {**self._facts(), "manifest": digest}, new)
        if asked == "require":
            self._stop(unread(earlier.unread))
        if not earlier.found:
            return AuditedComposition(warnings=tuple(earlier.warnings))
        with self.stages.stage("compose"):
            found, earlier = audited_composition(self.spec, people, new, earlier)
        if asked == "require":
            self._stop(unread(earlier.unread))
        self._stop(composing(found.rows))
        return found

    def _read(self, given: TableLike | None) -> _Read:
        """The table as one record per person, once everything that must hold of it is known to hold."""
        spec = self.spec
        with self.stages.stage("read") as counts:
            table = table_of(spec, given, self.spark)
            files = InputFiles.of(table)
            people, brought = one_record_each(table, spec.columns, self.staging.saver("people"))
            require_single_values(table, spec)
            roles = assign_roles(people, spec.columns, source=table)
            reject_name_clashes(spec, roles)
            checks = (require_one_row_each, require_households, require_weights, singled_out)
            looks: list[Callable[[], Any]] = [partial(check, people, spec.columns) for check in checks]
            looks.append(partial(profile_table, people, spec, roles))
            _, _, weighed, as_is, profile = all_at_once(self.spark, looks)
            profile = with_grids(people, spec, roles, profile)
            counts["rows"] = profile.rows
            require_named_values(spec, value_domains(profile))
            beside = beside_sensitive(people, spec, profile)
        return _Read(files, people, brought, roles, profile, weighed, as_is, tuple(beside))

    def _placed(self, coded: CodedTable) -> Placements:
        """Groups that satisfy every criterion, unless the table or the budget does not allow any."""
        profile = coded.profile
        case, whole = case_of(self.spec), feasibility(self.spec.privacy, profile, self.spec.columns.known)
        whole += [*enough_households(coded.rows, self.spec), *enough_population(coded.rows, self.spec)]
        cells = feasible_cells(coded.rows, self.spec, profile)
        advice = "" if all(row.ok for row in cells) else LINKED
        self._stop(infeasible([*whole, *cells], case, advice))
        partitioner = partitioner_of(coded)
        self._stop(infeasible(partitioner.necessary(), case, TOO_FREQUENT if coded.least is None else ""))
        placed, people = partitioner.place(), profile.took_part
        suppressed = people - profile.kept
        self._stop(over_budget(self.spec, unplaced=placed.unplaced, suppressed=suppressed, people=people))
        self._stop(nobody(profile.kept - placed.unplaced))
        return placed

    def _require_all(
        self, weighed: WeightFacts | None, coded: CodedTable, metrics: Mapping[str, Any], *, unplaced: int
    ) -> None:
        """Nobody is lost, no row where rows are published, and no weight if people have weights."""
        profile = coded.profile
        require_conserved(metrics["people"] + unplaced, profile.kept)
        if weighed is not None:
            everybody = profile.kept == profile.rows
            kept = weighed.units if everybody else kept_units(coded.rows)
            require_same_weight(metrics["weighted"]["units"], kept, everybody=not unplaced)
        if "written" in metrics:
            require_conserved(metrics["written"], sum(profile.domains[0].counts))

    def _asked(self, table: DataFrame, roles: Roles, profile: Profile) -> Questions | None:
        """Queries about the table as it is before suppression, if the spec wants any."""
        number = self.spec.output.queries
        if not number:
            return None
        return Questions(encode_rows(table, self.spec, roles, profile), profile.kept, number)

    def _manifest(
        self, coded: CodedTable, metrics: Mapping[str, Any], decision: suppression.Decision
    ) -> dict[str, Any]:
        weighted = metrics.get("weighted")
        return public_manifest(
            self.spec,
            coded.profile.attributes,
            rows={"input": coded.profile.rows, "published": metrics["people"], **_written(metrics)},
            groups=metrics["groups"],
            suppression=suppression.public_facts(self.spec, decision),
            files=table_digests(self.staging.release),
            least=coded.least,
            population=None if weighted is None else decimal_text(weighted["units"]),
        )

    def _summary(self, read: _Read, coded: CodedTable, metrics: Mapping[str, Any]) -> dict[str, Any]:
        """What the run did, but for suppression."""
        profile, facts, release = coded.profile, self._facts(), self.staging.release
        told = release_summary(
            self.spec, profile, read.roles, source=self.source, metrics=metrics, release=release
        )
        told["input"] |= input_facts(read.brought)
        told["release"]["as_is"] = read.as_is.to_dict()
        told["release"]["beside_sensitive"] = [each.to_dict() for each in read.beside]
        warnings = list(read.as_is.warnings)
        if read.weighed is not None:
            told["release"]["weights"] = weight_facts(read.weighed, metrics["weighted"]["units"])
            warnings += read.weighed.warnings
        if coded.least is not None:
            tries = Registry.beside(self.staging.output).refusals(self.spec.dataset)
            told["blind"] = {**coded.least.to_dict(), "refused_before": len(tries)}
            warnings += tries_told(tries)
        warnings += [warning for each in read.beside for warning in each.warnings]
        summary = {**facts, **told, "rows_per_second": round(profile.rows / max(1e-9, facts["seconds"]))}
        summary["warnings"] += warnings
        return summary

    def _stop(self, refusal: Refusal | None) -> None:
        """Where there is a reason not to publish, write the verdict that gives it, and end the run."""
        if refusal is not None:
            self.staging.fail(Verdict(refusal.rows, False, str(refusal.error)), self._facts())
            raise refusal.error

    def _facts(self) -> dict[str, Any]:
        facts = run_facts("anonymize", self.spec.dataset, self.stages, self.staging.run_id)
        return facts | spec_facts(self.spec)


def _written(metrics: Mapping[str, Any]) -> dict[str, int]:
    """The rows of a release whose rows are not people."""
    return {"written": metrics["written"]} if "written" in metrics else {}
