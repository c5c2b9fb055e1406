"""Classes and signatures numbered by what they contain, whatever numbers they came with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ppdp_spark.core.data.groups import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class SignatureClasses:
    """The distinct signatures of every attribute set, and the classes: their distinct combinations.

    where
        tables   priors of the distinct signatures, one array (signatures × values) an attribute set
        classes  number of the signature of each class, shape (classes, sets)
        ranks    class of each person
    """

    tables: tuple[FloatArray, ...]
    classes: IntArray
    ranks: IntArray

    @property
    def stacked(self) -> FloatArray:
        """The tables one below the other."""
        return np.concatenate(self.tables) if self.tables else np.zeros((1, 1))

    @property
    def stacked_rows(self) -> NDArray[np.int32]:
        """The rows of `stacked` that belong to each class, one column per attribute set."""
        lengths = [len(table) for table in self.tables]
        above = np.cumsum([0, *lengths[:-1]])[: len(lengths)]
        return np.asarray(self.classes + above, np.int32)


def signatures(classes: IntArray, priors: Sequence[FloatArray]) -> SignatureClasses:
    """Signatures and classes of the people with these class numbers; equal priors are one class.

    The attribute set with most signatures comes first: a group that fails, fails there most likely.
    """
    present = np.zeros(int(classes.max(initial=-1)) + 1, np.bool_)
    present[classes] = True
    tables, columns = [], []
    for table in priors:
        kept, numbers = _distinct(np.ascontiguousarray(table[: len(present)][present], np.float64) + 0.0)
        tables.append(kept)
        columns.append(numbers)
    strictest = sorted(range(len(tables)), key=lambda s: -len(tables[s]))
    tables, columns = [tables[s] for s in strictest], [columns[s] for s in strictest]
    known = int(present.sum())
    numbers = np.stack(columns, axis=1) if columns else np.zeros((known, 0), np.int64)
    distinct, ranks = _distinct(numbers)
    own = np.cumsum(present) - 1
    return SignatureClasses(tuple(tables), distinct, ranks[own[classes]])


def _distinct(rows: Any) -> tuple[Any, NDArray[np.int64]]:
    """The distinct rows in an order that their content decides, and the number of each row among them.

    Rows are told apart by a 64-bit hash, which is then confirmed; a collision costs time only.
    """
    if not rows.shape[1] or not len(rows):
        return rows[:1], np.zeros(len(rows), np.int64)
    _, first, numbers = np.unique(_hashes(rows.view(np.uint64)), return_index=True, return_inverse=True)
    kept = rows[first]
    if not np.array_equal(kept[numbers], rows):
        kept, numbers = np.unique(rows, axis=0, return_inverse=True)
    return kept, numbers.reshape(-1).astype(np.int64)


@njit(cache=True, nogil=True)
def _hashes(rows: Any) -> Any:
    hashed = np.zeros(len(rows), np.uint64)
    for i in range(len(rows)):
        mixed = np.uint64(0)
        for j in range(rows.shape[1]):
            mixed = (mixed ^ rows[i, j]) * np.uint64(0x9E3779B97F4A7C15)
            mixed ^= mixed >> np.uint64(29)
        hashed[i] = mixed
    return hashed
