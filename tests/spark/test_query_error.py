"""Query error on Spark against estimates that plain Python makes from the published files alone."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ppdp_spark import ReleaseSpec, anonymize
from ppdp_spark.core.data.boxes import Range
from ppdp_spark.core.utility import queries as core
from ppdp_spark.core.utility.relative_error import error_table

JOBS = ["cook", "nurse", "smith"]
CITIES = ["Aalen", "Bonn, Beuel", "Celle", "Ulm"]
EPOCH = dt.date(1970, 1, 1)


def people(rows: int) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    age = rng.integers(18, 60, rows).astype(object)
    age[rng.random(rows) < 0.1] = None
    city = rng.choice(CITIES, rows).astype(object)
    city[rng.random(rows) < 0.1] = None
    return pd.DataFrame(
        {
            "age": pd.array(age, dtype="Int64"),
            "city": city,
            "height": np.where(rng.random(rows) < 0.1, np.nan, rng.normal(170, 10, rows)),
            "born": [dt.date(1950, 1, 1) + dt.timedelta(days=int(d)) for d in rng.integers(0, 9000, rows)],
            "job": rng.choice(JOBS, rows),
        }
    )


def measured(spark, folder: Path, table: pd.DataFrame, **changes) -> dict:
    plain = {
        "version": 1,
        "dataset": "people",
        "input": {"path": "unused.parquet"},
        "columns": {"quasi_identifiers": {n: {} for n in table.columns if n != "job"}, "sensitive": "job"},
        "privacy": {"k_anonymity": 5},
        "output": {"path": str(folder / "out"), "queries": 60},
    }
    overrides = [f"{key}={json.dumps(value)}" for key, value in changes.items()]
    run = anonymize(ReleaseSpec.parse(plain, overrides=overrides), table=spark.createDataFrame(table))
    return run.summary["metrics"]["queries"]


def drawn(table: pd.DataFrame) -> tuple[core.Query, ...]:
    days = [(day - EPOCH).days for day in table.born]
    domains = [
        core.Domain(1, int(table.age.max() - table.age.min()) + 1),
        core.Domain(1, len(CITIES)),
        core.Domain(table.height.min(), table.height.max(), continuous=True),
        core.Domain(1, max(days) - min(days) + 1),
    ]
    return answered(core.draw_queries(domains, len(JOBS), 240), table)


def answered(queries: tuple[core.Query, ...], table: pd.DataFrame) -> tuple[core.Query, ...]:
    """The first five of each dimension and selectivity that somebody answers, in the order of drawing."""
    kept: list[core.Query] = []
    for query in queries:
        cell = (query.dimension, query.selectivity)
        taken = sum((each.dimension, each.selectivity) == cell for each in kept)
        if taken < 5 and truth(query, table):
            kept.append(query)
    return tuple(kept)


def truth(query: core.Query, table: pd.DataFrame) -> int:
    return sum(row["job"] == JOBS[query.value] and inside(row, query, table) for row in records(table))


def records(table: pd.DataFrame) -> list[dict]:
    return table.to_dict("records")


def place(name: str, value, table: pd.DataFrame):
    """Where a value lies on the line of its attribute; None for null."""
    if value is None or pd.isna(value):
        return None
    if name == "age":
        return int(value) - int(table.age.min()) + 1
    if name == "born":
        return (pd.Timestamp(value).date() - min(table.born)).days + 1
    return CITIES.index(value) + 1 if name == "city" else float(value)


def inside(row, query, table) -> bool:
    names = list(table.columns)
    found = ((place(names[r.attribute], row[names[r.attribute]], table), r) for r in query.ranges)
    return all(x is not None and r.low <= x <= r.high for x, r in found)


def chance(row, bounds: Range, table) -> float:
    """The share of a published description inside a range."""
    name = table.columns[bounds.attribute]
    if row[name] is None:
        return 0.0
    mixed = row[name].endswith(" or null")
    if name == "city":
        codes = [CITIES.index(c) + 1 for c in CITIES if c in row[name].replace("\\", "")]
        return sum(bounds.low <= c <= bounds.high for c in codes) / (len(codes) + mixed)
    low, high = (place(name, row[f"{name}_{end}"], table) for end in ("min", "max"))
    if name == "height":
        over = min(high, bounds.high) - max(low, bounds.low)
        return float(over >= 0) if low == high else min(1.0, max(0.0, over) / (high - low))
    codes = range(low, high + 1)
    return sum(bounds.low <= c <= bounds.high for c in codes) / (len(codes) + mixed)


def expected_table(table: pd.DataFrame, estimates: list[float]) -> list[dict]:
    queries = drawn(table)
    truths = [truth(query, table) for query in queries]
    errors = [abs(e - t) / max(t, 1.0) for e, t in zip(estimates, truths, strict=True)]
    return error_table(queries, np.array(errors))


def same(found: list[dict], expected: list[dict]) -> bool:
    """The same cells with the same figures, ends of intervals too."""
    return figures(found) == pytest.approx(figures(expected), abs=1e-8)


def figures(cells: list[dict]) -> np.ndarray:
    return np.array([np.hstack([cell[key] for key in sorted(cell)]) for cell in cells])


def test_generalized_estimates_are_those_of_a_reader(spark, tmp_path):
    table = people(100)
    found = measured(spark, tmp_path, table)
    out = pd.read_parquet(tmp_path / "out/release/data")
    estimates = [
        sum(
            np.prod([chance(row, r, table) for r in q.ranges])
            for row in records(out)
            if row["job"] == JOBS[q.value]
        )
        for q in drawn(table)
    ]
    assert found["number"] == len(drawn(table)) and found["floor"] == 1.0 and found["drawn"] == 240
    assert same(found["table"], expected_table(table, estimates))
    assert found["mean"] > 0


def test_bucketized_estimates_are_those_of_a_reader(spark, tmp_path):
    table = people(100)
    found = measured(spark, tmp_path, table, **{"output.form": "bucketized"})
    qi = pd.read_parquet(tmp_path / "out/release/data/qi")
    counted = pd.read_parquet(tmp_path / "out/release/data/sensitive")
    sizes = qi.groupby("group_id").size()
    share = {(row["group_id"], row["job"]): row["count"] / sizes[row["group_id"]] for row in records(counted)}
    estimates = [
        sum(share.get((row["group_id"], JOBS[q.value]), 0.0) for row in records(qi) if inside(row, q, table))
        for q in drawn(table)
    ]
    assert same(found["table"], expected_table(table, estimates))


@pytest.mark.parametrize("form", ["generalized", pytest.param("bucketized", marks=pytest.mark.slow)])
def test_people_who_are_all_alike_in_their_group_give_no_error(spark, tmp_path, form):
    """Two people a group, equal in everything: as exact as groups of one person."""
    table = people(60).drop_duplicates(["age", "city"]).dropna()
    rng = np.random.default_rng(7)
    table["moment"] = pd.to_datetime(rng.integers(0, 10**15, len(table)), unit="us")
    table["big"] = rng.integers(-(2**63), 2**63 - 1, len(table))
    twice = pd.concat([table, table], ignore_index=True)
    tree = tmp_path / "cities.csv"
    tree.write_text(
        "".join(f'"{city}";{"south" if city in ("Ulm", "Aalen") else "north"};*\n' for city in CITIES)
    )
    changes = {"privacy.k_anonymity": 2, "output.form": form}
    changes["columns.quasi_identifiers.city"] = {"type": "categorical", "hierarchy": str(tree)}
    changes |= {"output.bounds": "tight"} if form == "generalized" else {}
    found = measured(spark, tmp_path, twice, **changes)
    assert found["mean"] == 0 and all(cell["mean"] == 0 for cell in found["table"])


def test_sets_of_values_and_no_sensitive_column(spark, tmp_path):
    rng = np.random.default_rng(1)
    rows = [(int(a), [JOBS[int(j)] for j in set(rng.integers(0, 3, 2))]) for a in rng.integers(0, 9, 90)]
    table = spark.createDataFrame(rows, "age int, job array<string>")
    base = {
        "version": 1, "dataset": "sets", "input": {"path": "unused.parquet"}, "privacy": {"k_anonymity": 3},
        "columns": {"quasi_identifiers": {"age": {}}, "sensitive": {"column": "job", "case": "mvpi-set"}},
        "output": {"path": str(tmp_path / "sets"), "queries": 60},
    }  # fmt: skip
    for form in ("generalized", "bucketized"):
        changes = [f"output.form={form}", f"output.path={tmp_path / form}"]
        found = anonymize(ReleaseSpec.parse(base, overrides=changes), table=table).summary["metrics"]
        assert found["queries"]["number"] == 60 and found["queries"]["mean"] == 0
    base["columns"] = {"quasi_identifiers": {"age": {}}}
    found = anonymize(ReleaseSpec.parse(base), table=table).summary["metrics"]
    assert found["queries"]["mean"] == 0
    silent = anonymize(
        ReleaseSpec.parse(base, overrides=["output.queries=0", "output.overwrite=true"]), table=table
    )
    assert "queries" not in silent.summary["metrics"]


def weighed(rows: int) -> pd.DataFrame:
    """The same people with survey weights, each of which several have."""
    rng = np.random.default_rng(11)
    return people(rows).assign(w=rng.choice([0.7, 3.3, 120.25], rows, p=[0.3, 0.5, 0.2]))


def weighted_errors(table: pd.DataFrame, estimates: list[float]) -> list[dict]:
    """Errors of weighted answers against the weights of the table, floor and all, recomputed by the row."""
    queries, floor = drawn(table), max(1.0, table.w.mean())
    truths = [
        sum(row["w"] for row in records(table) if inside(row, q, table) and row["job"] == JOBS[q.value])
        for q in queries
    ]
    errors = [abs(e - t) / max(t, floor) for e, t in zip(estimates, truths, strict=True)]
    return error_table(queries, np.array(errors))


def weighed_run(spark, folder: Path, table: pd.DataFrame, form: str, *, publish: bool):
    quasi = {name: {} for name in table.columns if name not in ("job", "w")}
    columns = {"quasi_identifiers": quasi, "sensitive": "job", "weight": {"column": "w", "publish": publish}}
    plain = {
        "version": 1,
        "dataset": "people",
        "columns": columns,
        "privacy": {"k_anonymity": 5},
        "output": {"path": str(folder / "out"), "queries": 60, "form": form},
    }
    return anonymize(ReleaseSpec.parse(plain), table=spark.createDataFrame(table))


@pytest.mark.parametrize("form", ["generalized", pytest.param("bucketized", marks=pytest.mark.slow)])
def test_weighted_estimates_are_those_of_a_reader_of_published_weights(spark, tmp_path, form):
    table = weighed(100)
    run = weighed_run(spark, tmp_path, table, form, publish=True)
    weighted, place = run.summary["metrics"]["weighted"], tmp_path / "out/release/data"
    if form == "generalized":
        out = pd.read_parquet(place)
        estimates = [
            sum(
                row["w"] * np.prod([chance(row, r, table) for r in q.ranges])
                for row in records(out)
                if row["job"] == JOBS[q.value]
            )
            for q in drawn(table)
        ]
    else:
        qi, counted = pd.read_parquet(place / "qi"), pd.read_parquet(place / "sensitive")
        sizes = qi.groupby("group_id").size()
        share = {(r["group_id"], r["job"]): r["count"] / sizes[r["group_id"]] for r in records(counted)}
        estimates = [
            sum(
                r["w"] * share.get((r["group_id"], JOBS[q.value]), 0.0)
                for r in records(qi)
                if inside(r, q, table)
            )
            for q in drawn(table)
        ]
    assert same(weighted["queries"]["table"], weighted_errors(table, estimates))
    assert weighted["population"] == pytest.approx(table.w.sum())
    assert run.metrics.weighted.queries.floor == pytest.approx(table.w.mean())


def test_without_published_weights_a_reader_multiplies_by_the_mean(spark, tmp_path):
    table = weighed(100)
    run = weighed_run(spark, tmp_path, table, "generalized", publish=False)
    out = pd.read_parquet(tmp_path / "out/release/data")
    counts = [
        sum(
            np.prod([chance(row, r, table) for r in q.ranges])
            for row in records(out)
            if row["job"] == JOBS[q.value]
        )
        for q in drawn(table)
    ]
    measured = run.summary["metrics"]
    estimates = [count * table.w.mean() for count in counts]
    assert same(measured["weighted"]["queries"]["table"], weighted_errors(table, estimates))
    assert same(measured["queries"]["table"], expected_table(table, counts))
