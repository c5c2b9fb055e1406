"""Re-measure the published experiments of the privacy skyline [Skyline, Sec 7]: tables, JSON and figures.

    python scripts/reproduce_skyline.py [--quick | --keep-times] [--runs 5] [--seed 0] [--out FOLDER]

Section 7.1: SkylineCheck against dynamic programming, which spreads the k known people and the m people
of the family over all groups without knowing that the worst case congregates them. Both are
compiled, both run on one core, both must give the same answer; CPU time decides. Section 7.3: an
ℓ-diverse release of Adult, and how few known people break it. The Adult table is read from $PPDP_ADULT,
else from ../shared/data/adult.csv beside the repository: both parts, rows without missing values.
Section 7.2 is measured by `scripts/bench skyline-scale`, and its file becomes a part of the page. Section 5.2
mentions a simulation of unions with several values per person, and Section 4.4 a comparison with basic
implications: both are made here. `--keep-times` leaves the CPU times of Section 7.1 that are on file as they
are, for a machine that is busy.
"""

from __future__ import annotations

import argparse
import csv
import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.dynamic_programming import dynamic_ratio
from reproduction import NO_FIGURES, ROOT, adult_path, pyplot, save, table, write_results
from skyline_studies import compare_languages, language_text, scale_text, simulate, union_text

from ppdp_spark.core.criteria import RecursiveDiversity
from ppdp_spark.core.criteria.skyline import LocalSkyline, Point, SkylineCriterion, Target, breach_probability
from ppdp_spark.core.data.coded_people import Axis, Sensitive
from ppdp_spark.core.data.groups import FloatArray, GroupSummaries, IntArray
from ppdp_spark.core.explorer.knowledge_skyline import Bounds, KnowledgeSkyline, explore, signatures
from ppdp_spark.core.partition.mondrian import partition

PEOPLE_A_GROUP, VALUES = 100, 20
USUAL = (10, 10, 10)
SWEPT_GROUPS = 10_000
SIZES = tuple(range(10_000, 50_001, 10_000))
SWEEPS = {"l": range(0, 17, 2), "k": range(0, 33, 4), "m": range(0, 17, 2)}
QUICK_GROUPS = 1_000
QUICK_SWEEPS = {"l": (0, 10), "k": (0, 10), "m": (0, 10)}
PARTITIONINGS, QUICK_PARTITIONINGS = 5_000_000, 100_000
SCALED = ROOT / "benchmarks" / "skyline-scale.json"
CHECKED_VALUES = (1, 5, 10, VALUES)
AGREEMENT = 1e-9

Amount = tuple[int, int, int]

SENSITIVE, EXPLORED = "occupation", "Exec-managerial"
QUASI_IDENTIFIERS = {
    "seven": ("age", "workclass", "education", "marital-status", "race", "sex", "native-country"),
    "four": ("age", "marital-status", "race", "sex"),
}
DIVERSITY = RecursiveDiversity(3, 6)
RELEASED, CONFIDENCE = Point(4, 0, 0, 0.75), 0.95


def uniform_release(groups: int, seed: int) -> GroupSummaries:
    """Groups of `PEOPLE_A_GROUP` people, each of whom has one of `VALUES` values at random."""
    counts = np.random.default_rng([seed, groups]).multinomial(
        PEOPLE_A_GROUP, np.full(VALUES, 1 / VALUES), size=groups
    )
    return GroupSummaries(np.full(groups, PEOPLE_A_GROUP), counts.astype(np.int64))


def checked_ratios(release: GroupSummaries, amount: Amount, values: int = 1) -> FloatArray:
    """NR of the first values by SkylineCheck: the whole criterion, from counts to witnesses."""
    targets = tuple(Target(value, str(value), Point(*amount, 1.0)) for value in range(values))
    criterion = SkylineCriterion("svpi", targets)
    rows = criterion.decide(criterion.summarise(release, np.arange(len(release))))
    return np.array([(row.witness or {}).get("negated_ratio", np.inf) for row in rows])


def programmed_ratios(release: GroupSummaries, amount: Amount, values: int = 1) -> FloatArray:
    """NR of the first values by dynamic programming, one value after another."""
    found = [dynamic_ratio(release.sizes, release.counts, value, *amount) for value in range(values)]
    return np.array(found)


def cpu_seconds(action: Callable[[], FloatArray], runs: int) -> tuple[float, FloatArray]:
    """Mean CPU time of a run, and its answer."""
    begun = time.process_time()
    for _ in range(runs):
        answer = action()
    return (time.process_time() - begun) / runs, answer


def compare(release: GroupSummaries, amount: Amount, runs: int, values: int = 1) -> dict[str, Any]:
    """One point of the published figure: both CPU times, their ratio, and the common answer."""
    slow, expected = cpu_seconds(lambda: programmed_ratios(release, amount, values), runs)
    fast, found = cpu_seconds(lambda: checked_ratios(release, amount, values), runs)
    if not np.allclose(found, expected, rtol=AGREEMENT, atol=0):
        raise AssertionError(f"{amount}: SkylineCheck says NR = {found}, dynamic programming {expected}")
    return {
        "groups": len(release),
        **dict(zip("lkm", amount, strict=True)),
        "values": values,
        "dp_seconds": slow,
        "check_seconds": fast,
        "improvement": slow / fast,
        "breach_probability": float(breach_probability(found).max()),
    }


