"""Codes packed into words come out as they went in."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ppdp_spark.core.data.packing import WORD_BITS, Packing


@given(st.data(), st.lists(st.integers(0, 2**31 - 1), min_size=1, max_size=40))
def test_codes_survive_packing(data, largest):
    limits = {f"q{j}": most for j, most in enumerate(largest)}
    packing = Packing.of(limits)
    codes = {name: data.draw(st.integers(0, most)) for name, most in limits.items()}
    words = [np.zeros(1, np.int64) for _ in range(packing.words)]
    taken = [0] * packing.words
    for field in packing.fields:
        mask = ((1 << field.bits) - 1) << field.shift
        assert taken[field.word] & mask == 0 and mask.bit_length() <= WORD_BITS
        taken[field.word] |= mask
        words[field.word] |= codes[field.name] << field.shift
    assert {name: int(array[0]) for name, array in packing.unpacked(words).items()} == codes
    together = packing.packed({name: np.array([code], np.int32) for name, code in codes.items()})
    assert [int(word[0]) for word in together] == [int(word[0]) for word in words]
