"""`compose`: what somebody infers who holds several releases about the same people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from pyspark.sql import DataFrame, SparkSession

from ppdp_spark.errors import SpecError
from ppdp_spark.report.format.quoted_names import name as quoted
from ppdp_spark.run.active_session import session_of
from ppdp_spark.run.claim import Claim
from ppdp_spark.run.commit.owner_files import write_private
from ppdp_spark.run.results import Run, Stages, Verdict
from ppdp_spark.run.storage import REPORT, SUMMARY, VERDICT, Folder
from ppdp_spark.run.summary import run_facts
from ppdp_spark.run.translated_errors import told_plainly
from ppdp_spark.spark.composition.composed_releases import composed
from ppdp_spark.spark.composition.overlapping_groups import people_of_groups
from ppdp_spark.spark.composition.people_in_groups import by_key, people_in_groups
from ppdp_spark.spark.composition.published_groups import PublishedGroups, short_names
from ppdp_spark.spark.input.given_tables import TableLike, spark_frame
from ppdp_spark.spark.input.read_table import read_table
from ppdp_spark.spec.attack import OriginalSpec

TableOrPath: TypeAlias = TableLike | str | Path


@told_plainly
def compose(
    outputs: Sequence[str | Path],
    *,
    people: TableOrPath | Sequence[TableOrPath] | None = None,
    person: str | None = None,
    threshold: float | None = None,
    hierarchies: Mapping[str, str] | None = None,
    output: str | Path | None = None,
    spark: SparkSession | None = None,
) -> Run:
    """The posteriors of people who are in several releases, and who is pinned to one value.

        compose(["out/2025", "out/2026"], people="people.parquet", threshold=0.5).ok

    where
        outputs      output folders of runs, or release folders by themselves, as others receive them
        people       a table of people with their quasi-identifiers, or one for each release; left out, people
                     are those that a release shows or, where none does, the overlaps of described groups
        person       the column that says who is who in several tables of people
        threshold    the largest posterior allowed; with it, nobody may be pinned to one value either
        hierarchies  CSV files that say what is below a published category, by quasi-identifier; left
                     out, those of the owner's summaries
        output       folder for verdict, summary and report
        spark        the session to use; left out, the active one
    """
    tables = _listed(people)
    _require(outputs, tables, person, threshold)
    given = next((table for table in tables if not isinstance(table, str | Path)), None)
    session, stages = session_of(given if isinstance(given, DataFrame) else None, spark), Stages()
    names = short_names([str(place) for place in outputs])
    with stages.stage("read"):
        releases = [PublishedGroups.at(str(place), hierarchies) for place in outputs]
    with stages.stage("match"):
        found, basis = matched(session, releases, tables, person)
    with stages.stage("compose"):
        told = composed(session, releases, found, threshold=threshold, names=names)
    verdict = Verdict(tuple(told.rows(threshold, pins=threshold is not None)))
    datasets = dict.fromkeys(str(release.manifest["dataset"]) for release in releases)
    summary = {
        **run_facts("compose", ", ".join(datasets), stages),
        "warnings": told.warnings(basis),
        "composition": {**told.to_dict(), "basis": basis, "threshold": threshold},
    }
    return _written(verdict, summary, output)


def matched(
    spark: SparkSession,
    releases: Sequence[PublishedGroups],
    tables: Sequence[TableOrPath],
    person: str | None,
) -> tuple[DataFrame, str]:
    """People with the groups they fit in each release, and by what they were found."""
    if len(tables) > 1:
        frames = [_table(spark, table) for table in tables]
        each = [
            people_in_groups(frame, {place: releases[place]}, person, f"table {place + 1} of `people`")
            for place, frame in enumerate(frames)
        ]
        return by_key(each), "tables"
    everywhere = dict(enumerate(releases))
    if tables:
        return people_in_groups(_table(spark, tables[0]), everywhere, person, "`people`"), "table"
    wanted = {name for release in releases for name in release.names}
    for release in releases:
        if release.shows_people and wanted <= set(release.names):
            shown = release.people(spark)
            return people_in_groups(shown, everywhere, None, f"`{release.place}`"), "release"
    return people_of_groups(spark, releases), "overlaps"


def _listed(people: Any) -> list[TableOrPath]:
    if people is None:
        return []
    return list(people) if isinstance(people, list | tuple) else [people]


def _require(
    outputs: Sequence[Any], tables: Sequence[Any], person: str | None, threshold: float | None
) -> None:
    """Raise one `SpecError` with all that is wrong with what was asked."""
    problems = []
    if len(outputs) < 2:
        problems.append("`compose` needs at least two releases: name two output folders")
    if len(tables) > 1 and len(tables) != len(outputs):
        problems.append(
            f"`people` ({len(tables)} tables) must be one table for all releases, or one for each of the "
            f"{len(outputs)}, in their order"
        )
    if len(tables) > 1 and person is None:
        problems.append("`person` is missing: it says who is who in several tables of people")
    if person is not None and not tables:
        problems.append(f"`person` ({quoted(person)}) is a column of `people`, which is missing")
    if threshold is not None and not 0 < threshold <= 1:
        problems.append(f"`threshold` ({threshold:g}) must be above 0 and at most 1")
    if problems:
        raise SpecError(problems)


def _table(spark: SparkSession, table: TableOrPath) -> DataFrame:
    if isinstance(table, str | Path):
        return read_table(spark, OriginalSpec.model_validate(str(table)))
    return spark_frame(table, spark)


def _written(verdict: Verdict, summary: Mapping[str, Any], output: str | Path | None) -> Run:
    """The result, in a folder if there is one for it."""
    if output is None:
        return Run(verdict, summary, {})
    folder = Folder.at(output)
    with Claim.held(folder, summary["run_id"]):
        write_private(folder, verdict, summary)
    names = {"verdict": VERDICT, "summary": SUMMARY, "report": REPORT}
    return Run(verdict, summary, {key: str(folder / name) for key, name in names.items()})
