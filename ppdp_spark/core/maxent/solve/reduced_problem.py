"""A smaller problem with the same answers to "can these statements be true", for few statements.

Tuples of a bucket that the statements treat alike act as one, and so do its values, and rows whose places
are open to the same kinds of people: what a solution gives them together can be divided by their counts.
Buckets that then look the same act as one bucket of their summed counts, for m · T(r, c) = T(m r, m c). Alike
is decided by 64-bit hashes of what statements say of a tuple or a value. A collision may hide a contradiction
or invent one; either ends in an error, not in a posterior.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ppdp_spark.core.maxent.buckets import Buckets, IntArray
from ppdp_spark.core.maxent.statements.system import System

Hashes = NDArray[np.uint64]


def merged(buckets: Buckets, system: System) -> tuple[Buckets, System]:
    """The problem with alike tuples, values and buckets merged."""
    entries = sparse.coo_matrix(system.matrix)
    bucket = np.searchsorted(buckets.variable_start, entries.col, side="right") - 1
    place = entries.col - buckets.variable_start[bucket]
    cell = buckets.cell_start[bucket] + place // buckets.widths[bucket]
    value = buckets.value_start[bucket] + place % buckets.widths[bucket]
    said = _mixed(_mixed(entries.row), entries.data.view(np.uint64))
    cell_hash = _summed(cell, _mixed(said, buckets.value_code[value]), len(buckets.cell_qi))
    row = buckets.row_start[buckets.cell_bucket] + buckets.cell_row
    row_hash = _contents(row, cell_hash, len(buckets.row_count))
    cell_hash = _mixed(row_hash[row], cell_hash)
    value_hash = _contents(value, _mixed(said, cell_hash[cell]), len(buckets.value_code))

    value_bucket = np.repeat(np.arange(len(buckets)), buckets.widths)
    cells, cell_class = _classes(buckets.cell_bucket, cell_hash)
    values, value_class = _classes(value_bucket, value_hash)
    row_bucket = np.repeat(np.arange(len(buckets)), np.diff(buckets.row_start))
    rows, row_class = _classes(row_bucket, row_hash)
    people = np.bincount(row_class, weights=buckets.row_count, minlength=len(rows))
    counts = np.bincount(value_class, weights=buckets.value_count, minlength=len(values))
    look = _summed(row_bucket[rows], _mixed(row_hash[rows], people.view(np.uint64)), len(buckets))
    look += _summed(
        value_bucket[values], _mixed(value_hash[values], counts.view(np.uint64), salt=7), len(buckets)
    )
    kept, kind = _classes(np.zeros(len(buckets), dtype=np.int64), look)
    times = np.bincount(kind).astype(np.float64)[kind]

    small = Buckets(
        ids=buckets.ids,
        cell_start=np.searchsorted(buckets.cell_bucket[cells], np.arange(len(buckets) + 1)),
        cell_qi=buckets.cell_qi[cells],
        cell_row=_local(row_class[row[cells]], row_bucket[rows], buckets.cell_bucket[cells]),
        cell_person=buckets.cell_person[cells],
        cell_weight=buckets.cell_weight[cells],
        row_start=np.searchsorted(row_bucket[rows], np.arange(len(buckets) + 1)),
        row_count=people * times[row_bucket[rows]],
        value_start=np.searchsorted(value_bucket[values], np.arange(len(buckets) + 1)),
        value_code=buckets.value_code[values],
        value_count=counts * times[value_bucket[values]],
    )
    at = cell_class[cell] - small.cell_start[bucket]
    column = small.variable_start[bucket] + at * small.widths[bucket]
    column += value_class[value] - small.value_start[bucket]
    return _chosen(small, np.sort(kept), (entries.row, column, entries.data), system)


def _chosen(buckets: Buckets, kept: IntArray, entries: Any, system: System) -> tuple[Buckets, System]:
    """The problem on some buckets; entries that fell together are one entry."""
    row, column, data = entries
    _, first = np.unique(row.astype(np.int64) * buckets.variables + column, return_index=True)
    whole = sparse.csr_matrix(
        (data[first], (row[first], column[first])), shape=(len(system), buckets.variables)
    )
    start = buckets.variable_start
    wanted = np.zeros(len(buckets), dtype=bool)
    wanted[kept] = True
    matrix = sparse.csr_matrix(whole[:, np.flatnonzero(np.repeat(wanted, np.diff(start)))])
    return buckets.take(kept), replace(system, matrix=matrix)


def _contents(index: IntArray, hashes: Hashes, size: int) -> Hashes:
    """A hash of the different hashes at each place, whatever their number and order."""
    order = np.lexsort((hashes, index))
    new = np.ones(len(order), dtype=bool)
    new[1:] = (np.diff(index[order]) != 0) | (hashes[order][1:] != hashes[order][:-1])
    different = order[new]
    return _summed(index[different], _mixed(hashes[different], salt=3), size)


def _local(classes: IntArray, class_bucket: IntArray, bucket: IntArray) -> NDArray[np.int32]:
    return (classes - np.searchsorted(class_bucket, bucket)).astype(np.int32)


def _classes(bucket: IntArray, hashes: Hashes) -> tuple[IntArray, IntArray]:
    """A representative of each (bucket, hash), in order of bucket, and the class of everything."""
    order = np.lexsort((hashes, bucket))
    new = np.ones(len(order), dtype=bool)
    new[1:] = (np.diff(bucket[order]) != 0) | (hashes[order][1:] != hashes[order][:-1])
    classes = np.empty(len(order), dtype=np.int64)
    classes[order] = np.cumsum(new) - 1
    return order[new], classes


def _summed(index: IntArray, hashes: Hashes, size: int) -> Hashes:
    total = np.zeros(size, dtype=np.uint64)
    np.add.at(total, index, hashes)
    return total


def _mixed(first: Any, second: Any = 0, *, salt: int = 1) -> Hashes:
    """splitmix64 of two words."""
    words = np.asarray(first).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    words = words + np.asarray(second).astype(np.uint64) * np.uint64(0xD1B54A32D192ED03) + np.uint64(salt)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(words ^ (words >> np.uint64(31)))
