"""Background knowledge as linear rows over the variables, whoever stated it and however."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ppdp_spark.core.maxent.buckets import FloatArray, IntArray

FACT = -1


@dataclass(frozen=True, eq=False)
class System:
    """Rows K x = k and K x ≥ k over x = |T| · P(q, s, b).

    where
        matrix      K, CSR, shape (rows, variables)
        rhs         k
        inequality  which rows are ≥; the others are =
        owner       number of the statement each row comes from; `FACT` for what is true by construction
        names       the statements' names, for messages
        factor      what each row was multiplied by to bring its largest coefficient to 1; negative for ≤
    """

    matrix: sparse.csr_matrix
    rhs: FloatArray
    inequality: NDArray[np.bool_]
    owner: IntArray
    names: tuple[str, ...]
    factor: FloatArray

    def __len__(self) -> int:
        return len(self.rhs)

    def rows(self, index: IntArray) -> System:
        """Some of the rows."""
        return replace(
            self,
            matrix=self.matrix[index],
            rhs=self.rhs[index],
            inequality=self.inequality[index],
            owner=self.owner[index],
            factor=self.factor[index],
        )


def system(
    matrix: sparse.spmatrix,
    relations: Sequence[str],
    rhs: Sequence[float] | FloatArray,
    *,
    owner: Sequence[int] | IntArray | None = None,
    names: Sequence[str] | None = None,
    largest: FloatArray | None = None,
) -> System:
    """Rows with relations =, <= and >=, brought to = and ≥ and to a largest coefficient of 1.

    `largest` gives the coefficients to divide by: rows of the same statements in different places must
    be divided alike.
    """
    rows = sparse.csr_matrix(matrix, dtype=np.float64)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    if largest is None:
        largest = np.asarray(abs(rows).max(axis=1).todense()).ravel() if rows.nnz else np.zeros(rows.shape[0])
    factor = 1.0 / np.where(largest > 0, largest, 1.0)
    factor = np.where([r == "<=" for r in relations], -factor, factor)
    count = rows.shape[0]
    return System(
        matrix=sparse.csr_matrix(sparse.diags(factor) @ rows) if count else rows,
        rhs=np.asarray(rhs, dtype=np.float64) * factor,
        inequality=np.array([r != "=" for r in relations], dtype=bool),
        owner=np.arange(count) if owner is None else np.asarray(owner, dtype=np.int64),
        names=tuple(names) if names is not None else tuple(f"statement {i + 1}" for i in range(count)),
        factor=factor,
    )
