"""Group summaries and targets in the form the kernels take, a bounded number of groups at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numba import njit

from ppdp_spark.core.criteria.skyline.formulas import MVPI_RECORDS, MVPI_SET, SVPI
from ppdp_spark.core.criteria.skyline.points import CASES, Target
from ppdp_spark.core.data.groups import GroupSummaries, IntArray
from ppdp_spark.errors import DataError

CELLS_AT_ONCE = 2**21

_EXPECTED = {
    "svpi": "the counts of a group must sum to its people",
    "mvpi-set": "no value can occur more often in a group than it has people",
    "mvpi-records": "no value can occur in more records of a group than it has people",
    "mvpi-rows": "counts must not be negative, and a group with values must have people",
    "mvpi-multiset": "counts must not be negative, and a group with values must have people",
}


@njit(cache=True, error_model="numpy")
def _consistent(case: int, people: int, row: IntArray) -> bool:
    """Whether the counts of a group can belong to so many people in this case."""
    total = 0
    for count in row:
        if count < 0 or (case in (MVPI_SET, MVPI_RECORDS) and count > people):
            return False
        total += count
    if case == SVPI:
        return total == people
    return people > 0 or total == 0


@njit(cache=True, error_model="numpy")
def _inconsistent(case: int, sizes: IntArray, counts: IntArray) -> int:
    """How many groups have counts that cannot be in this case."""
    bad = 0
    for g in range(len(sizes)):
        if not _consistent(case, sizes[g], counts[g]):
            bad += 1
    return bad


def point_rows(targets: Sequence[Target], values: int) -> IntArray:
    """One row for each target: value, ℓ, k, m, and a number that targets with the same (ℓ, k, m) share.

    ℓ is cut to the number of other values that there are.
    """
    outside = sorted({target.value for target in targets if not 0 <= target.value < values})
    if outside:
        raise DataError(f"targets name value codes {outside}, but the groups count {values} values")
    amounts = [(min(t.point.l, values - 1), t.point.k, t.point.m) for t in targets]
    numbers = {amount: i for i, amount in enumerate(dict.fromkeys(amounts))}
    rows = [(t.value, *amount, numbers[amount]) for t, amount in zip(targets, amounts, strict=True)]
    return np.array(rows, dtype=np.int64).reshape(len(rows), 5)


def batches(groups: GroupSummaries, case: int) -> Iterator[tuple[int, IntArray, IntArray]]:
    """First row, sizes and counts of consecutive groups, as contiguous int64 and checked."""
    step = max(1, CELLS_AT_ONCE // max(1, groups.counts.shape[1]))
    for start in range(0, len(groups), step):
        sizes = np.ascontiguousarray(groups.sizes[start : start + step], dtype=np.int64)
        counts = np.ascontiguousarray(groups.counts[start : start + step], dtype=np.int64)
        bad = _inconsistent(case, sizes, counts)
        if bad:
            name = CASES[case]
            raise DataError(f"{bad} groups have counts that cannot be in case {name}: {_EXPECTED[name]}")
        yield start, sizes, counts
