"""`explore`: how much an adversary may know before a sensitive value is breached."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyspark.sql import SparkSession

from ppdp_spark.commands.check import finding_facts, grouped_people
from ppdp_spark.core.criteria.base import VerdictRow
from ppdp_spark.core.data.groups import GroupSummaries, IntArray
from ppdp_spark.core.data.value_names import ValueDomain, codes_of_names
from ppdp_spark.core.explorer import knowledge_skyline as knowledge
from ppdp_spark.core.explorer.knowledge_skyline import (
    Bounds,
    KnowledgeSkyline,
    Signatures,
    merge_signatures,
    signatures,
)
from ppdp_spark.errors import SpecError
from ppdp_spark.run.commit.staging import write_findings
from ppdp_spark.run.criteria.guarantees import NOTHING, criteria_of, promises_nothing
from ppdp_spark.run.criteria.knowledge import require_named_values
from ppdp_spark.run.criteria.several_attributes import labelled
from ppdp_spark.run.results import Run, Stages, Verdict
from ppdp_spark.run.translated_errors import told_plainly
from ppdp_spark.spark.data.person_records import input_facts
from ppdp_spark.spark.engine.held_tables import held_tables
from ppdp_spark.spark.input.given_tables import TableLike, source_of
from ppdp_spark.spark.judge.grouped_tables import Grouped
from ppdp_spark.spark.judge.several_attributes import judged_groups, known_in_rows, read_attributes
from ppdp_spark.spec import ExploreSpec, PrivacySpec, ReleaseSpec, SpecLike


@dataclass(frozen=True)
class _Signing:
    """Reduces groups to the signatures that matter for one value."""

    value: int
    case: str
    max_l: int

    def summarise(self, groups: GroupSummaries, ids: IntArray) -> Signatures:
        return signatures(groups, ids, self.value, case=self.case, max_l=self.max_l)  # type: ignore[arg-type]

    def merge(self, left: Signatures, right: Signatures) -> Signatures:
        return merge_signatures([left, right])


@told_plainly
def explore(spec: SpecLike, *, table: TableLike | None = None, spark: SparkSession | None = None) -> Run:
    """The knowledge skyline of chosen values at chosen confidences, on any table of groups.

    One scan reduces the groups to signatures; everything else happens on the driver. The verdict
    has the spec's own skyline points, if there are any. Of several sensitive attributes one is chosen, and
    looked at in the cells of the others. `spec`, `table` and `spark` are those of
    `anonymize`.
    """
    spec, stages = ReleaseSpec.of(spec), Stages()
    wanted = spec.explore or ExploreSpec()
    with held_tables() as hold:
        people, brought = grouped_people(spec, "explore", stages, hold, table=table, spark=spark)
        with stages.stage("count"):
            cells = read_attributes(people, spec.columns)
            name = wanted.sensitive or next(iter(cells))
            grouped = cells[name]
        domain, several = grouped.domain, len(cells) > 1
        require_named_values(spec, {each: cells[each].domain for each in cells})
        values = _chosen(grouped, wanted)
        width = max(0, len(grouped.values) - 1)
        bounds = Bounds(max_l=min(wanted.max_l, width), max_m=wanted.max_m)
        criteria = criteria_of(spec.privacy.of_attribute(name) if several else spec.privacy, domain)
        with stages.stage("scan"):
            signing = [_Signing(value, domain.case, bounds.max_l) for value in values]
            found = grouped.reduce([*signing, *criteria])
            shared = judged_groups(spec.privacy, spec.columns, people, domain) if several else []
    with stages.stage("explore"):
        skylines = [
            knowledge.explore(signed, c, bounds) for signed in found[: len(values)] for c in wanted.confidence
        ]
    pairs = zip(criteria, found[len(values) :], strict=True)
    rows = [row for criterion, statistic in pairs for row in criterion.decide(statistic)]
    beside = known_in_rows(name, spec.columns) if several else ()
    rows = [*shared, *(labelled(rows, name, beside) if several else rows)]
    verdict = Verdict((*_unsafe(spec.privacy, name if several else None, domain), *rows))
    read = {"source": source_of(spec, table), **input_facts(brought)}
    summary = finding_facts(spec, "explore", stages, cells, read=read)
    summary["release"] = {"groups": skylines[0].groups}
    about = {"attribute": name, "known": list(beside)} if several else {}
    summary["knowledge"] = [{**_named(skyline, grouped), **about} for skyline in skylines]
    return write_findings(spec, "explore", verdict, summary)


def _unsafe(privacy: PrivacySpec, attribute: str | None, domain: ValueDomain) -> list[VerdictRow]:
    """A failing row where criteria are demanded and show anybody alone, whatever their value."""
    demanded = privacy if attribute is None else privacy.only(attribute)
    if not (privacy.criteria and promises_nothing(demanded, criteria_of(demanded, domain), domain)):
        return []
    return [NOTHING if attribute is None else NOTHING.of_attribute(attribute)]


def _chosen(grouped: Grouped, wanted: ExploreSpec) -> list[int]:
    """Codes of the values to explore, by default all that need protection; all problems at once."""
    protected = grouped.domain.protected_codes
    if wanted.values is None:
        return protected
    codes = codes_of_names(wanted.values, grouped.labels, grouped.kind)
    unknown = [value for value, code in codes.items() if code is None]
    if unknown:
        raise SpecError(
            [f"`explore.values` ({value}) is not a value of the sensitive column" for value in unknown]
        )
    free = [value for value, code in codes.items() if code not in protected]
    if free:
        told = "needs no protection, as `columns.sensitive` says: remove it, or protect it"
        raise SpecError([f"`explore.values` ({value}) {told}" for value in free])
    return [code for code in codes.values() if code is not None]


def _named(skyline: KnowledgeSkyline, grouped: Grouped) -> dict[str, Any]:
    """A skyline with names of values instead of codes; each point's witness is its nearest breach."""
    plain = skyline.to_dict()
    plain["value"] = grouped.labels[skyline.value]
    for point in [*plain["points"], *([{"breaches": [plain["start"]]}] if plain["start"] else [])]:
        for breach in point["breaches"]:
            breach["excluded_values"] = [grouped.labels[code] for code in breach["excluded_values"]]
    for point in plain["points"]:
        point["witness"] = point["breaches"][0] if point["breaches"] else {}
    return plain
