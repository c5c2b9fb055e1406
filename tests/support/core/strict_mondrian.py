"""Strict Mondrian of one attribute as a plain recursion, which shares no code with the program."""

from __future__ import annotations


def reachable(codes, ok):
    """Groups of a strict Mondrian of one attribute: the more even cut at the median, if both sides are ok."""
    done = []

    def visit(people):
        ordered = sorted(codes[p] for p in people)
        median, n = ordered[(len(ordered) - 1) // 2], len(ordered)
        below, upto = sum(c < median for c in ordered), sum(c <= median for c in ordered)
        cuts = [(min(size, n - size), which) for size, which in ((upto, 1), (below, 0)) if 0 < size < n]
        if cuts:
            which = max(cuts)[1]
            left = [p for p in people if codes[p] < median or (which and codes[p] == median)]
            right = [p for p in people if p not in set(left)]
            if ok(left) and ok(right):
                visit(left)
                visit(right)
                return
        done.append(sorted(people))

    visit(list(range(len(codes))))
    return sorted(done)
