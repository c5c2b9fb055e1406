"""r-robust releases: exact posteriors of everybody, in the joint model with learned priors."""

from __future__ import annotations

import random
from fractions import Fraction

import pyarrow as pa
import pytest

from ppdp_spark import ReleaseSpec, anonymize
from ppdp_spark.errors import BudgetError, InfeasibleError
from support.oracle.beliefs import learned, naive_posterior, worst_posterior
from support.oracle.reading import read_release

SEEDS = range(6)


def test_sums_agree_with_brute_force():
    rng = random.Random("beliefs")
    for _ in range(60):
        people = rng.randint(2, 5)
        values = [rng.choice("xyz") for _ in range(people)]
        signatures = [rng.choice("fm") for _ in range(people)]
        told = learned([*signatures, *"fm" * 3], [*values, *"xxyyzz"])
        priors = [told[signature] for signature in signatures]
        assert worst_posterior(values, priors) == naive_posterior(values, priors)


def test_the_paper_s_example_is_beyond_its_bound():
    few, many = Fraction(5263, 100_000), Fraction(1, 10)
    first, other = {"x": many, "y": few, "z": few}, {"x": few, "y": many, "z": many}
    assert abs(float(worst_posterior("xyz", [first, other, other])) - 0.6435) < 1e-4


def robust_trial(seed: int) -> tuple[dict[str, list], float]:
    rng = random.Random(f"robust {seed}")
    size = rng.randint(8, 14)
    table: dict[str, list] = {
        "q0": [rng.choice("fm") for _ in range(size)],
        "q1": [rng.randint(0, 9) for _ in range(size)],
        "s": [rng.choice(["HIV", "flu", "cold", "TB", "gout"]) for _ in range(size)],
    }
    return table, rng.choice([1.25, 1.5, 2])


@pytest.fixture(scope="module")
def outcomes() -> list[str]:
    return []


@pytest.mark.parametrize(
    "seed", [*SEEDS[:4], *(pytest.param(seed, marks=pytest.mark.slow) for seed in SEEDS[4:])]
)
def test_nobody_is_believed_more_than_promised(spark, tmp_path, outcomes, seed):
    table, r = robust_trial(seed)
    qis = {"q0": {"type": "categorical"}, "q1": {"type": "numeric"}}
    robust = {"r": r, "model": "joint", "priors": [{"attributes": ["q0"]}]}
    document = {
        "version": 1,
        "dataset": "beliefs",
        "input": {"path": "unused.csv"},
        "columns": {"quasi_identifiers": qis, "sensitive": {"column": "s", "case": "svpi"}},
        "privacy": {"robustness": robust},
        "partitioner": ["mondrian", "art"][seed % 2],
        "suppression": {"budget": 1.0},
        "output": {"path": str(tmp_path / "out"), "form": "bucketized", "queries": 0},
    }
    try:
        run = anonymize(ReleaseSpec.parse(document), table=spark.createDataFrame(pa.table(table)))
    except (InfeasibleError, BudgetError):
        outcomes.append("refused")
        return
    outcomes.append("passed")
    told = learned(table["q0"], table["s"])
    worst = Fraction(0)
    for group in read_release(tmp_path / "out", document):
        values = [value for value, number in group.occurrences.items() for _ in range(number)]
        priors = [told[said[0].value] for said in group.people]
        worst = max(worst, worst_posterior(values, priors))
    assert worst <= 1 / Fraction(str(r))
    stated = [row.value for row in run.verdict.rows if row.criterion == "robustness"]
    assert len(stated) == 1 and float(worst) <= stated[0] + 1e-9


def test_a_third_of_them_had_a_release(outcomes):
    assert not outcomes or 3 * outcomes.count("passed") >= len(outcomes), outcomes
