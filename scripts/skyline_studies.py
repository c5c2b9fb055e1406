"""Two studies the skyline paper mentions: unions of groups with several values, and basic implications."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from benchmarks.basic_implications import basic_confidences
from reproduction import Record, table

from ppdp_spark.core.criteria.skyline import Point, SkylineCriterion, Target, breach_probability
from ppdp_spark.core.criteria.skyline.points import Case
from ppdp_spark.core.data.groups import BoolArray, FloatArray, GroupSummaries

CASES: tuple[Case, ...] = ("mvpi-set", "mvpi-multiset")
DRAWN_VALUES, LARGEST, MOST_KNOWN = 5, 40, 4
LESS = 1e-9
"""How much smaller, relatively, a statistic of the union counts as smaller."""

IMPLICATIONS = 6


def drawn_halves(rng: np.random.Generator, case: Case, number: int) -> tuple[GroupSummaries, GroupSummaries]:
    """The two sides of so many partitionings: sizes, values and how frequent they are, at random."""
    sides = []
    frequent = rng.random((number, DRAWN_VALUES)) ** 2
    for _ in range(2):
        sizes = rng.integers(1, LARGEST + 1, number)
        apart = np.clip(frequent * rng.uniform(0.2, 5, (number, DRAWN_VALUES)), 0, 1)
        counts = rng.binomial(sizes[:, None] * (1 if case == "mvpi-set" else 2), apart)
        sides.append(GroupSummaries(sizes, counts.astype(np.int64)))
    return sides[0], sides[1]


def lost_by_union(case: Case, point: Point, one: GroupSummaries, other: GroupSummaries) -> BoolArray:
    """Whether a union is less safe than its two sides by some inequality of [Skyline, Thm 4]."""
    criterion = SkylineCriterion(case, (Target(0, "σ", point),))
    union = GroupSummaries(one.sizes + other.sizes, one.counts + other.counts)
    first, second, both = (criterion.statistics(groups)[:, 0] for groups in (one, other, union))
    least = np.minimum(first, second)
    crossed = np.minimum(least[:, 1] * least[:, 4], least[:, 2] * least[:, 3])
    limits = np.column_stack([np.minimum(least[:, 0], crossed), least[:, 1:]])
    finite = np.isfinite(limits)
    return np.asarray((finite & (both < limits - LESS * np.where(finite, limits, 0.0))).any(axis=1))


def simulate(number: int, seed: int) -> list[Record]:
    """Random partitionings of a group into two, by case, and how many of them contradict the theorem."""
    rng, found = np.random.default_rng([seed, 4]), []
    for case in CASES:
        drawn = lost = 0
        while drawn < number:
            size = min(100_000, number - drawn)
            l, k, m = (int(x) for x in rng.integers(0, MOST_KNOWN + 1, 3))
            lost += int(lost_by_union(case, Point(l, k, m, 0.5), *drawn_halves(rng, case, size)).sum())
            drawn += size
        found.append(
            {"case": case, "partitionings": drawn, "counterexamples": lost, "per million": 1e6 * lost / drawn}
        )
    return found


def largest_breach(release: GroupSummaries, amount: tuple[int, int, int]) -> float:
    """The breach probability of the worst value under one point."""
    values = np.flatnonzero(release.counts.sum(axis=0))
    targets = tuple(Target(int(value), str(value), Point(*amount, 1.0)) for value in values)
    criterion = SkylineCriterion("svpi", targets)
    least: FloatArray = criterion.statistics(release).min(axis=0)
    ratios = np.minimum(least[:, 0], np.minimum(least[:, 1] * least[:, 4], least[:, 2] * least[:, 3]))
    return float(breach_probability(ratios).max())


def compare_languages(release: GroupSummaries) -> list[Record]:
    """How sure k pieces of knowledge make somebody: basic implications, and each kind of ours."""
    confidences = basic_confidences(release, IMPLICATIONS)
    return [
        {
            "k": k,
            "k implications": float(confidences[k]),
            "(k, 0, 0)": largest_breach(release, (k, 0, 0)),
            "(0, 0, k)": largest_breach(release, (0, 0, k)),
            "(0, k, 0)": largest_breach(release, (0, k, 0)),
        }
        for k in range(IMPLICATIONS + 1)
    ]


def union_text(records: Sequence[Record]) -> str:
    """What was found of unions, in words."""
    return (
        "## Unions of groups with several values\n\n"
        "With one value per person a union of groups is never less safe than they are [Skyline, Thm 4]; with "
        "sets and multisets it may be, so that releases are safe and need not be minimal. The paper prints "
        "100 counterexamples in 7,778,625,148 random partitionings, and not how these were drawn. Here a "
        f"group is split in two; each side has 1 to {LARGEST} people, each of {DRAWN_VALUES} values has a "
        "frequency of its own that differs between the sides by a factor of up to 25, and ℓ, k and m are 0 "
        f"to {MOST_KNOWN}. A counterexample breaks any of the inequalities for T, V or NR. They are much "
        "more frequent here: sides are drawn unlike each other, and where one side has none of the target's "
        "value and many of the ℓ others, the union has a smaller T. So how near to minimal such releases "
        "are depends on how unlike the sides of cuts are.\n\n"
        f"{table(records)}"
    )


def language_text(studies: dict[str, list[Record]]) -> str:
    """What was found of basic implications, in words."""
    parts = [
        "## Basic implications and the three kinds of knowledge\n\n"
        "L_basic(k) counts any k implications “if these people have these values, one of those has that” "
        "[Skyline, Sec 3]; the paper says that neither language is more general, prints no figure, and "
        "leaves the comparison to a technical report. Here the confidence of the worst knowledge, over "
        "all occupations, in the (3, 6)-diverse releases of Adult above.\n\n"
        "Values that the target does not have, and people whose value tells the target's, are basic "
        "implications, so that the first column is never below the next two. The value of another person "
        "is none, but known people are never more dangerous than as many of the target's family: "
        "(n − #σ − 1 − i)/(n − 1 − i) is at most (n − #σ − 1 − i)/(n − #σ − i), factor by factor. In every "
        "release that was looked at, also for all three kinds together, ℓ + k + m implications make at "
        "least as sure as (ℓ, k, m). What the three numbers add is not strength but distinction: few "
        "implications break any release, and how many people, or which values, may be known is not told "
        "by their number.\n"
    ]
    for name, records in studies.items():
        parts.append(f"### {name.capitalize()} quasi-identifiers\n\n{table(records)}")
    return "\n".join(parts)


def scale_text(file: Path) -> str:
    """What is on file of the scale-up, and what is not."""
    records = (
        [] if not file.is_file() else [_scaled(one) for one in json.loads(file.read_text())["measurements"]]
    )
    sizes = sorted({record["rows"] for record in records})
    measured = " and ".join(f"{size:,}" for size in sizes) or "no"
    told = (
        "## Figure 8: SkylineAnonymize by size\n\n"
        "Records of 44 bytes with a sensitive value of 9, confidence 1, (0, 1000, 0) and (3, 1000, 10), as "
        "in the paper, which goes to 100 million records on one 2.4 GHz processor with 512 MB and finds "
        "time linear in size (the figure is a plot; no numbers are printed). Measured here: "
        f"{measured} records, whole runs of `ppdp anonymize` on Spark from reading to the verified release, "
        "against one of k-anonymity with k = 1,000. The paper times its algorithm alone; a run here also "
        "reads, writes and verifies, and the start of Spark weighs on small sizes. "
    )
    if 100_000_000 not in sizes:
        told += "**Not measured: 100 million records**; `make reproduce` measures them. "
    told += (
        "Every release passes its own verdict. The figures are those of `scripts/bench skyline-scale`, "
        "with the machine they were taken on in [benchmarks](../README.md#skyline-scale).\n\n"
    )
    return told + (table(records) if records else "")


def _scaled(one: Record) -> Record:
    parameters, runs = one["parameters"], one["runs"]
    return {
        "rows": parameters["rows"],
        "(ℓ, k, m)": str(tuple(parameters[name] for name in "lkm")),
        "k-anonymity s": runs["k-anonymity"]["seconds"],
        "skyline s": runs["skyline"]["seconds"],
        "records/s": runs["skyline"]["rows_per_second"],
        "measured": one["measured"][:10],
    }
