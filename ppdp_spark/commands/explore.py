"""`explore`: how much an adversary may know before a sensitive value is breached."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from pyspark.sql import SparkSession

from ppdp_spark.commands.check import finding_facts, grouped_people, release_facts
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
from ppdp_spark.errors import DataError, SpecError
from ppdp_spark.run.active_session import session_of
from ppdp_spark.run.commit.staging import write_findings
from ppdp_spark.run.criteria.guarantees import NOTHING, criteria_of, promises_nothing
from ppdp_spark.run.criteria.knowledge import require_named_values
from ppdp_spark.run.criteria.several_attributes import known_beside, labelled
from ppdp_spark.run.inputs.released import Released
from ppdp_spark.run.manifest import known_attributes, published_attributes
from ppdp_spark.run.results import Run, Stages, Verdict
from ppdp_spark.run.translated_errors import told_plainly
from ppdp_spark.spark.data.person_records import input_facts
from ppdp_spark.spark.engine.held_tables import held_tables
from ppdp_spark.spark.input.given_tables import TableLike, source_of
from ppdp_spark.spark.judge.grouped_tables import Grouped
from ppdp_spark.spark.judge.several_attributes import judged_groups, known_in_rows, read_attributes
from ppdp_spark.spark.release.several_attributes import released_cells
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
def explore(
    spec: SpecLike | Released, *, table: TableLike | None = None, spark: SparkSession | None = None
) -> Run:
    """The knowledge skyline of chosen values at chosen confidences, on any table of groups.

    One scan reduces the groups to signatures; everything else happens on the driver. The verdict
    has the spec's own skyline points, if there are any. Of several sensitive attributes one is chosen, and
    looked at in the cells of the others. `spec`, `table` and `spark` are those of
    `anonymize`; in the place of a spec, the output folder of a run stands for its release.
    """
    released = Released.at(spec, "explore") if table is None else None
    if released is not None:
        return released.steadily(partial(_explored_release, spark=session_of(None, spark)))
    assert not isinstance(spec, Released)
    spec, stages = ReleaseSpec.of(spec), Stages()
    with held_tables() as hold:
        people, brought = grouped_people(spec, "explore", stages, hold, table=table, spark=spark)
        with stages.stage("count"):
            cells = read_attributes(people, spec.columns)
        several = len(cells) > 1
        name = _attribute(spec, cells)
        beside = known_in_rows(name, spec.columns) if several else ()
        privacy = spec.privacy.of_attribute(name) if several else spec.privacy
        found = _scanned(spec, cells, name, privacy, stages)
        domain = cells[name].domain
        shared = judged_groups(spec.privacy, spec.columns, people, domain) if several else []
    rows = [*_unsafe(spec.privacy, name if several else None, domain), *shared]
    rows += labelled(found.rows, name, beside) if several else found.rows
    read = {"source": source_of(spec, table), **input_facts(brought)}
    summary = finding_facts(spec, "explore", stages, cells, read=read)
    summary["warnings"] += _raw(spec)
    return _told(spec, found, rows, summary, beside=beside if several else None)


def _explored_release(released: Released, spark: SparkSession) -> Run:
    """What a release of ours tells; the verdict has the skyline points of its manifest, if there are any."""
    spec, manifest, stages = released.spec, released.manifest, Stages()
    if not published_attributes(manifest):
        raise DataError("the release has no sensitive column: there is nothing to explore")
    with stages.stage("count"):
        cells = released_cells(spark, released.folder, manifest)
    several, name = len(cells) > 1, _attribute(spec, cells)
    privacy = spec.privacy.of_attribute(name) if several else spec.privacy
    found = _scanned(spec, cells, name, privacy, stages)
    beside = known_beside(name, known_attributes(manifest)) if several else ()
    rows = labelled(found.rows, name, beside) if several else found.rows
    summary = finding_facts(spec, "explore", stages, cells, read={"source": str(released.folder)})
    summary["release"] = release_facts(manifest)
    return _told(spec, found, rows, summary, beside=beside if several else None)


@dataclass(frozen=True)
class _Found:
    """The skylines of an attribute, and what became of the criteria that are demanded of it."""

    attribute: str
    grouped: Grouped
    skylines: list[KnowledgeSkyline]
    rows: list[VerdictRow]


def _attribute(spec: ReleaseSpec, cells: Mapping[str, Grouped]) -> str:
    """The sensitive attribute that is explored: the one that is named, or the only one."""
    return (spec.explore or ExploreSpec()).sensitive or next(iter(cells))


def _scanned(
    spec: ReleaseSpec, cells: Mapping[str, Grouped], name: str, privacy: PrivacySpec, stages: Stages
) -> _Found:
    """The skylines of the chosen values, and the verdict on the criteria in `privacy`, in one scan."""
    wanted, grouped = spec.explore or ExploreSpec(), cells[name]
    domain = grouped.domain
    require_named_values(spec, {each: cells[each].domain for each in cells})
    values = _chosen(grouped, wanted)
    width = max(0, len(grouped.values) - 1)
    bounds = Bounds(max_l=min(wanted.max_l, width), max_m=wanted.max_m)
    criteria = criteria_of(privacy, domain)
    with stages.stage("scan"):
        signing = [_Signing(value, domain.case, bounds.max_l) for value in values]
        found = grouped.reduce([*signing, *criteria])
    with stages.stage("explore"):
        signed = found[: len(values)]
        skylines = [knowledge.explore(one, c, bounds) for one in signed for c in wanted.confidence]
    pairs = zip(criteria, found[len(values) :], strict=True)
    return _Found(name, grouped, skylines, [row for c, each in pairs for row in c.decide(each)])


def _told(
    spec: ReleaseSpec,
    found: _Found,
    rows: Sequence[VerdictRow],
    summary: dict[str, Any],
    *,
    beside: Sequence[str] | None,
) -> Run:
    """The run, with the skylines in its summary; `beside` is what may be known of several attributes."""
    groups = found.skylines[0].groups if found.skylines else 0
    about = {} if beside is None else {"attribute": found.attribute, "known": list(beside)}
    summary["release"] = {"groups": groups, **summary.get("release", {})}
    summary["knowledge"] = [{**_named(skyline, found.grouped), **about} for skyline in found.skylines]
    return write_findings(spec, "explore", Verdict(tuple(rows)), summary)


def _raw(spec: ReleaseSpec) -> list[str]:
    """That the table itself was looked at, where a group is everybody with the same quasi-identifiers."""
    if spec.columns.group is not None:
        return []
    place = spec.output.path or "OUTPUT"
    return [
        "this looked at the table itself, in which a group is everybody with the same quasi-identifiers, "
        "often one person alone: it says what the table would tell if it were published as it is. "
        f"`ppdp explore {place}` looks at a release; `columns.group` names the groups of other tables"
    ]


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
