"""People who are in the input and not in the release: what somebody concludes who misses one of them.

Whoever knows how often each value occurs in the input subtracts what is published, and has the values of all
who were left out: they are one more group, whose counts follow. If which rows of a value go is drawn evenly,
as D- and R-suppression do, all ways to hand out these values to the absent are equally likely, and the
posterior of an absent person's value is its share among them. Where people are left out because they fit no
group, it is that share for a reader who does not retrace the groups.
"""

from __future__ import annotations

from collections.abc import Mapping

from ppdp_spark.core.criteria.base import VerdictRow

CRITERION = "absent_people"
NO_VALUE = "no value"

Counts = Mapping[str | None, int]


def values_left_out(before: Counts, published: Counts) -> dict[str | None, int]:
    """How many of the absent have each value; negative where a value is published that was not there."""
    values = dict.fromkeys([*before, *published])
    return {value: before.get(value, 0) - published.get(value, 0) for value in values}


def absent_people(before: Counts, published: Counts, *, without_value: int = 0) -> list[VerdictRow]:
    """One row on the most frequent value of the absent; none if nobody was left out.

    where
        before         how many of the people who take part have each value
        published      how many of the people in the release have it
        without_value  people who were left out and may have no value at all: who has none is learned, too
    """
    left = values_left_out(before, published)
    people, most = sum(left.values()) + without_value, max([*left.values(), without_value], default=0)
    if not people:
        return []
    unclear = min(left.values(), default=0) < 0
    named = next((value for value, count in left.items() if count == most), NO_VALUE)
    told = {"reason": "values are written differently in table and release"}
    found = {"people": people, "with this value": most, "value": "(null)" if named is None else named}
    return [
        VerdictRow(
            criterion=CRITERION,
            level="largest share of one value among people who are left out",
            value=None if unclear else most / people,
            threshold=None,
            relation="<=",
            groups=0,
            violations=0,
            status="measured",
            witness=told if unclear else found,
        )
    ]
