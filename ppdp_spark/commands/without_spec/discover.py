"""`discover`: which sets of columns single people out, and a spec to begin with.

Nobody knows what others know; but columns that tell many people apart are those to declare, and a count
finds them. Rows are taken for people. Nothing of a row is shown, and nothing is written.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import PurePosixPath

from pyspark.sql import DataFrame, SparkSession

from ppdp_spark.core.discovery.column_facts import ColumnFacts
from ppdp_spark.core.discovery.column_looks import looks
from ppdp_spark.core.discovery.column_roles import proposed_role
from ppdp_spark.core.discovery.lattice import ColumnSet, SingledOut, minimal_sets
from ppdp_spark.errors import CHANGED, DataError, SpecError
from ppdp_spark.report.proposal import proposed_spec
from ppdp_spark.run.active_session import session_of
from ppdp_spark.run.discovery import (
    MOST,
    SHARE,
    DiscoveredColumn,
    Discovery,
    DiscoveryRequest,
    SinglingSet,
    SourceLike,
)
from ppdp_spark.run.results import Stages
from ppdp_spark.run.translated_errors import told_plainly
from ppdp_spark.spark.data.tables import require_declared
from ppdp_spark.spark.discovery.column_survey import comparable, surveyed, values_of
from ppdp_spark.spark.discovery.set_crowds import SetCounter
from ppdp_spark.spark.discovery.value_codes import coded_columns
from ppdp_spark.spark.engine.held_tables import Save, held_tables
from ppdp_spark.spark.input.given_tables import TableLike, spark_frame
from ppdp_spark.spark.input.input_files import InputFiles
from ppdp_spark.spark.input.read_table import read_table
from ppdp_spark.spec import ColumnsSpec, InputSpec, ReleaseSpec

_LONGEST_NAME = 200
_BY_COLUMN = ("parquet", "orc")
"""Formats of which one column can be read without the others."""


@told_plainly
def discover(
    source: SourceLike | None = None,
    *,
    table: TableLike | None = None,
    spark: SparkSession | None = None,
    share: float = SHARE,
    most: int = MOST,
) -> Discovery:
    """All minimal sets of up to `most` columns that single out at least that share of the people, exactly.

        print(discover("people.parquet").spec)

    Somebody is singled out by a set if nobody else has the same values in it; null is a value like any
    other. A set is minimal if none of its parts reaches the share.

    where
        source  an `InputSpec`, a mapping with its fields, or the path of a file
        table   a Spark or pandas DataFrame in place of it
        spark   the session to use; left out, that of the table or the active one
        share   of all people, above 0 and at most 1; at least one person
        most    columns of a set at the most, from 1 to 4
    """
    asked = DiscoveryRequest.of(source, share=share, most=most)
    given = asked.input
    if (given is None) == (table is None):
        raise SpecError("`discover` needs a source or a table, and only one of them")
    stages = Stages()
    session = session_of(table, spark)
    with held_tables() as hold:
        with stages.stage("read"):
            rows = _rows(given, table, session)
            files = InputFiles.of(rows)
            names, left_out = _columns_of(rows)
            rows = _kept(rows, names, given, hold)
        with stages.stage("columns") as counts:
            facts = surveyed(rows, names)
            counts["rows"] = people = facts[0].people
            if not people:
                raise DataError("the table has no rows")
        needed = max(1, math.ceil(Fraction(str(asked.share)) * people))
        with stages.stage("sets") as counts:
            found = _sets(rows, facts, needed, most, hold)
            counts |= {"sets": len(found.people), "counted": found.counted}
        files.require_same()
    told = _told(found, facts, [rows.schema[name].dataType.simpleString() for name in names])
    discovery = Discovery(
        people, share, needed, most, *told, left_out, found.counted, found.spared, "", tuple(stages.done)
    )
    return replace(discovery, spec=_proposed(discovery, given))


def _rows(given: InputSpec | None, table: TableLike | None, session: SparkSession) -> DataFrame:
    if given is not None:
        return read_table(session, given)
    assert table is not None
    return spark_frame(table, session)


def _columns_of(rows: DataFrame) -> tuple[list[str], tuple[str, ...]]:
    """Columns whose values can be compared, and the others."""
    require_declared(rows, ColumnsSpec())
    fit = {field.name: comparable(field.dataType) for field in rows.schema.fields}
    names = [name for name, can in fit.items() if can]
    if not names:
        raise DataError("the table has no columns whose values can be compared")
    return names, tuple(name for name, can in fit.items() if not can)


def _kept(rows: DataFrame, names: Sequence[str], given: InputSpec | None, hold: Save) -> DataFrame:
    """The table as it can be read column by column, with what counts as the same made equal."""
    values = rows.select(*(values_of(rows, name).alias(name) for name in names))
    if given is not None and (given.table is not None or given.format in _BY_COLUMN):
        return values
    held = hold(values)
    held.count()  # Jobs that begin together would each read the whole of it.
    return held


def _sets(rows: DataFrame, facts: Sequence[ColumnFacts], needed: int, most: int, hold: Save) -> SingledOut:
    """Minimal sets, by the places of their columns.

    Columns with more values come first, so that sets that begin alike begin with those that divide most;
    what singles enough people out by itself, and what divides nobody, is in no larger set.
    """
    order = sorted(range(len(facts)), key=lambda place: (-facts[place].crowds.number, place))
    open_ = [p for p in order if facts[p].crowds.alone < needed and facts[p].crowds.number > 1]
    alone: dict[ColumnSet, int] = {
        (p,): facts[p].crowds.alone for p in order if facts[p].crowds.alone >= needed
    }
    if len(open_) < 2 or most < 2:
        return SingledOut(alone, 0, 0)
    columns = tuple(facts[place] for place in open_)
    coded = coded_columns(rows, columns)
    words = hold(coded.words)
    if words.count() != columns[0].people:
        raise DataError(CHANGED)
    count = SetCounter(replace(coded, words=words), columns)
    found = minimal_sets([each.crowds for each in columns], needed=needed, most=most, count=count)
    several = {tuple(sorted(open_[p] for p in places)): n for places, n in found.people.items()}
    return replace(found, people=alone | several)


def _told(
    found: SingledOut, facts: Sequence[ColumnFacts], types: Sequence[str]
) -> tuple[tuple[SinglingSet, ...], tuple[DiscoveredColumn, ...]]:
    """Sets and columns by their names."""
    ranked = sorted(found.people.items(), key=lambda item: (len(item[0]), -item[1], item[0]))
    sets = tuple(
        SinglingSet(tuple(facts[place].name for place in places), people, people / facts[0].people)
        for places, people in ranked
    )
    singling = {place for places in found.people for place in places}
    columns = []
    for place, each in enumerate(facts):
        like = looks(each)
        proposed = proposed_role(each, like, singles_out=place in singling)
        figures = (each.crowds.number, each.nulls, each.crowds.alone)
        columns.append(
            DiscoveredColumn(each.name, types[place], *figures, like, proposed.role, proposed.because)
        )
    return sets, tuple(columns)


def _proposed(found: Discovery, given: InputSpec | None) -> str:
    """The spec, without the secrets that options of a reader may hold; named after the file or the table."""
    if given is None:
        return proposed_spec(found.to_dict(), "people", None)
    name = given.table or PurePosixPath(str(given.path).rstrip("/")).name.partition(".")[0]
    named = name[:_LONGEST_NAME] or "people"
    plain = ReleaseSpec(version=1, dataset=named, input=given, columns=ColumnsSpec()).to_dict()["input"]
    return proposed_spec(found.to_dict(), named, {key: value for key, value in plain.items() if value})
