"""Anchors: columns by which rows are brought together, so that tasks can count sets that contain them.

All people of a crowd have the same value of the anchor, so no crowd lies in two tasks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ppdp_spark.core.discovery.lattice import ColumnSet


@dataclass(frozen=True)
class Anchored:
    """Which sets are counted beside which anchor, and those that no column can be the anchor of."""

    by_anchor: dict[int, list[ColumnSet]]
    others: list[ColumnSet]


def anchored(sets: Sequence[ColumnSet], heaviest: Sequence[int], *, fragment: int, most: int) -> Anchored:
    """Few anchors for all sets, chosen greedily: each goes with the most sets that are left.

    where
        heaviest  how many people the most frequent value of each column has: they are in one task
        fragment  people of a task as it should be; anchors with more are chosen late
        most      people of a task at the most
    """
    fit = [place for place, people in enumerate(heaviest) if people <= most]
    left, by_anchor = sorted(sets), dict[int, list[ColumnSet]]()
    while left:
        held = dict.fromkeys(fit, 0)
        for columns in left:
            for place in columns:
                if place in held:
                    held[place] += 1
        scores = {place: held[place] * min(1.0, fragment / heaviest[place]) for place in fit}
        best = max(fit, key=lambda place: (scores[place], -place), default=None)
        if best is None or not held[best]:
            break
        by_anchor[best] = [columns for columns in left if best in columns]
        left = [columns for columns in left if best not in columns]
    return Anchored(by_anchor, left)
