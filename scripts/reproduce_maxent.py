"""Re-measure the published experiments of Privacy-MaxEnt [MaxEnt, Sec 7]: tables, JSON and figures.

    python scripts/reproduce_maxent.py [--only accuracy attributes time solvers] [--quick] [--limit 300]

accuracy    estimation accuracy against K: positive rules, negative rules, half and half  (Figure 5)
attributes  the same by the number T of attributes in a rule                              (Figure 6)
time        seconds and Newton steps against K, and against the number of buckets         (Figure 7)
solvers     our solver against one flat L-BFGS on the whole dual

What is not measured again is kept from the JSON file that is there. The Adult table is read from $PPDP_ADULT,
else from ../shared/data/adult.csv beside the repository; how it is put in buckets: adult_buckets.py.
Times need the extra `bench`; `--only` with nothing after it writes page and figures again.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
from adult_buckets import BUCKETS, QUASI_IDENTIFIERS, AdultBuckets, read_buckets
from benchmarks.flat_dual import flat_dual
from maxent_page import draw, page
from reproduction import NO_FIGURES, ROOT, Record, adult_path, write_results

from ppdp_spark.core.maxent import maximum_entropy
from ppdp_spark.core.maxent.rules import Rule

ALL_SIZES = tuple(range(1, len(QUASI_IDENTIFIERS) + 1))
KNOWN = (0, 10, 25, 50, 100, 250, 500, 1000, 2000)
QUICK_KNOWN = (0, 10, 50, 500)
KNOWN_BY_SIZE = (50, 200, 500, 1000, 2000)
QUICK_KNOWN_BY_SIZE = (200, 500)
TIMED_RULES = (25, 50, 100, 200, 400, 800, 1600)
QUICK_TIMED_RULES = (25, 100)
TIMED_BUCKETS = (500, 1000, 2000, 4000, 8000)
QUICK_TIMED_BUCKETS = (250, 500)
FIXED_RULES = (100, 400)
QUICK_FIXED_RULES = (50,)
COMPARED_RULES = (200, 1000)
QUICK_COMPARED_RULES = (50,)
FLAT_TOLERANCE = 1e-4

Say = Callable[[str], None]


def kinds_of_rules(positive: Sequence[Rule], negative: Sequence[Rule], k: int) -> dict[str, list[Rule]]:
    """K rules of each kind: the strongest positive, the strongest negative, half and half."""
    mixed = [*positive[: (k + 1) // 2], *negative[: k // 2]]
    return {"positive": list(positive[:k]), "negative": list(negative[:k]), "mixed": mixed}


def accuracy(adult: AdultBuckets, known: Sequence[int], say: Say = print) -> list[Record]:
    """Figure 5: rules of all sizes; the distance from the truth falls as K grows."""
    positive, negative = adult.mined(ALL_SIZES, max(known))
    found = []
    for k in known:
        record: Record = {"K": k}
        for kind, rules in kinds_of_rules(positive, negative, k).items():
            say(f"accuracy: {k:,} rules, {kind}")
            record[kind] = adult.attacked(rules)[1].distance
        found.append(record)
    return found


def attributes(
    adult: AdultBuckets, known: Sequence[int], sizes: Iterable[int] = ALL_SIZES, say: Say = print
) -> list[Record]:
    """Figure 6: half and half, of rules with exactly T attributes."""
    found = []
    for size in sizes:
        say(f"attributes: T = {size}")
        positive, negative = adult.mined([size], (max(known) + 1) // 2)
        mixed = {k: kinds_of_rules(positive, negative, k)["mixed"] for k in known}
        distances = {f"K = {k:,}": adult.attacked(rules)[1].distance for k, rules in mixed.items()}
        found.append({"T": size, **distances, "rules": len(mixed[max(known)])})
    return found


def drawn_rules(adult: AdultBuckets, number: int, seed: int) -> list[Rule]:
    """Rules of one and two attributes at random, which leave the solver more to do than the strongest."""
    rules = adult.small_rules
    chosen = np.random.default_rng([seed, number]).choice(len(rules), number, replace=False)
    return [rules[i] for i in chosen]


def timed(adult: AdultBuckets, rules: Sequence[Rule]) -> Record:
    """CPU seconds of one solution on one thread, and what it took."""
    system = adult.system(rules)
    begun = time.process_time()
    solution = maximum_entropy(adult.named.buckets, system)
    return {
        "buckets": len(adult.named.buckets),
        "variables": adult.named.buckets.variables,
        "statements": len(rules),
        "seconds": time.process_time() - begun,
        "newton_steps": solution.iterations,
        "passes": solution.passes,
        "residual": solution.residual,
    }


def by_rules(adult: AdultBuckets, numbers: Sequence[int], seed: int, say: Say = print) -> list[Record]:
    """Figure 7a: the number of buckets fixed."""
    found = []
    for number in numbers:
        say(f"time: {number:,} statements on {len(adult.named.buckets):,} buckets")
        found.append(timed(adult, drawn_rules(adult, number, seed)))
    return found


def by_buckets(
    path: Path, sizes: Sequence[int], numbers: Sequence[int], seed: int, say: Say = print
) -> list[Record]:
    """Figures 7b and 7c: the same rules, each with its share in so many buckets."""
    smallest = read_buckets(path, min(sizes), seed)
    rules = {number: drawn_rules(smallest, number, seed) for number in numbers}
    found = []
    for size in sizes:
        adult = read_buckets(path, size, seed)
        for number in numbers:
            say(f"time: {size:,} buckets, {number:,} statements")
            found.append(timed(adult, translated(rules[number], smallest, adult)))
    return found


def translated(rules: Sequence[Rule], origin: AdultBuckets, target: AdultBuckets) -> list[Rule]:
    """The same rules in the codes of another set of rows."""

    def code(attribute: int, value: int) -> int:
        return int(np.searchsorted(target.levels[attribute], origin.levels[attribute][value]))

    return [
        Rule(
            rule.attributes,
            tuple(code(a, c) for a, c in zip(rule.attributes, rule.codes, strict=True)),
            target.values.index(origin.values[rule.value]),
            rule.positive,
            rule.holding,
            rule.people,
        )
        for rule in rules
    ]


def solvers(
    adult: AdultBuckets, numbers: Sequence[int], *, seed: int, limit: float, say: Say = print
) -> list[Record]:
    """Our solver to 1e-8 and flat L-BFGS to a ten-thousandth of a record, on the same statements."""
    found = []
    timed(adult, drawn_rules(adult, 5, seed))
    for number in numbers:
        rules = drawn_rules(adult, number, seed)
        say(f"solvers: {number:,} statements, ours")
        ours = timed(adult, rules)
        system = adult.system(rules)
        say(f"solvers: {number:,} statements, flat L-BFGS, {limit:.0f} s at most")
        flat = flat_dual(adult.named.buckets, system, tolerance=FLAT_TOLERANCE, seconds=limit)
        apart = np.abs(flat.x - maximum_entropy(adult.named.buckets, system).x)
        found.append(
            {
                "statements": number,
                "buckets": len(adult.named.buckets),
                "ours_seconds": ours["seconds"],
                "newton_steps": ours["newton_steps"],
                "ours_residual": ours["residual"],
                "flat_seconds": flat.seconds,
                "flat_iterations": flat.iterations,
                "flat_residual": flat.residual,
                "flat_converged": flat.converged,
                "ratio": flat.seconds / ours["seconds"],
                "largest_difference": float(apart.max()),
            }
        )
    return found


def measure(path: Path, chosen: Sequence[str], *, quick: bool, seed: int, limit: float, say: Say) -> Record:
    """The experiments asked for."""
    adult = read_buckets(path, BUCKETS // 8 if quick else BUCKETS, seed)
    results: Record = {}
    if "accuracy" in chosen:
        results["accuracy"] = accuracy(adult, QUICK_KNOWN if quick else KNOWN, say)
    if "attributes" in chosen:
        known = QUICK_KNOWN_BY_SIZE if quick else KNOWN_BY_SIZE
        results["attributes"] = attributes(adult, known, say=say)
    if "time" in chosen:
        timed(adult, drawn_rules(adult, 5, seed))
        numbers = QUICK_TIMED_RULES if quick else TIMED_RULES
        results["time_by_rules"] = by_rules(adult, numbers, seed, say)
        sizes, fixed = (QUICK_TIMED_BUCKETS, QUICK_FIXED_RULES) if quick else (TIMED_BUCKETS, FIXED_RULES)
        results["time_by_buckets"] = by_buckets(path, sizes, fixed, seed, say)
    if "solvers" in chosen:
        compared = QUICK_COMPARED_RULES if quick else COMPARED_RULES
        results["solvers"] = solvers(adult, compared, seed=seed, limit=limit, say=say)
    return results


def main() -> None:
    experiments = ("accuracy", "attributes", "time", "solvers")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", nargs="*", choices=experiments, default=experiments)
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "maxent")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help="an eighth of the buckets and few points")
    parser.add_argument(
        "--limit", type=float, default=300, metavar="SECONDS", help="for flat L-BFGS; default: 300"
    )
    given = parser.parse_args()
    path = adult_path()
    if not path.is_file():
        parser.exit(3, f"no Adult table at {path}: set PPDP_ADULT\n")

    def say(line: str) -> None:
        print(line, file=sys.stderr, flush=True)

    before = given.out / "maxent.json"
    results = json.loads(before.read_text()) if before.is_file() else {}
    if given.only:
        results |= {"seed": given.seed, "quick": given.quick}
    if {"time", "solvers"} & set(given.only):
        from benchmarks.machine import machine

        results |= {"machine": machine(), "load_before": round(os.getloadavg()[0], 2)}
    results |= measure(path, given.only, quick=given.quick, seed=given.seed, limit=given.limit, say=say)
    write_results(given.out, "maxent", results, page(results))
    if not draw(results, given.out):
        print(NO_FIGURES)


if __name__ == "__main__":
    main()
