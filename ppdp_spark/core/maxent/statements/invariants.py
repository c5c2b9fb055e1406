"""How far a distribution is from the counts of a release and from statements, computed apart from solving."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ppdp_spark.core.maxent.buckets import Buckets, FloatArray
from ppdp_spark.core.maxent.statements.system import System


def count_rows(buckets: Buckets) -> sparse.csr_matrix:
    """A: the invariants of every bucket, its rows first, then its values [MaxEnt, Section 5]."""
    variable, value = buckets.variables_of(np.arange(len(buckets.cell_qi)))
    bucket = buckets.cell_bucket
    row = np.repeat(buckets.row_start[bucket] + buckets.cell_row, buckets.widths[bucket])
    ones, count = np.ones(len(variable)), buckets.variables
    by_row = sparse.csr_matrix((ones, (row, variable)), shape=(len(buckets.row_count), count))
    by_value = sparse.csr_matrix((ones, (value, variable)), shape=(len(buckets.value_count), count))
    return sparse.csr_matrix(sparse.vstack([by_row, by_value]))


def count_miss(buckets: Buckets, x: FloatArray) -> float:
    """The largest difference between a published count and what x gives, relative to max(1, count)."""
    bucket = buckets.cell_bucket
    width = buckets.widths[bucket]
    _, value = buckets.variables_of(np.arange(len(buckets.cell_qi)))
    row = np.repeat(buckets.row_start[bucket] + buckets.cell_row, width)
    by_row = np.bincount(row, weights=x, minlength=len(buckets.row_count))
    by_value = np.bincount(value, weights=x, minlength=len(buckets.value_count))
    return max(
        _largest(by_row - buckets.row_count, buckets.row_count),
        _largest(by_value - buckets.value_count, buckets.value_count),
    )


def statement_miss(system: System, x: FloatArray) -> float:
    """The largest violation of a row, relative to max(1, its size in records)."""
    return relative_miss(system, system.matrix @ x, abs(system.matrix) @ x)


def relative_miss(system: System, moments: FloatArray, sizes: FloatArray) -> float:
    """The same from K x and |K| x."""
    slack = moments - system.rhs
    size = np.maximum(np.abs(system.rhs), sizes)
    return _largest(np.where(system.inequality, np.minimum(slack, 0.0), slack), size)


def _largest(miss: FloatArray, size: FloatArray) -> float:
    return float(np.max(np.abs(miss) / np.maximum(1.0, size), initial=0.0))
