"""Suppression one record at a time, as the paper writes it."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

PAPER = [10, 4, 2, 1, 1]


def literal(counts, l, level=None, stop_level=None):
    """[Skewed, Fig 2 and 3] one record at a time, on a list of records."""
    rank = sorted(range(len(counts)), key=lambda v: (-counts[v], v))
    records = [value for value, count in enumerate(counts) for _ in range(count)]
    kept = Counter(records)
    if level is not None:
        while kept[rank[0]] > level:
            kept[rank[0]] -= 1

    def stopped():
        ordered = sorted((kept[v] for v in rank), reverse=True)
        if stop_level is not None:
            return ordered[0] == stop_level
        gone = len(records) - sum(ordered)
        eligible = Fraction(ordered[0]) <= Fraction(sum(ordered), l)
        return eligible and ordered[l - 1] + gone > Fraction(len(records), l)

    while not stopped():
        top = max(kept.values())
        lowest = max((v for v in rank if kept[v] == top), key=rank.index)
        kept[lowest] -= 1
    return [kept[v] for v in range(len(counts))]


def intervals(counts, l):
    ordered = [*sorted(counts, reverse=True), 0]
    return [(h, ordered[h], ordered[h - 1]) for h in range(1, l + 1)]
