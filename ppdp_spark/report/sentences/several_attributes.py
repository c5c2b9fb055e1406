"""Several sensitive attributes in words: which of them a guarantee is about, and what links them or not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby

from ppdp_spark.report.format.numbers import listing, mapping
from ppdp_spark.report.format.quoted_names import joined, printable
from ppdp_spark.report.sentences.guarantee import Guarantee, Row, Setting, column_name, worded

CRITERION = "unlinked"


def attribute_of(row: Row) -> str | None:
    """The sensitive attribute that a row is about, where there are several."""
    named = mapping(row, "parameters").get("sensitive")
    return None if named is None else str(named)


def by_attribute(rows: Iterable[Row]) -> Iterator[tuple[str | None, list[Row]]]:
    """Rows of one attribute together, in the order of the first of each."""
    listed = list(rows)
    names = list(dict.fromkeys(map(attribute_of, listed)))
    for name, alike in groupby(sorted(listed, key=lambda row: names.index(attribute_of(row))), attribute_of):
        yield name, list(alike)


def setting_of(setting: Setting, attribute: str | None) -> Setting:
    """The setting of a guarantee about one attribute."""
    return setting if attribute is None else replace(setting, sensitive=column_name(attribute))


def about(told: Guarantee, row: Row, setting: Setting) -> Guarantee:
    """The same guarantee, saying which attribute it is about and, where rows link them, what is known."""
    attribute = attribute_of(row)
    known = [str(name) for name in listing(mapping(row, "parameters"), "known")]
    if attribute is None:
        return told
    given = f" given {', '.join(known)}" if known else ""
    name = printable(f"{attribute}{given}: ")  # which levels begin with, too
    holds, limits = told.holds, told.limits
    if known:
        holds += (
            f" They may also know the person's {_columns(known)}, for the values stand in the same row: a "
            "group is here what is alike in these as well."
        )
    unknown = [other for other in setting.attributes if other not in (attribute, *known)]
    if setting.linked and unknown:
        limits += (
            f" Somebody who knows the person's {_columns(unknown)}: the values stand in the same row, and "
            "are taken to be unknown."
        )
    return replace(told, title=name + told.title.replace(name, "", 1), holds=holds, limits=limits)


def _columns(names: Iterable[str]) -> str:
    return joined([column_name(name) for name in names])


def unlinked(row: Row, setting: Setting) -> Guarantee:
    """The order of published values: a function of their counts in the group."""
    columns = [column_name(name) for name in setting.attributes]
    named = joined(columns) if columns else "the sensitive attributes"
    beside = " Values that stand in one row belong together by chance." if setting.side_by_side else ""
    return worded(
        row,
        "sensitive attributes published independently",
        (
            f"Which values of {named} belong to the same person is not told: whoever knows one of a person "
            f"learns no more about another from it.{beside}",
            f"the values of {named} are not in an order of their own: rows may tell which belong together.",
        ),
        "Rows out of order",
        against=(
            "Somebody who knows a person's quasi-identifiers, hence the group, and the person's values of "
            "all sensitive attributes but one."
        ),
        limits=(
            "Somebody who knows from elsewhere which values of different attributes go together, such as a "
            "disease and its treatment."
        ),
    )
