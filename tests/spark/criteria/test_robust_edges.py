"""Robust releases at the edges: certain and impossible values, equal signatures, too few values."""

from __future__ import annotations

from collections import Counter

import pytest
from pyspark.sql import functions as F

from ppdp_spark.commands import anonymize, verify
from ppdp_spark.errors import InfeasibleError
from ppdp_spark.spark.partition import fragments
from ppdp_spark.spark.partition.priors import SHARES, PriorSet, beside_people
from ppdp_spark.spark.partition.priors import VALUES as VALUES_OF
from ppdp_spark.spec import ReleaseSpec
from support.core.robust_reference import (
    SCHEMA,
    VALUES,
    learned_priors,
    people,
    published_values,
    released_groups,
    spec_of,
    worst_bound,
)

FINE = [["sex"], ["region"], ["age", "sex"]]


def recomputed(rows, folder, run, *, model, r, form, sets):
    """Judge every published group from the input alone; the people who were not published."""
    groups, listed = released_groups(folder, form), published_values(folder, form)
    priors = [learned_priors(rows, names) for names in sets]
    for group, members in groups.items():
        own = [rows[pid] for pid in members]
        assert listed[group] == Counter(row[4] for row in own)
        for prior in priors:
            assert worst_bound(own, prior, model) <= 1 / r + 1e-12
        assert model == "joint" or max(listed[group].values()) == 1
    published = [pid for members in groups.values() for pid in members]
    assert len(set(published)) == len(published)
    assert len(published) + run.summary["release"]["suppressed"]["unplaced"] == len(rows)
    absent = set(range(len(rows))) - set(published)
    told = [row for row in run.verdict.rows if row.criterion == "absent_people"]
    assert len(told) == bool(absent)
    for row in told:
        assert row.value == max(Counter(rows[pid][4] for pid in absent).values()) / len(absent)
    return absent


@pytest.mark.parametrize(
    ("seed", "model", "form"),
    [
        (1, "joint", "generalized"),
        (2, "binary", "bucketized"),
        pytest.param(3, "joint", "bucketized", marks=pytest.mark.slow),
        pytest.param(4, "binary", "generalized", marks=pytest.mark.slow),
        pytest.param(5, "joint", "bucketized", marks=pytest.mark.slow),
    ],
)
def test_sparse_signatures_recomputed(spark, tmp_path, monkeypatch, seed, model, form):
    """By age and sex there are twenty people a signature: many values have prior 0 there."""
    monkeypatch.setattr(fragments, "FRAGMENT_ROWS", 900)
    rows = people(3000, seed=seed, skew=0.6)
    spec = spec_of(
        tmp_path / "out", model=model, form=form, priors=[{"attributes": s} for s in FINE], budget=0.5
    )
    run = anonymize(spec, table=spark.createDataFrame(rows, SCHEMA))
    left = recomputed(rows, tmp_path / "out", run, model=model, r=3, form=form, sets=FINE)
    assert len(left) < 900
    assert verify(tmp_path / "out", spark=spark).ok


@pytest.mark.parametrize("model", ["joint", pytest.param("binary", marks=pytest.mark.slow)])
def test_certain_and_impossible_values(spark, tmp_path, model):
    """In the west everybody has gout, in the south nobody has the flu."""
    rows = []
    for i, (_, age, sex, region, value) in enumerate(people(600)):
        changed = {"w": "gout", "s": "cold" if value == "flu" else value}.get(region, value)
        rows.append((i, age, sex, region, changed))
    west = {row[0] for row in rows if row[3] == "w"}
    rows = [row for row in rows if row[0] not in west or row[0] % 10 == 0]
    rows = [(i, *row[1:]) for i, row in enumerate(rows)]
    sets = [["region"]]
    spec = spec_of(tmp_path / "out", model=model, r=2, priors=[{"attributes": ["region"]}])
    run = anonymize(spec, table=spark.createDataFrame(rows, SCHEMA))
    left = recomputed(rows, tmp_path / "out", run, model=model, r=2, form="bucketized", sets=sets)
    certain = {row[0] for row in rows if row[3] == "w"}
    assert certain and certain <= left and len(left) < len(certain) + 20


@pytest.mark.parametrize("model", ["joint", pytest.param("binary", marks=pytest.mark.slow)])
def test_equal_signatures_are_plain_diversity(spark, tmp_path, model):
    """With one signature the release is that of Mondrian which allows a value 1/r of a group."""
    rows = [(pid, age, "f", region, value) for pid, age, _, region, value in people(500)]
    table = spark.createDataFrame(rows, SCHEMA)
    priors = [{"attributes": ["sex"]}]
    robust = spec_of(tmp_path / "robust", partitioner="mondrian", model=model, r=4, priors=priors)
    plain = robust.to_dict()
    plain["privacy"] = {"alpha_k": {"alpha": 0.25, "k": 2}}
    plain["output"]["path"] = str(tmp_path / "plain")
    run = anonymize(robust, table=table)
    anonymize(ReleaseSpec.parse(plain), table=table)
    assert run.summary["release"]["suppressed"]["total"] == 0
    groups = [
        sorted(sorted(pids) for pids in released_groups(tmp_path / name, "bucketized").values())
        for name in ("robust", "plain")
    ]
    assert groups[0] == groups[1] and len(groups[0]) > 10


@pytest.mark.parametrize("partitioner", ["art", "mondrian"])
def test_r_above_the_number_of_values(spark, tmp_path, partitioner):
    spec = spec_of(tmp_path / "out", partitioner=partitioner, r=len(VALUES) + 1)
    with pytest.raises(InfeasibleError, match="nothing can be published") as caught:
        anonymize(spec, table=spark.createDataFrame(people(200), SCHEMA))
    assert caught.value.exit_code == 4 and not (tmp_path / "out" / "release").exists()


def test_people_travel_with_empty_lists(spark):
    """With null lists, writing a batch for Python takes time in proportion to the square of its rows."""
    rows = spark.range(4).select(F.col("id").cast("int").alias("task"), F.lit(1).alias("code0"))
    schema = f"code0 int, {VALUES_OF} array<int>, {SHARES} array<double>"
    table = spark.createDataFrame([(1, [0], [1.0])], schema)
    together = beside_people(rows, "task", 4, [PriorSet("x", ("code0",), table, 1)], ())
    assert together.count() == 8
    assert together.where(F.col(VALUES_OF).isNull() | F.col(SHARES).isNull()).count() == 0
