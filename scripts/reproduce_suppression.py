"""Re-measure the published figures of randomized suppression [Skewed, Sec 6]: table, JSON and figures.

    python scripts/reproduce_suppression.py [--out benchmarks/suppression] [--seed 0]

The Adult table is read from $PPDP_ADULT, else from ../shared/data/adult.csv beside the repository: its train
part without missing values, attribute occupation. The paper averages 100 runs of R-suppression a
sample; here R is its exact expectation over STEP-1. A hundred samples leave a standard error of almost 5
points on the share that violates, so the long-run values are measured beside them.
"""

from __future__ import annotations

import argparse
import csv
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from reproduction import NO_FIGURES, ROOT, adult_path, pyplot, save, table, write_results

from ppdp_spark.core.suppression.r import expected_suppression, is_eligible, safe_d, unsafe_d

SAMPLES = 100
LONG_RUN_SAMPLES = 4000
SAMPLE_SHARES = (0.0025, 0.005, 0.01, 0.02, 0.04)
ADULT_L = (3, 4, 5, 6, 7)
ZIPF_ALPHAS = tuple(round(0.5 + 0.1 * step, 1) for step in range(11))
ZIPF_L = tuple(range(2, 11))
METHODS = ("r", "unsafe_d", "safe_d", "suppress_all")


@dataclass(frozen=True)
class Rates:
    """Average suppression of each method over all samples, and the share of them that violate."""

    violating: float
    r: float
    unsafe_d: float
    safe_d: float
    suppress_all: float


def occupation_counts(path: Path) -> list[int]:
    """Counts of occupation in the train part of Adult, rows with a missing value left out."""
    with path.open(newline="") as lines:
        rows = (row for row in csv.DictReader(lines, skipinitialspace=True) if row["part"] == "train")
        counts = Counter(row["occupation"] for row in rows if "?" not in row.values())
    return sorted(counts.values(), reverse=True)


def rates_of(counts: Sequence[int], l: int) -> Rates:
    """The suppression rates of one table."""
    if is_eligible(counts, l):
        return Rates(0, 0, 0, 0, 0)
    expected = float(expected_suppression(counts, l).value) / sum(counts)
    return Rates(1, expected, unsafe_d(counts, l).rate, safe_d(counts, l).rate, 1)


def mean_rates(tables: Iterable[Sequence[int]], l: int) -> Rates:
    """The rates of each method, averaged over tables."""
    rows = np.array([list(asdict(rates_of(table, l)).values()) for table in tables], dtype=float)
    return Rates(*rows.mean(axis=0).tolist())


def adult_samples(population: Sequence[int], share: float, samples: int, seed: int) -> list[list[int]]:
    """Counts of simple random samples without replacement; values that a sample misses are left out."""
    rng = np.random.default_rng([seed, round(share * 1e6)])
    size = round(share * sum(population))
    drawn = rng.multivariate_hypergeometric(population, size, size=samples)
    return [[int(count) for count in row if count] for row in drawn]


def zipf_counts(alpha: float, beta: int = 1000, values: int = 20) -> list[int]:
    """Counts that fall as a power of the rank: F_i = β / i^α, rounded."""
    return [round(beta / rank**alpha) for rank in range(1, values + 1)]


def measure(population: Sequence[int], seed: int) -> dict[str, list[dict[str, Any]]]:
    """Every figure of the paper as records."""
    adult, long_run = [], []
    for share in SAMPLE_SHARES:
        tables = adult_samples(population, share, SAMPLES, seed)
        adult += [{"p": share, "l": d, **asdict(mean_rates(tables, d))} for d in ADULT_L]
        many = adult_samples(population, share, LONG_RUN_SAMPLES, seed + 1)
        long_run.append({"p": share, "l": 6, **asdict(mean_rates(many, 6))})
    by_alpha = [{"alpha": a, "l": 5, **asdict(rates_of(zipf_counts(a), 5))} for a in ZIPF_ALPHAS]
    by_l = [{"alpha": 1.0, "l": d, **asdict(rates_of(zipf_counts(1.0), d))} for d in ZIPF_L]
    return {"adult": adult, "adult_long_run": long_run, "zipf_by_alpha": by_alpha, "zipf_by_l": by_l}


def markdown(figures: dict[str, list[dict[str, Any]]], seed: int) -> str:
    titles = {
        "adult": f"Adult occupation: {SAMPLES} samples a row (seed {seed}), rates averaged over all samples",
        "adult_long_run": f"Adult occupation, l = 6: {LONG_RUN_SAMPLES} samples a row",
        "zipf_by_alpha": "Zipf, 20 values, F_i = 1000 / i^α, l = 5",
        "zipf_by_l": "Zipf, 20 values, F_i = 1000 / i",
    }
    parts = ["# Suppression: the published figures, measured again\n"]
    for name, records in figures.items():
        parts.append(f"\n## {titles[name]}\n\n{table(records)}")
    return "\n".join(parts)


def draw(figures: dict[str, list[dict[str, Any]]], folder: Path) -> bool:
    """Figures as PNG, where matplotlib is installed."""
    plt = pyplot()
    if plt is None:
        return False
    views = (
        ("adult_by_p", "p", [r for r in figures["adult"] if r["l"] == 6], METHODS),
        ("adult_by_l", "l", [r for r in figures["adult"] if r["p"] == 0.005], METHODS),
        ("adult_violating_by_l", "l", [r for r in figures["adult"] if r["p"] == 0.005], ("violating",)),
        ("zipf_by_alpha", "alpha", figures["zipf_by_alpha"], METHODS[:3]),
        ("zipf_by_l", "l", figures["zipf_by_l"], METHODS[:3]),
    )
    for name, axis, records, series in views:
        figure, axes = plt.subplots(figsize=(6, 4))
        for column in series:
            axes.plot(
                [r[axis] for r in records], [100 * r[column] for r in records], marker="o", label=column
            )
        axes.set(xlabel=axis, ylabel="%", title=name.replace("_", " "), ylim=(0, None))
        axes.legend()
        save(figure, folder / f"{name}.png")
    return True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "suppression")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    path = adult_path()
    if not path.is_file():
        parser.exit(3, f"no Adult table at {path}: set PPDP_ADULT\n")
    figures = measure(occupation_counts(path), arguments.seed)
    page = markdown(figures, arguments.seed)
    write_results(arguments.out, "suppression", {"seed": arguments.seed, **figures}, page)
    if not draw(figures, arguments.out):
        print(NO_FIGURES)


if __name__ == "__main__":
    main()
