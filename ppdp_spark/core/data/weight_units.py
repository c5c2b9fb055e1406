"""Survey weights as whole numbers: sums of them are exact, whatever the order and the partitioning."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ppdp_spark.errors import InternalError

if TYPE_CHECKING:
    from ppdp_spark.core.data.groups import FloatArray, GroupSummaries, IntArray

DIGITS, UNITS = 6, 1_000_000
"""Units of one person: a weight counts down to the last millionth that is full, never up."""

LARGEST_WEIGHT = 10**12
"""People that one row may stand for, at most."""

LARGEST_SUM = 2**62
"""Units of a whole table, at most: sums stay inside 64 bits."""


def in_people(units: int) -> float:
    """Units as people."""
    return units / UNITS


def decimal_text(units: int) -> str:
    """Units as people, exactly: `12.5`."""
    whole, rest = divmod(units, UNITS)
    return f"{whole}.{rest:0{DIGITS}}".rstrip("0").rstrip(".")


def population_of(groups: GroupSummaries) -> IntArray:
    """The sums of weights of groups, in units; they must be known if there are any groups."""
    if groups.population is not None:
        return groups.population
    if len(groups):
        raise InternalError("weights of people are not known here")
    return np.empty(0, np.int64)


def sums_of_groups(weights: IntArray, order: IntArray, bounds: IntArray) -> IntArray:
    """The sum of weights of each group: group g has the people order[bounds[g] : bounds[g + 1]]."""
    upto = np.concatenate([np.zeros(1, np.int64), np.cumsum(weights[order], dtype=np.int64)])
    return np.asarray(upto[bounds[1:]] - upto[bounds[:-1]])


def amounts(units: IntArray) -> FloatArray:
    """Units as people, for estimates."""
    return np.asarray(units, np.float64) / UNITS
