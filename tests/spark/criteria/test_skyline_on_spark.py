"""SkylineAnonymize, check and explore on Spark, judged by exact fractions over the published files."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ppdp_spark import ReleaseSpec, anonymize, check, explore, verify
from ppdp_spark.errors import InfeasibleError

JOBS = ["cook", "nurse", "smith", "tailor", "clerk", "pilot"]


def people(rows: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(0, 40, rows),
            "height": rng.integers(150, 200, rows),
            "city": rng.choice(list("abcd"), rows),
            "job": rng.choice(JOBS, rows, p=[0.25, 0.2, 0.2, 0.15, 0.1, 0.1]),
        }
    )


def spec_for(folder: Path, points, **changes) -> ReleaseSpec:
    plain = {
        "version": 1,
        "dataset": "people",
        "input": {"path": "unused.parquet"},
        "columns": {"quasi_identifiers": {"age": {}, "height": {}, "city": {}}, "sensitive": "job"},
        "privacy": {"skyline": {"default": points}},
        "output": {"path": str(folder / "out"), "bounds": "tight"},
    }
    return ReleaseSpec.parse(
        plain, overrides=[f"{key}={json.dumps(value)}" for key, value in changes.items()]
    )


def statistics(counts: dict[str, int], sigma: str, l: int, k: int, m: int) -> list[Fraction | None]:
    """minNR, T(ℓ,0), T(ℓ,k), V(m,0), V(m,k) of a group in SVPI; None stands for neutral."""
    n, own = sum(counts.values()), counts.get(sigma, 0)
    if not own:
        return [None] * 5
    top = sum(sorted((c for v, c in counts.items() if v != sigma), reverse=True)[:l])

    def t(known):
        return Fraction(max(0, n - own - top - known), own)

    def v(known):
        value = Fraction(1)
        for i in range(m):
            over, under = n - own - known - i, n - known - i
            if over <= 0 or under <= 0:
                return Fraction(0)
            value *= Fraction(over, under)
        return value

    fits = k + m + 1 <= n
    return [t(k) * v(k + 1) if fits else Fraction(0), t(0), t(k), v(0), v(k)]


def merged(*rows):
    return [min((x for x in column if x is not None), default=None) for column in zip(*rows, strict=True)]


def is_safe(stats, c: Fraction) -> bool:
    if stats[0] is None:
        return True
    ratio = min(stats[0], stats[1] * stats[4], stats[2] * stats[3])
    return 1 / (ratio + 1) < c


def targets_of(points):
    return [(job, p["l"], p["k"], p["m"], Fraction(str(p["c"]))) for job in JOBS for p in points]


def counts_of(jobs) -> dict[str, int]:
    return {str(job): int(count) for job, count in pd.Series(list(jobs)).value_counts().items()}


def release_statistics(groups, points):
    return {target: merged(*(statistics(g, *target[:4]) for g in groups)) for target in targets_of(points)}


def median_sides(group: pd.DataFrame, name: str):
    values = sorted(group[name])
    median = values[(len(values) - 1) // 2]
    below, upto = sum(v < median for v in values), sum(v <= median for v in values)
    n = len(values)
    sides = [(min(s, n - s), w) for s, w in ((upto, 1), (below, 0)) if 0 < s < n]
    if not sides:
        return None
    left = group[name] <= median if max(sides)[1] else group[name] < median
    return counts_of(group.job[left]), counts_of(group.job[~left])


POINTS = {
    "m = 0": [{"l": 2, "k": 3, "m": 0, "c": 0.6}],
    "m = 2": [{"l": 1, "k": 2, "m": 2, "c": 0.75}],
    "two points": [{"l": 0, "k": 5, "m": 1, "c": 0.6}, {"l": 1, "k": 0, "m": 3, "c": 0.8}],
}


@pytest.mark.parametrize("name", ["m = 0", pytest.param("m = 2", marks=pytest.mark.slow), "two points"])
def test_safe_and_minimal(spark, tmp_path, monkeypatch, name):
    """Exact fractions over the files find the release safe, and no median cut of a group safe."""
    monkeypatch.setattr("ppdp_spark.spark.partition.fragments.FRAGMENT_ROWS", 400)
    points = POINTS[name]
    table = people(1000, seed=len(name))
    run = anonymize(spec_for(tmp_path, points), table=spark.createDataFrame(table))
    assert run.ok and verify(str(tmp_path / "out"), spark=spark).ok
    out = pd.read_parquet(tmp_path / "out/release/data")
    groups = [counts_of(g.job) for _, g in out.groupby("group_id")]
    assert len(groups) > 5
    found = release_statistics(groups, points)
    assert all(is_safe(found[target], target[-1]) for target in found)
    for _, group in out.groupby("group_id"):
        first = group.iloc[0]
        cities = first.city.strip("{}").split(", ")
        members = table[
            table.age.between(first.age_min, first.age_max)
            & table.height.between(first.height_min, first.height_max)
            & table.city.isin(cities)
        ]
        assert sorted(members.job) == sorted(group.job)
        for attribute in ("age", "height", "city"):
            sides = median_sides(members, attribute)
            if sides is None:
                continue
            still = all(
                is_safe(merged(found[t], *(statistics(side, *t[:4]) for side in sides)), t[-1]) for t in found
            )
            assert not still, f"group {first.group_id} could still be cut by {attribute}"


def test_same_release_whatever_the_partitioning(spark, tmp_path, monkeypatch):
    monkeypatch.setattr("ppdp_spark.spark.partition.fragments.FRAGMENT_ROWS", 300)
    table = spark.createDataFrame(people(900))
    contents = []
    for parts in (1, 5):
        folder = tmp_path / str(parts)
        changes = {"privacy.k_anonymity": 4}
        anonymize(spec_for(folder, POINTS["m = 2"], **changes), table=table.repartition(parts))
        contents.append((folder / "out/release/release.json").read_bytes())
    assert contents[0] == contents[1]


@pytest.mark.parametrize("case", ["mvpi-set", pytest.param("mvpi-multiset", marks=pytest.mark.slow)])
def test_sets_and_multisets_are_safe(spark, tmp_path, case):
    rng = np.random.default_rng(9)
    rows = [
        (int(a), [str(x) for x in rng.choice(JOBS, rng.integers(0, 4))]) for a in rng.integers(0, 60, 600)
    ]
    columns = {"quasi_identifiers": {"age": {}}, "sensitive": {"column": "jobs", "case": case}}
    points = [{"l": 1, "k": 2, "m": 1, "c": 0.8}]
    spec = spec_for(tmp_path, points, columns=columns)
    run = anonymize(spec, table=spark.createDataFrame(rows, "age int, jobs array<string>"))
    again = verify(str(tmp_path / "out"), spark=spark)
    assert run.ok and again.ok and run.summary["release"]["groups"] > 3
    values = {row.level: row.value for row in again.verdict.rows if row.criterion == "skyline"}
    assert len(values) == len(JOBS) and all(0 < v < 0.8 for v in values.values())


def test_unsafe_table_says_which_value_and_by_how_much(spark, tmp_path):
    table = spark.createDataFrame(people(60))
    points = [{"l": 4, "k": 10, "m": 5, "c": 0.3}]
    with pytest.raises(InfeasibleError, match=r"σ = cook, \(ℓ, k, m\) = \(4, 10, 5\)"):
        anonymize(spec_for(tmp_path, points), table=table)
    verdict = json.loads((tmp_path / "out/private/verdict.json").read_text())
    assert verdict["status"] == "fail" and any(row["status"] == "fail" for row in verdict["criteria"])


def test_check_agrees_with_fractions_on_any_grouping(spark, tmp_path):
    table = people(300)
    table["g"] = np.random.default_rng(1).integers(0, 12, 300)
    points = [{"l": 1, "k": 2, "m": 1, "c": 0.5}]
    spec = spec_for(tmp_path, points, **{"columns": {"group": "g", "sensitive": "job"}})
    run = check(spec, table=spark.createDataFrame(table).repartition(5))
    found = release_statistics([counts_of(g.job) for _, g in table.groupby("g")], points)
    rows = {row.level: row for row in run.verdict.rows if row.criterion == "skyline"}
    for (job, *_, c), stats in found.items():
        row = next(r for level, r in rows.items() if f"σ = {job}," in level)
        ratio = min(stats[0], stats[1] * stats[4], stats[2] * stats[3])
        assert row.value == pytest.approx(float(1 / (ratio + 1)), abs=1e-12)
        assert row.ok == is_safe(stats, c)
    assert (tmp_path / "out/private/check/verdict.json").exists()


def test_explore_agrees_with_exhaustive_search(spark, tmp_path):
    table = people(200, seed=3)
    table["g"] = np.random.default_rng(2).integers(0, 6, 200)
    groups = [counts_of(g.job) for _, g in table.groupby("g")]
    changes = {
        "columns": {"group": "g", "sensitive": "job"},
        "explore": {"values": ["cook"], "confidence": [0.7], "max_l": 3, "max_m": 3},
    }
    run = explore(spec_for(tmp_path, POINTS["m = 2"], **changes), table=spark.createDataFrame(table))
    found = run.summary["knowledge"][0]

    def safe(l, k, m):
        return is_safe(merged(*(statistics(g, "cook", l, k, m) for g in groups)), Fraction("0.7"))

    for l, m in product(range(4), range(4)):
        largest = max((k for k in range(60) if safe(l, k, m)), default=-1)
        assert found["surface"][l][m] == largest
    assert {p["k"] for p in found["points"]} <= set(np.ravel(found["surface"]))
    page = (tmp_path / "out/private/explore/report.html").read_text()
    assert "cook" in page
