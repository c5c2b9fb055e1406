"""Many small codes in few 64-bit words: what crosses a shuffle and the border to Python is words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

WORD_BITS = 63
"""Bits used of a word: the sign stays free, so shifts to the right need no care."""


@dataclass(frozen=True)
class Field:
    """Where a code lies: bits shift … shift + bits − 1 of word `word`."""

    name: str
    word: int
    shift: int
    bits: int


@dataclass(frozen=True)
class Packing:
    """How codes are laid out in words."""

    fields: tuple[Field, ...]

    @classmethod
    def of(cls, largest: Mapping[str, int]) -> Packing:
        """A packing for codes from 0 to the largest of each name, widest first."""
        used: list[int] = []
        fields = []
        for name in sorted(largest, key=lambda each: (-largest[each].bit_length(), each)):
            bits = max(1, largest[name].bit_length())
            word = next((w for w, filled in enumerate(used) if filled + bits <= WORD_BITS), len(used))
            if word == len(used):
                used.append(0)
            fields.append(Field(name, word, used[word], bits))
            used[word] += bits
        return cls(tuple(fields))

    @property
    def words(self) -> int:
        return 1 + max((field.word for field in self.fields), default=-1)

    def packed(self, codes: Mapping[str, NDArray[np.int32]]) -> list[NDArray[np.int64]]:
        """The words that hold the codes of every name."""
        words: dict[int, NDArray[np.int64]] = {}
        for field in self.fields:
            shifted = codes[field.name].astype(np.int64) << field.shift
            words[field.word] = words[field.word] | shifted if field.word in words else shifted
        return [words[w] for w in range(self.words)]

    def unpacked(self, words: Sequence[NDArray[np.int64]]) -> dict[str, NDArray[np.int32]]:
        """The codes of every name."""
        return {
            field.name: ((words[field.word] >> field.shift) & ((1 << field.bits) - 1)).astype(np.int32)
            for field in self.fields
        }
