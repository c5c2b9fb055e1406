"""Which groups of one release overlap with which of another: somebody can be in both only if they do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ppdp_spark.core.data.groups import BoolArray, IntArray
from ppdp_spark.core.maxent.matching import Side

HELD_PAIRS = 1 << 22
"""Pairs of groups that are compared at once: bounds memory."""


@dataclass(frozen=True, eq=False)
class OverlappingBoxes:
    """The groups of two releases along the attributes that both describe."""

    first: tuple[Side, ...]
    second: tuple[Side, ...]
    groups: int

    def pairs(self, rows: IntArray) -> tuple[IntArray, IntArray]:
        """For some groups of the first release, by place in `rows`: those of the second that overlap."""
        step = max(1, HELD_PAIRS // max(1, self.groups))
        found = [self._pairs(rows[low : low + step], low) for low in range(0, len(rows), step)]
        left, right = zip(*found, strict=True) if found else ((), ())
        nothing = np.zeros(0, np.int64)
        return np.concatenate([nothing, *left]), np.concatenate([nothing, *right])

    def _pairs(self, rows: IntArray, low: int) -> tuple[IntArray, IntArray]:
        open_ones = np.ones((len(rows), self.groups), bool)
        for one, other in zip(self.first, self.second, strict=True):
            open_ones &= _along(one, other, rows)
        left, right = np.nonzero(open_ones)
        return left + low, right


def _along(one: Side, other: Side, rows: IntArray) -> BoolArray:
    """Whether groups have a value of an attribute, or its absence, in common."""
    mine, theirs = one.holds[one.kind[rows]], other.holds[other.kind]
    if not one.ordered:
        kinds = (one.holds.astype(np.float32) @ other.holds.astype(np.float32).T) > 0
        return np.asarray(kinds[one.kind[rows]][:, other.kind])
    crossing = (one.low[rows][:, None] <= other.high) & (one.high[rows][:, None] >= other.low)
    filled = mine[:, 1][:, None] & theirs[:, 1]
    return np.asarray((crossing & filled) | (mine[:, 0][:, None] & theirs[:, 0]))


def readable_values(labels: Sequence[Sequence[str | None]]) -> tuple[str, ...] | None:
    """The values that labels of two releases stand for; None where that cannot be told.

    Sets are published where there is no hierarchy. Without a set, or with escapes, a label may be a node of
    one, and may hold what another label holds.
    """
    found: set[str] = set()
    for texts in labels:
        plain = [text.removesuffix(" or null") for text in texts if text is not None]
        if any("\\" in text for text in plain) or not any(text.startswith("{") for text in plain):
            return None
        for text in plain:
            found.update(text[1:-1].split(", ") if text.startswith("{") else [text])
    return tuple(sorted(found))
