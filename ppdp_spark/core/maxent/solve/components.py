"""Connected components of statements and buckets: what can be solved apart."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from ppdp_spark.core.maxent.buckets import Buckets, IntArray, variables_in
from ppdp_spark.core.maxent.statements.system import System

TOGETHER = 64


@dataclass(frozen=True, eq=False)
class Component:
    """Rows of a system and the buckets they touch; no other row touches these."""

    rows: IntArray
    buckets: IntArray

    def cut(self, buckets: Buckets, system: System) -> tuple[Buckets, System]:
        """The component as a problem of its own."""
        part = system.rows(self.rows)
        if len(self.buckets) == len(buckets):
            return buckets, part
        matrix = part.matrix[:, variables_in(buckets, self.buckets)]
        return buckets.take(self.buckets), replace(part, matrix=matrix)


def touched_buckets(buckets: Buckets, matrix: sparse.csr_matrix) -> IntArray:
    """Position of the bucket of every entry of the matrix."""
    first_beyond: IntArray = np.searchsorted(buckets.variable_start, matrix.indices, side="right")
    return first_beyond - 1


def components(buckets: Buckets, system: System, *, together: int = TOGETHER) -> list[Component]:
    """The components, small ones gathered until they have about `together` rows; smallest first."""
    rows, matrix = len(system), system.matrix
    entry_row = np.repeat(np.arange(rows), np.diff(matrix.indptr))
    entry_bucket = touched_buckets(buckets, matrix)
    links = sparse.coo_matrix(
        (np.ones(matrix.nnz, dtype=np.int8), (entry_row, rows + entry_bucket)),
        shape=(rows + len(buckets), rows + len(buckets)),
    )
    _, label = csgraph.connected_components(links, directed=False)
    sizes = np.bincount(label[:rows], minlength=label.max(initial=-1) + 1)
    home = _gathered(sizes, together)[label]
    row_order, bucket_order = np.argsort(home[:rows], kind="stable"), np.argsort(home[rows:], kind="stable")
    names = np.unique(home[:rows])
    row_cut = np.searchsorted(home[:rows][row_order], names[1:])
    low = np.searchsorted(home[rows:][bucket_order], names, side="left")
    high = np.searchsorted(home[rows:][bucket_order], names, side="right")
    split = np.split(row_order, row_cut) if len(names) else []
    return [Component(r, np.sort(bucket_order[a:b])) for r, a, b in zip(split, low, high, strict=True)]


def _gathered(sizes: IntArray, together: int) -> IntArray:
    """A new label for each component: −1 without rows, large ones their own, small ones shared."""
    home = np.full(len(sizes), -1, dtype=np.int64)
    filled = np.flatnonzero(sizes)
    order = filled[np.argsort(sizes[filled], kind="stable")]
    home[order] = (np.cumsum(sizes[order]) - 1) // max(together, 1)
    large = order[sizes[order] > together] if together > 1 else order
    home[large] = home.max(initial=0) + 1 + np.arange(len(large))
    return home
