"""Keys that Spark's hash partitioning sends to a partition of one's choice.

Rows are sent to partition h(key) mod n, where h is MurmurHash3 of 32 bits with seed 42. Of 32-bit integers
it is one to one, for each of its steps can be undone: each number has exactly one key with that hash.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ppdp_spark.core.data.groups import IntArray

Words: TypeAlias = NDArray[np.uint64]

_MASK = 0xFFFFFFFF
_SEED = 42
_BYTES = 4
_FIRST, _SECOND = 0xCC9E2D51, 0x1B873593
_STEP, _ADDED = 5, 0xE6546B64
_FINAL = (0x85EBCA6B, 0xC2B2AE35)


def keys_of_partitions(number: int) -> IntArray:
    """For each partition from 0 to `number` - 1 the key whose hash is the number of the partition."""
    h = np.arange(number, dtype=np.uint64)
    h ^= h >> np.uint64(16)
    h = _times(h, _inverse(_FINAL[1]))
    h ^= (h >> np.uint64(13)) ^ (h >> np.uint64(26))
    h = _times(h, _inverse(_FINAL[0]))
    h ^= h >> np.uint64(16)
    h ^= np.uint64(_BYTES)
    h = _times((h - np.uint64(_ADDED)) & np.uint64(_MASK), _inverse(_STEP))
    h = _turned_back(h, 13) ^ np.uint64(_SEED)
    h = _turned_back(_times(h, _inverse(_SECOND)), 15)
    return np.asarray(_times(h, _inverse(_FIRST)).astype(np.uint32).view(np.int32))


def _inverse(factor: int) -> int:
    """What undoes multiplication by an odd factor modulo 2^32."""
    return pow(factor, -1, _MASK + 1)


def _times(numbers: Words, factor: int) -> Words:
    """The products modulo 2^32; both factors have at most 32 bits, and 64 bits hold the product."""
    product: Words = (numbers * np.uint64(factor)) & np.uint64(_MASK)
    return product


def _turned_back(numbers: Words, bits: int) -> Words:
    """Words of 32 bits turned to the right."""
    left, right = numbers << np.uint64(32 - bits), numbers >> np.uint64(bits)
    turned: Words = (left | right) & np.uint64(_MASK)
    return turned
