"""What a reader concludes who knows the program that made the groups, in words [Wong et al. 2007]."""

from __future__ import annotations

from collections.abc import Sequence

from ppdp_spark.report.format.numbers import as_number, mapping, number, percent
from ppdp_spark.report.format.quoted_names import printable, things
from ppdp_spark.report.sentences.guarantee import Guarantee, Row, Setting, holds, margin

CRITERION = "algorithm_aware"

READER = (
    "Somebody who knows this program, the spec and the quasi-identifiers of everybody in the table, and "
    "takes all ways to hand out the values of the groups to be equally likely. Such a reader concludes from "
    "the cuts that were not made that values are such that they were refused."
)
LIMITS = (
    "A reader with other beliefs, or one who knows values of others or learns from all groups together. What "
    "the choice of the tasks that a large table is spread over tells such a reader. "
)


def knowing_program(rows: Sequence[Row], setting: Setting) -> list[Guarantee]:
    """What is said of each row of the algorithm-aware audit; nothing where there was nothing to look at."""
    wanted = (row for row in rows if not any(reason in str(row.get("level")) for reason in _NEEDLESS))
    return [_told(row, setting) for row in wanted]


_NEEDLESS = ("`audit.algorithm` is none", "there is no sensitive column")


def _told(row: Row, setting: Setting) -> Guarantee:
    demanded = as_number(row.get("threshold")) is not None or row.get("status") != "measured"
    status = ("pass" if holds(row) else "fail") if demanded else "measured"
    if as_number(row.get("value")) is None and not number_of(row, "people looked at"):
        return _silent(row, status)
    claim = _claim(row, setting)
    return Guarantee(
        title="a reader who knows the program",
        status=status,
        claim=f"Not met: {claim[0].lower()}{claim[1:]}" if status == "fail" else claim,
        margin=margin(row, "Largest posterior that cannot be ruled out", share=True),
        holds=READER,
        limits=LIMITS + _left_out(row),
    )


def _silent(row: Row, status: str) -> Guarantee:
    """There was no audit."""
    return Guarantee(
        title="a reader who knows the program",
        status=status,
        claim=(
            "It was not looked at what a reader concludes who knows how this program makes groups "
            f"({printable(str(row.get('level', '')).removeprefix('not audited: '))})."
        ),
        margin="There was no group to look at.",
        holds="Nobody: nothing was measured.",
        limits="Such a reader may be surer of a person's value than the share in the group says.",
    )


def number_of(row: Row, name: str) -> int:
    """A count of the row's witness."""
    return int(as_number(mapping(row, "witness").get(name)) or 0)


def _claim(row: Row, setting: Setting) -> str:
    people = number_of(row, "people looked at")
    beyond = number_of(row, "people beyond the criteria")
    undecided, unknown = number_of(row, "people undecided"), number_of(row, "people without an answer")
    looked = f"{things(people, 'person', 'people')} looked at"
    if row.get("value") is None:
        return f"There is no answer for any of {looked}: too much follows from refused cuts to be computed."
    whom = " of anybody for whom there is an answer" if unknown else ""
    sure = f"at most {percent(row.get('value'))} sure of the value of {setting.sensitive}{whom}"
    told = (
        f"Whoever knows how this program makes groups is {sure}. Of {looked}, {number(beyond)} have a "
        "posterior that the criteria do not allow a group"
    )
    more = [f"for {number(undecided)} that is not decided"] if undecided else []
    more += [f"for {number(unknown)} there is no answer"] if unknown else []
    return f"{'; '.join([told, *more])}."


def _left_out(row: Row) -> str:
    """What else the figures leave out, and how sure they are."""
    confidence = as_number(mapping(row, "parameters").get("confidence"))
    one_in = as_number(mapping(row, "parameters").get("one_in")) or 1
    sample = "" if one_in == 1 else "Groups that are not in the sample. "
    sure = (
        ""
        if confidence is None
        else f"All intervals hold together with a confidence of {percent(confidence)}."
    )
    return f"{sample}{sure}".strip()
