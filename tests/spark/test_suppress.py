"""Suppression on Spark: exactly so many rows of each value, uniformly, the same again and again."""

from __future__ import annotations

import json
import random
from collections import Counter
from functools import reduce
from pathlib import Path

import pandas as pd
import pytest
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from scipy.stats import chisquare

from ppdp_spark import ReleaseSpec, anonymize, verify
from ppdp_spark.commands import suppress
from ppdp_spark.errors import BudgetError, DataError, InfeasibleError, SpecError
from ppdp_spark.spark.suppression.suppress_rows import Loss, suppress_rows


def kept_of(table, losses, seed):
    return suppress_rows(table, F.col("v"), losses, random.Random(seed))


def test_exact_numbers_and_reproducible(spark):
    table = spark.range(5000).select(
        "id", F.when(F.col("id") < 3000, "a").when(F.col("id") < 4500, "b").alias("v")
    )
    losses = [Loss("a", 3000, 1234), Loss("b", 1500, 1500), Loss(None, 500, 1)]
    kept = kept_of(table, losses, 7)
    assert Counter(row.v for row in kept.collect()) == {"a": 1766, None: 499}
    first = sorted(row.id for row in kept.collect())
    assert first == sorted(row.id for row in kept_of(table.repartition(7), losses, 7).collect())
    assert first != sorted(row.id for row in kept_of(table, losses, 8).collect())
    assert kept_of(table, [Loss("a", 3000, 0)], 7) is table


@pytest.mark.parametrize("removed", [1, 37, 99, 100])
def test_equal_rows(spark, removed):
    table = spark.range(300).select((F.col("id") % 3).alias("id"), F.lit("a").alias("v"))
    kept = kept_of(table, [Loss("a", 300, removed)], 3)
    counts = Counter(row.id for row in kept.collect())
    assert sum(counts.values()) == 300 - removed and max(counts.values()) <= 100


def test_uniform_over_rows(spark):
    """Every row goes equally often; it would not if all draws had one key."""
    table = spark.range(40).select("id", F.lit("a").alias("v")).cache()

    draws = [set(range(40)) for _ in range(60)]
    kept = [kept_of(table, [Loss("a", 40, 10)], i).withColumn("draw", F.lit(i)) for i in range(60)]
    for row in reduce(DataFrame.unionByName, kept).collect():
        draws[row.draw].remove(row.id)
    gone = Counter(i for draw in draws for i in draw)
    assert sum(gone.values()) == 600
    assert chisquare([gone[i] for i in range(40)]).pvalue > 1e-4
    spoiled = Counter(i for _ in draws for i in draws[0])
    assert chisquare([spoiled[i] for i in range(40)]).pvalue < 1e-4


def skewed(spark):
    rows = [(i, i % 50, "flu" if i < 500 else f"d{i % 5}") for i in range(800)]
    return spark.createDataFrame(rows, "id int, age int, disease string")


def spec_for(folder: Path, **changes) -> ReleaseSpec:
    plain = {
        "version": 1,
        "dataset": "skewed",
        "input": {"path": "unused.parquet"},
        "columns": {"identifiers": ["id"], "quasi_identifiers": {"age": {}}, "sensitive": "disease"},
        "privacy": {"k_anonymity": 4},
        "suppression": {"method": "r", "l": 3, "budget": 0.9},
        "output": {"path": str(folder / "out")},
    }
    return ReleaseSpec.parse(
        plain, overrides=[f"{key}={json.dumps(value)}" for key, value in changes.items()]
    )


def test_anonymize_with_suppression(spark, tmp_path):
    run = anonymize(spec_for(tmp_path), table=skewed(spark))
    out = pd.read_parquet(tmp_path / "out/release/data")
    counts = out.disease.value_counts()
    assert run.ok and counts.max() * 3 <= len(out) < 800
    gone = run.summary["release"]["suppressed"]
    assert gone["frequent"] == gone["total"] == 800 - len(out)
    assert run.summary["suppression"]["before"][0] == 500
    audit = run.summary["suppression"]["audit"]
    row = next(row for row in run.verdict.rows if row.criterion == "suppression_attack")
    assert row.status == "measured" and 0 < row.value == audit["posterior_max"] <= 1
    assert row.witness["candidates"] == audit["candidates"] >= row.witness["candidates promised"] == 3
    left = Counter({"flu": 500} | {f"d{i}": 60 for i in range(5)}) - Counter(counts.to_dict())
    absent = next(row for row in run.verdict.rows if row.criterion == "absent_people")
    assert absent.status == "measured" and absent.value == max(left.values()) / left.total()
    assert absent.witness == {
        "people": gone["total"],
        "with this value": left["flu"],
        "value": "flu",
    }
    page = (tmp_path / "out/private/report.html").read_text()
    assert "may have been the most frequent one before" in page and "suppression_attack" in page
    assert audit["sentence"].split(";")[0] in page
    manifest = json.loads((tmp_path / "out/release/release.json").read_text())
    assert manifest["suppression"] == {"method": "r", "l": 3, "total": 800}
    checked = verify(str(tmp_path / "out"), spark=spark)
    assert checked.ok and sum(row.criterion == "l_eligibility" for row in checked.verdict.rows) == 2


