"""Short codes for values that are known by 64-bit hashes: as few of the bits as still tell them apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ppdp_spark.core.data.groups import IntArray

LONGEST = 63
_TRIED = 8


@dataclass(frozen=True)
class Bits:
    """Bits shift … shift + length − 1 of a 64-bit word."""

    shift: int
    length: int


def telling_bits(hashes: IntArray) -> Bits | None:
    """Few bits in which all of these hashes differ; None if some two are the same or nearly so."""
    number = max(2, len(hashes))
    fewest = max((number - 1).bit_length(), 2 * number.bit_length() - 5)
    for length in range(min(fewest, LONGEST), LONGEST + 1):
        for shift in range(0, min(_TRIED, LONGEST + 2 - length)):
            bits = Bits(shift, length)
            if len(np.unique(_read(hashes, bits))) == len(hashes):
                return bits
    return None


def _read(hashes: IntArray, bits: Bits) -> IntArray:
    read: IntArray = (hashes >> bits.shift) & np.int64((1 << bits.length) - 1)
    return read
