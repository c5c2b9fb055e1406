"""`anonymize`: read, encode, partition, publish, verify from the files, commit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NoReturn

from pyspark.sql import DataFrame, SparkSession

from ppdp_spark.commands.verify import judge_release
from ppdp_spark.core.criteria.base import VerdictRow
from ppdp_spark.core.data.attributes import Ordered
from ppdp_spark.errors import BudgetError, InfeasibleError, InternalError, PpdpError
from ppdp_spark.run.active_session import session_of
from ppdp_spark.run.guarantees import public_privacy, require_named_values
from ppdp_spark.run.registry import Registry
from ppdp_spark.run.results import Run, Stages, Verdict
from ppdp_spark.run.staging import Staging
from ppdp_spark.run.storage import DATA, EXTREMA, Folder, table_digests
from ppdp_spark.run.summary import package_version, run_facts
from ppdp_spark.run.translated_errors import told_plainly
from ppdp_spark.spark.data.encode import encode_rows
from ppdp_spark.spark.data.identifiers import require_one_row_each
from ppdp_spark.spark.data.inputs import InputFiles
from ppdp_spark.spark.data.layout import Layout
from ppdp_spark.spark.data.person_records import one_record_each
from ppdp_spark.spark.data.profile import Profile, profile_table
from ppdp_spark.spark.data.tables import Roles, assign_roles, read_table, reject_name_clashes
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.partition import placement
from ppdp_spark.spark.partition.fragments import sampled
from ppdp_spark.spark.partition.grouping import Grouping, value_domain
from ppdp_spark.spark.release.numbering import number_groups, order_groups
from ppdp_spark.spark.release.publish import Publication, published_names
from ppdp_spark.spark.suppression import suppression_stage as suppression
from ppdp_spark.spark.utility.loss import group_metrics
from ppdp_spark.spark.utility.queries import query_error
from ppdp_spark.spec import ReleaseSpec

LISTED_FAILURES = 5
LISTED_VALUES = 1_000
"""Sensitive values whose counts the private summary lists, the most frequent first."""


@told_plainly
def anonymize(
    spec: ReleaseSpec,
    *,
    table: DataFrame | None = None,
    spark: SparkSession | None = None,
    trial: bool = False,
    draws_of: str | None = None,
) -> Run:
    """Publish the table as the spec says, verified from the written files, or publish nothing.

    `table` takes the place of the spec's input. A run that fails leaves an earlier release as it
    was; its own verdict says why. A `trial` is for choosing: it is not entered in the registry. Random
    draws use the key beside the output, or beside the output `draws_of` that a trial varies.
    """
    spec.require_for("anonymize")
    session = session_of(table, spark)
    with Staging.open(spec, trial=trial) as staging:
        drawn_for = staging.output if draws_of is None else Folder.at(draws_of)
        return _Anonymization(spec, session, Stages(), staging, Registry.beside(drawn_for)).run(table)


@dataclass(frozen=True)
class _Anonymization:
    spec: ReleaseSpec
    spark: SparkSession
    stages: Stages
    staging: Staging
    draws: Registry

    def run(self, table: DataFrame | None) -> Run:
        with self.stages.stage("read") as counts:
            table = read_table(self.spark, self.spec.input) if table is None else table
            files, source = InputFiles.of(table), table
            table, people = one_record_each(table, self.spec.columns, self.staging.saver("people"))
            roles = assign_roles(table, self.spec.columns, source=source)
            reject_name_clashes(self.spec, roles)
            require_one_row_each(table, self.spec.columns)
            profile = profile_table(table, self.spec, roles)
            counts["rows"] = profile.rows
            require_named_values(self.spec.privacy, value_domain(profile))
        original, found = table, profile
        rng = suppression.generator(self.spec, profile.sensitive, self.draws)
        with self.stages.stage("suppress") as counts:
            decision = suppression.decide(self.spec, profile.sensitive, rng)
            self._require(decision)
            table, profile = suppression.apply(table, self.spec, roles, profile, decision=decision, rng=rng)
            self._require_people(profile.kept)
            counts["rows"] = profile.kept
        encoded = encode_rows(table, self.spec, roles, profile)
        rows, sample = encoded.drop(C.CONTENT), sampled(encoded, profile.kept)
        bucketized = self.spec.output.form == "bucketized"
        kept = len(self.spec.columns.publish_as_is)
        layout = Layout(profile.attributes, profile.sensitive, bucketized, kept)
        used = placement.attributes_of(self.spec)
        signed = encode_rows(table, self.spec, roles, profile, only=used) if used else rows
        groups, unplaced = self._grouped((rows, sample, signed), layout, profile)
        with self.stages.stage("measure") as counts:
            metrics = group_metrics(groups, layout.attributes)
            counts["groups"] = metrics["groups"]
        if self.spec.output.queries:
            metrics["queries"] = self._query_error(original, roles, found, groups, layout=layout)
        files.require_same()
        _require_conserved(metrics["people"] + unplaced, profile.kept)
        self.stages.count("partition", rows=profile.kept)
        with self.stages.stage("publish") as counts:
            self._write_tables(groups, layout, metrics)
            counts |= {"rows": metrics["people"], "groups": metrics["groups"]}
        with self.stages.stage("verify"):
            manifest = self._manifest(profile, metrics, decision)
            owned = self.staging.scratch / EXTREMA if self.spec.privacy.robustness is not None else None
            judged = judge_release(self.spark, self.staging.release, manifest, extrema=owned)
        seeded = self.spec.suppression.unsafe_fixed_seed is not None
        reason = "the suppression used a fixed seed: not for publication" if seeded else None
        verdict = Verdict((*decision.rows, *judged), not seeded, reason)
        summary = self._summary(profile, roles, metrics)
        if people is not None:
            summary["input"] |= {"rows": people.rows, "people": asdict(people)}
        summary["suppression"] = suppression.facts(found.sensitive, decision)
        return self.staging.finish(verdict, summary, manifest, kept=() if owned is None else (EXTREMA,))

    def _grouped(
        self, encoded: tuple[DataFrame, DataFrame, DataFrame], layout: Layout, profile: Profile
    ) -> tuple[DataFrame, int]:
        """Groups that satisfy every criterion, and how many people found no place in one.

        `encoded` are all rows, a sample of them, and all rows with the columns of the priors only.
        """
        rows, sample, signed = encoded
        grouping = Grouping.of(self.spec.privacy, profile, layout)
        self._require_feasible(grouping.feasibility())
        save = self.staging.saver("groups")
        if not placement.needed(self.spec):
            return grouping.partition(rows, sample, save=save, stages=self.stages), 0
        placing = placement.placement_of(self.spec, layout, grouping.criteria)
        self._require_feasible(placement.feasibility(placing, grouping.whole), placing=True)
        with self.stages.stage("priors"):
            priors = placement.prior_sets(self.spec, signed, layout, profile, self.staging.saver("priors"))
        found = placement.place(
            rows,
            sample,
            placement=placing,
            layout=layout,
            profile=profile,
            priors=priors,
            save=save,
            stages=self.stages,
        )
        row = placement.budget_row(found.unplaced, profile, self.spec)
        if not row.ok:
            error = BudgetError(
                f"{found.unplaced:,} people find no group that satisfies the criteria; with them "
                f"{row.value:.2%} of the rows would be suppressed, more than `suppression.budget` "
                f"({row.threshold:.2%}): ask for less, use coarser attribute sets, or raise the budget"
            )
            self._refuse([row], error)
        self._require_people(profile.kept - found.unplaced)
        return found.groups, found.unplaced

    def _refuse(self, rows: Sequence[VerdictRow], error: PpdpError) -> NoReturn:
        self.staging.fail(Verdict(tuple(rows), False, str(error)), self._facts())
        raise error

    def _require_people(self, number: int) -> None:
        if not number:
            row = VerdictRow("people", "at least 1 is published", 0.0, 1.0, ">=", 0, 1, "fail")
            self._refuse([row], InfeasibleError("every row would be suppressed: there is nothing to publish"))

    def _require(self, decision: suppression.Decision) -> None:
        """Stop before anything is written if the data is too skewed, or the cure costs too much."""
        if decision.ok:
            return
        failing = next(row for row in decision.rows if not row.ok)
        if decision.within_budget:
            error: PpdpError = InfeasibleError(
                "the data is not l-eligible: a sensitive value is too frequent (see the private verdict); "
                "set `suppression.method: r`, or a smaller `suppression.l`"
            )
        else:
            error = BudgetError(
                f"suppression would remove {failing.value:.2%} of the rows, more than "
                f"`suppression.budget` ({failing.threshold:.2%}); {suppression.SAME_DRAW}"
            )
        self._refuse(decision.rows, error)

    def _require_feasible(self, rows: list[VerdictRow], *, placing: bool = False) -> None:
        """Partitioning starts from the undivided table; where it fails, there is no way to begin.

        With one value a person it is also the safest release there is.
        """
        failing = [row for row in rows if not row.ok]
        if failing:
            reasons = "; ".join(_shortfall(row) for row in failing[:LISTED_FAILURES])
            more = f" (and {len(failing) - LISTED_FAILURES} more)" if len(failing) > LISTED_FAILURES else ""
            reason = (
                f"the whole table as one group already fails, so nothing can be published: {reasons}{more}"
            )
            if placing:
                reason += "; a sensitive value is too frequent: set `suppression: {method: r, l: ...}`"
            self._refuse(rows, InfeasibleError(reason))

    def _query_error(
        self, table: DataFrame, roles: Roles, profile: Profile, groups: DataFrame, *, layout: Layout
    ) -> dict[str, Any] | None:
        """How well the groups answer queries about the table as it was before suppression."""
        with self.stages.stage("query") as counts:
            counts["rows"] = profile.kept
            rows, number = encode_rows(table, self.spec, roles, profile), self.spec.output.queries
            return query_error(rows, groups, layout, number=number, people=profile.kept)

    def _write_tables(self, groups: DataFrame, layout: Layout, metrics: Mapping[str, Any]) -> None:
        order = order_groups(groups, layout.attributes, metrics["ncp"])
        numbered = number_groups(groups, order, layout)
        robustness, scratch = self.spec.privacy.robustness, self.staging.scratch
        written = Publication(
            numbered,
            layout,
            order,
            names=self.spec.columns.publish_as_is,
            folder=self.staging.release / DATA,
            scratch=scratch / "unfinished",
            owned=None if robustness is None else scratch / EXTREMA,
            sets=0 if robustness is None else len(robustness.priors),
        ).write()
        _require_conserved(metrics["people"] if written is None else written, metrics["people"])

    def _manifest(
        self, profile: Profile, metrics: Mapping[str, Any], decision: suppression.Decision
    ) -> dict[str, Any]:
        """The public manifest: a function of the spec and of the published content."""
        sensitive = self.spec.columns.sensitive
        form = self.spec.output.form
        names = published_names(profile.attributes, form)
        ranges = [a.name for a in profile.attributes if isinstance(a, Ordered)]
        return {
            "format": 1,
            "version": package_version(),
            "dataset": self.spec.dataset,
            "form": form,
            "partitioner": self.spec.partitioner,
            "privacy": public_privacy(self.spec),
            "suppression": suppression.public_facts(decision),
            "rows": {"input": profile.rows, "published": metrics["people"]},
            "groups": metrics["groups"],
            "columns": {
                "group": C.GROUP_ID,
                "quasi_identifiers": names[1:],
                "ranges": ranges if form == "generalized" else [],
                "publish_as_is": list(self.spec.columns.publish_as_is),
            },
            "sensitive": None if sensitive is None else {"column": sensitive.column, "case": sensitive.case},
            "files": table_digests(self.staging.release),
        }

    def _facts(self) -> dict[str, Any]:
        return {
            **run_facts("anonymize", self.spec.dataset, self.stages, self.staging.run_id),
            "spec": self.spec.to_dict(),
            "spec_fingerprint": self.spec.fingerprint(),
            "warnings": list(self.spec.warnings),
        }

    def _summary(self, profile: Profile, roles: Roles, metrics: Mapping[str, Any]) -> dict[str, Any]:
        people, groups = metrics["people"], metrics["groups"]
        suppressed = profile.rows - people
        ncp = metrics["ncp"]
        k = self.spec.privacy.k_anonymity
        sizes = {key: metrics[key] for key in ("smallest", "largest")}
        measured = {
            "sizes": {**sizes, "mean": people / groups, "histogram": metrics["histogram"]},
            "discernibility": metrics["discernibility"],
            "ncp": ncp,
            "gcp": sum(ncp.values()) / len(ncp),
        }
        if k is not None:
            measured["average_class_ratio"] = people / groups / k
        if metrics.get("queries"):
            measured["queries"] = metrics["queries"]
        facts = self._facts()
        return {
            **facts,
            "input": {
                "rows": profile.rows,
                "fingerprint": profile.fingerprint,
                "source": self.spec.input.table or str(self.spec.input.path),
                "unassigned": list(roles.unassigned),
                "nulls": profile.nulls,
            },
            "release": {
                "form": self.spec.output.form,
                "rows": people,
                "groups": groups,
                "suppressed": {
                    "nulls": profile.rows - profile.took_part,
                    "frequent": profile.took_part - profile.kept,
                    "unplaced": profile.kept - people,
                    "total": suppressed,
                    "rate": suppressed / profile.rows,
                },
                "files": sum(1 for _ in self.staging.release.files(".parquet")),
                "bytes": sum(info.size for _, info in self.staging.release.files(".parquet")),
            },
            "sensitive": _sensitive_facts(profile),
            "metrics": measured,
            "rows_per_second": round(profile.rows / max(1e-9, facts["seconds"])),
        }


def _sensitive_facts(profile: Profile) -> dict[str, Any] | None:
    domain = profile.sensitive
    if domain is None:
        return None
    listed = sorted(zip(domain.labels, domain.counts, strict=True), key=lambda pair: (-pair[1], pair[0]))
    values = [{"value": label, "count": count} for label, count in listed[:LISTED_VALUES]]
    return {"column": domain.column, "case": domain.case, "distinct": len(listed), "values": values}


def _shortfall(row: VerdictRow) -> str:
    found = "no value" if row.value is None else f"{row.value:.6g}"
    return f"{row.criterion} {found}, needed {row.relation} {row.threshold:.6g} ({row.level})"


def _require_conserved(published: int, expected: int) -> None:
    if published != expected:
        raise InternalError(f"{expected:,} rows went in and {published:,} came out: nothing was published")