def improvement(*, quick: bool, runs: int, seed: int) -> dict[str, list[dict[str, Any]]]:
    """Figure 7: by size at the usual knowledge, then along each axis at one size; and for more values."""
    sizes, release = SIZES, uniform_release(SWEPT_GROUPS, seed)
    if quick:
        sizes, release = (QUICK_GROUPS,), uniform_release(QUICK_GROUPS, seed)
    compare(release.rows(slice(10)), USUAL, 1)
    found = {"groups": [compare(uniform_release(groups, seed), USUAL, runs) for groups in sizes]}
    for axis, amounts in (QUICK_SWEEPS if quick else SWEEPS).items():
        points = [{**dict(zip("lkm", USUAL, strict=True)), axis: amount} for amount in amounts]
        found[axis] = [compare(release, (x["l"], x["k"], x["m"]), runs) for x in points]
    found["values"] = [compare(release, USUAL, runs, values) for values in CHECKED_VALUES]
    return found


@dataclass(frozen=True)
class Adult:
    """Adult as codes from 1 in sorted order, numbers as numbers; sensitive codes from 0."""

    codes: IntArray
    axes: tuple[Axis, ...]
    sensitive: Sensitive
    labels: tuple[str, ...]


def read_adult(path: Path, names: Sequence[str]) -> Adult:
    """The quasi-identifiers `names` and occupation, rows with a missing value left out."""
    with path.open(newline="") as lines:
        rows = [row for row in csv.DictReader(lines, skipinitialspace=True) if "?" not in row.values()]
    codes, axes = [], []
    for name in names:
        column = np.array([row[name] for row in rows])
        if name == "age":
            ages = column.astype(np.int64)
            codes.append(ages - ages.min() + 1)
        else:
            codes.append(np.unique(column, return_inverse=True)[1] + 1)
        step = 1 / (codes[-1].max() - 1)
        axes.append(Axis(step, -step))
    labels, values = np.unique([row[SENSITIVE] for row in rows], return_inverse=True)
    sensitive = Sensitive.single(values, len(labels))
    return Adult(np.column_stack(codes), tuple(axes), sensitive, tuple(map(str, labels)))


def diverse_release(adult: Adult) -> GroupSummaries:
    """A release that is safe for every occupation at `RELEASED`, cut until no cut is allowed."""
    targets = tuple(Target(value, label, RELEASED) for value, label in enumerate(adult.labels))
    found = partition(adult.codes, adult.sensitive, adult.axes, [LocalSkyline("svpi", targets)])
    group = np.repeat(np.arange(len(found.starts) - 1), np.diff(found.starts))
    counts = np.zeros((len(found.starts) - 1, len(adult.labels)), dtype=np.int64)
    np.add.at(counts, (group, adult.sensitive.values[found.order]), 1)
    return GroupSummaries(np.diff(found.starts), counts)


def explored(release: GroupSummaries, labels: Sequence[str]) -> KnowledgeSkyline:
    """The knowledge skyline of `EXPLORED` at `CONFIDENCE`."""
    bounds = Bounds(max_l=len(labels) - 1)
    value = list(labels).index(EXPLORED)
    found = signatures(release, np.arange(len(release)), value, case="svpi", max_l=bounds.max_l)
    return explore(found, CONFIDENCE, bounds)


def case_study(path: Path, names: Sequence[str]) -> dict[str, Any]:
    """Section 7.3: how safe is an ℓ-diverse release of Adult?"""
    adult = read_adult(path, names)
    release = diverse_release(adult)
    skyline = explored(release, adult.labels)
    known = int(skyline.surface[0, 0])
    people = [b for p in skyline.points for b in p.breaches if (b.l, b.k, b.m) == (0, known + 1, 0)]
    return {
        "quasi_identifiers": list(names),
        "rows": int(release.sizes.sum()),
        "groups": len(release),
        "smallest": int(release.sizes.min()),
        "diverse": bool(DIVERSITY.allowed(release).all()),
        "maximal": [list(amount) for amount in skyline.amounts],
        "known_people_that_break_it": known + 1,
        "confidence_then": max((b.probability for b in people), default=None),
        "group": {"people": people[0].group_people, "occurrences": people[0].group_occurrences}
        if people
        else None,
    }