def test_budget_none_and_study_only(spark, tmp_path):
    with pytest.raises(BudgetError, match="more than"):
        anonymize(spec_for(tmp_path / "a", **{"suppression.budget": 0.01}), table=skewed(spark))
    assert not (tmp_path / "a/out/release").exists()
    verdict = json.loads((tmp_path / "a/out/private/verdict.json").read_text())
    assert verdict["status"] == "fail" and verdict["criteria"][0]["criterion"] == "suppression_budget"
    with pytest.raises(InfeasibleError) as caught:
        anonymize(spec_for(tmp_path / "b", **{"suppression.method": "none"}), table=skewed(spark))
    assert "flu" not in str(caught.value)
    verdict = json.loads((tmp_path / "b/out/private/verdict.json").read_text())
    assert verdict["criteria"][0]["witness"] == {"rank": 1, "rows": 500, "rows above |T|/l": 234}
    with pytest.raises(SpecError, match="study only"):
        anonymize(spec_for(tmp_path / "c", **{"suppression.method": "unsafe-d"}), table=skewed(spark))
    run = suppress(spec_for(tmp_path / "d", **{"suppression.method": "unsafe-d"}), table=skewed(spark))
    assert not run.verdict.to_dict()["publishable"]


def test_eligible_data_passes_untouched(spark, tmp_path):
    run = anonymize(spec_for(tmp_path, **{"suppression.l": 1}), table=skewed(spark))
    assert run.summary["release"]["suppressed"]["total"] == 0 and run.verdict.publishable


def test_fixed_seed_is_marked_and_the_same_again(spark, tmp_path):
    outs = []
    for name in ("one", "two"):
        spec = spec_for(tmp_path / name, **{"suppression.unsafe_fixed_seed": 987654321012})
        run = anonymize(spec, table=skewed(spark))
        assert run.ok and not run.verdict.to_dict()["publishable"]
        outs.append((tmp_path / name / "out/release/release.json").read_bytes())
        private = "".join(p.read_text() for p in (tmp_path / name / "out/private").iterdir())
        assert "987654321012" not in private + outs[-1].decode()
    assert outs[0] == outs[1]


def test_suppress_alone_keeps_rows_private(spark, tmp_path):
    run = suppress(spec_for(tmp_path, **{"suppression.method": "safe-d"}), table=skewed(spark))
    kept = pd.read_parquet(tmp_path / "out/private/kept")
    assert set(kept.columns) == {"id", "age", "disease"} and kept.id.is_unique
    assert len(kept) == run.summary["suppression"]["published"] < 800
    assert not (tmp_path / "out/release").exists()


def test_more_values_than_a_release_can_show(spark, tmp_path):
    rare = F.when(F.col("id") % 5 < 2, "flu").otherwise(F.concat(F.lit("d"), "id"))
    table = spark.range(250_000).select("id", (F.col("id") % 90).alias("age"), rare.alias("disease"))
    with pytest.raises(DataError, match="more than 100,000 distinct values"):
        anonymize(spec_for(tmp_path / "a"), table=table)
    run = suppress(spec_for(tmp_path / "b"), table=table)
    kept = pd.read_parquet(tmp_path / "b/out/private/kept")
    counts = kept.disease.value_counts()
    assert 1 <= counts["flu"] <= len(kept) // 3
    assert len(counts) == 150_001 and (counts.drop("flu") == 1).all()
    assert len(kept) == run.summary["suppression"]["published"] < 250_000


@pytest.mark.parametrize("nulls", ["category", "suppress", "error"])
def test_nulls_when_suppressing_alone(spark, tmp_path, nulls):
    rows = [(i, None if i % 10 == 0 else i % 50, "flu" if i < 500 else f"d{i % 5}") for i in range(800)]
    table = spark.createDataFrame(rows, "id int, age int, disease string")
    spec = spec_for(tmp_path, nulls=nulls)
    if nulls == "error":
        with pytest.raises(DataError, match="`age` has 80 rows with null"):
            suppress(spec, table=table)
        return
    run = suppress(spec, table=table)
    kept = pd.read_parquet(tmp_path / "out/private/kept")
    assert kept.age.isna().any() == (nulls == "category")
    assert run.summary["suppression"]["total"] == (800 if nulls == "category" else 720)
    assert len(kept) == run.summary["suppression"]["published"]


def test_nothing_to_keep(spark, tmp_path):
    with pytest.raises(DataError, match="no rows"):
        suppress(spec_for(tmp_path), table=skewed(spark).where("false"))
