"""Sorting codes: they are small, and numpy sorts 16 bits at a time in linear time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ppdp_spark.core.data.groups import IntArray

_DIGIT = 16


def radix_order(keys: Sequence[IntArray]) -> IntArray:
    """The stable order by the first key, then by the second, …; keys are not negative."""
    order = np.arange(len(keys[0]))
    for key in reversed(keys):
        for shift in range(0, max(1, int(key.max(initial=0)).bit_length()), _DIGIT):
            digit = ((key >> shift) & ((1 << _DIGIT) - 1)).astype(np.uint16)
            order = order[np.argsort(digit[order], kind="stable")]
    return order