def improvement_text(figures: dict[str, list[dict[str, Any]]], runs: int, seed: int) -> Iterable[str]:
    """What was measured of both programs, in words."""
    swept = figures["k"][0]["groups"]
    yield (
        f"Groups of {PEOPLE_A_GROUP} people, each with one of {VALUES} values at random (seed {seed}), one "
        f"value per person. CPU seconds, mean of {runs} runs; `improvement` is dynamic programming over "
        f"SkylineCheck. Both answers agree to {AGREEMENT:g} in every row. The sweeps are over "
        f"{swept:,} groups. "
        "The published ratios (about 140 at (10, 10, 10), about 1,000 at k = 32) are of other programs on "
        "another machine; here both are compiled, and the trends are the published ones, the ratios lower.\n"
    )
    titles = {
        "groups": "By size, (ℓ, k, m) = (10, 10, 10)",
        "l": "By ℓ",
        "k": "By k",
        "m": "By m",
        "values": "By values checked at once (not in the paper): one scan, or one dynamic program each",
    }
    for name, records in figures.items():
        yield f"### {titles[name]}\n\n{table(records)}"


def case_text(study: dict[str, Any]) -> str:
    """What was found in one release of Adult, in words."""
    points = ", ".join(str(tuple(amount)) for amount in study["maximal"])
    broken = study["known_people_that_break_it"]
    where = study["group"]
    lines = [
        f"### Quasi-identifiers {', '.join(study['quasi_identifiers'])}\n",
        f"{study['rows']:,} rows in {study['groups']:,} groups, the smallest of {study['smallest']} people; "
        f"safe at {RELEASED} below {RELEASED.c:.0%} for every {SENSITIVE}, which is (3, 6)-diversity"
        f" ({'confirmed' if study['diverse'] else 'NOT confirmed'}).\n",
        f"{EXPLORED} at {CONFIDENCE:.0%}, maximal safe (ℓ, k, m): {points}.\n",
        f"**{broken} known people break it**",
    ]
    if where:
        lines[-1] += (
            f": confidence {study['confidence_then']:.3g} in a group of {where['people']} people with "
            f"{where['occurrences']} {EXPLORED}"
        )
    lines[-1] += (
        f". Published: the point (0, 4, 0), five people{_also(study, (0, 4, 0))}, and the point (2, 1, 3)"
        f"{_also(study, (2, 1, 3))}.\n"
    )
    return "\n".join(lines)


def _also(study: dict[str, Any], point: tuple[int, int, int]) -> str:
    """Whether a published point is found here."""
    return " (here, too)" if list(point) in study["maximal"] else " (not here)"


def markdown(results: dict[str, Any]) -> str:
    parts = ["# Privacy skyline: the published experiments, measured again\n"]
    parts += ["## SkylineCheck against dynamic programming\n"]
    parts += improvement_text(results["improvement"], results["runs"], results["seed"])
    parts += [scale_text(SCALED)]
    parts += ["## Adult: an ℓ-diverse release, explored\n"] if results["adult"] else []
    parts += [case_text(study) for study in results["adult"].values()]
    parts += [language_text(results["languages"])] if results["languages"] else []
    parts += [union_text(results["unions"])]
    return "\n".join(parts)


def draw(figures: dict[str, list[dict[str, Any]]], folder: Path) -> bool:
    """The improvement ratios as PNG, where matplotlib is installed."""
    plt = pyplot()
    if plt is None:
        return False
    figure, axes = plt.subplots(1, len(figures), figsize=(4 * len(figures), 3.2))
    for axis, (name, records) in zip(axes, figures.items(), strict=True):
        axis.plot([r[name] for r in records], [r["improvement"] for r in records], marker="o")
        axis.set(xlabel=name, ylabel="improvement ratio", ylim=(0, None))
    figure.tight_layout()
    save(figure, folder / "improvement.png")
    return True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "skyline")
    parser.add_argument("--runs", type=int, default=5, help="runs to average CPU times over; default: 5")
    parser.add_argument("--seed", type=int, default=0)
    speed = parser.add_mutually_exclusive_group()
    speed.add_argument("--quick", action="store_true", help="one small size and few points")
    speed.add_argument("--keep-times", action="store_true", help="the CPU times that are on file")
    given = parser.parse_args()
    path = adult_path()
    adult = (
        {name: read_adult(path, names) for name, names in QUASI_IDENTIFIERS.items()} if path.is_file() else {}
    )
    if given.keep_times:
        kept = json.loads((given.out / "skyline.json").read_text())
        times = {name: kept[name] for name in ("seed", "runs", "improvement")}
    else:
        figures = improvement(quick=given.quick, runs=given.runs, seed=given.seed)
        times = {"seed": given.seed, "runs": given.runs, "improvement": figures}
    figures = times["improvement"]
    results = times | {
        "adult": {name: case_study(path, names) for name, names in QUASI_IDENTIFIERS.items() if adult},
        "languages": {name: compare_languages(diverse_release(table)) for name, table in adult.items()},
        "unions": simulate(QUICK_PARTITIONINGS if given.quick else PARTITIONINGS, given.seed),
    }
    write_results(given.out, "skyline", results, markdown(results))
    if not draw(figures, given.out):
        print(NO_FIGURES)
    if not adult:
        print(f"no Adult table at {path}: set PPDP_ADULT")


if __name__ == "__main__":
    main()
