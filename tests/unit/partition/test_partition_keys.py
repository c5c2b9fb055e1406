"""Keys whose hash is the number of a partition, against MurmurHash3 as it is published."""

from __future__ import annotations

import numpy as np

from ppdp_spark.spark.engine.partition_keys import keys_of_partitions

WORD = 0xFFFFFFFF


def murmur3(key: int, seed: int = 42) -> int:
    """MurmurHash3 (x86, 32 bits) of an integer's four bytes."""

    def turned(number: int, bits: int) -> int:
        return ((number << bits) | (number >> (32 - bits))) & WORD

    mixed = turned(((key & WORD) * 0xCC9E2D51) & WORD, 15) * 0x1B873593 & WORD
    found = (turned(seed ^ mixed, 13) * 5 + 0xE6546B64) & WORD
    found ^= 4
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        found = ((found ^ (found >> shift)) * factor) & WORD
    return found ^ (found >> 16)


def test_the_reference_is_the_published_hash():
    # Spark: SELECT hash(0), hash(1), hash(-1)
    known = {0: 933211791, 1: -559580957, -1: -1604776387}
    assert {key: np.uint32(murmur3(key)).view(np.int32).item() for key in known} == known


def test_each_partition_has_the_one_key_whose_hash_is_its_number():
    keys = keys_of_partitions(100_000)
    assert keys.dtype == np.int32 and len(np.unique(keys)) == len(keys)
    assert [murmur3(int(key)) for key in keys] == list(range(100_000))
    assert keys_of_partitions(1).tolist() == keys[:1].tolist()
