"""The whole path on small tables, judged by plain pandas that shares nothing with the program."""

from __future__ import annotations

import datetime as dt
import json
import re
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from pyspark.sql import types as T

from ppdp_spark import anonymize, verify
from ppdp_spark.errors import DataError
from ppdp_spark.spark.judge.bucketized_files import BucketFiles
from support.released.people import JOBS, people, released, spec_for


def test_every_person_is_inside_its_group_and_nothing_is_lost(spark, tmp_path):
    table = people(1500)
    run = anonymize(spec_for(tmp_path, **{"output.bounds": "tight"}), table=spark.createDataFrame(table))
    out = released(tmp_path)
    assert run.ok and len(out) == 1500
    assert list(out.columns) == [
        "group_id", "age", "age_min", "age_max", "city", "height", "height_min", "height_max",
        "born", "born_min", "born_max", "job",
    ]  # fmt: skip
    assert sorted(out.group_id.unique()) == list(range(1, run.summary["release"]["groups"] + 1))
    seen = 0
    for _, group in out.groupby("group_id"):
        first = group.iloc[0]
        inside = np.ones(len(table), bool)
        for name in ("age", "height", "born"):
            missing = table[name].isna()
            low, high = first[f"{name}_min"], first[f"{name}_max"]
            if pd.isna(low):
                assert pd.isna(first[name])
                inside &= missing
                continue
            between = np.array(
                [not m and low <= v <= high for v, m in zip(table[name], missing, strict=True)]
            )
            inside &= between | (missing & first[name].endswith(" or null"))
        label = first["city"]
        names = table["city"].dropna().unique()
        if label is None:
            inside &= table["city"].isna()
        else:
            plain = label.removesuffix(" or null")
            chosen = [n for n in names if _escaped(n) == plain] or _members(plain, sorted(names))
            inside &= table["city"].isin(chosen) | (table["city"].isna() & label.endswith(" or null"))
        assert len(group) >= 5 and group.job.nunique() >= 2
        assert inside.sum() == len(group)
        assert sorted(table.job[inside]) == sorted(group.job)
        assert (group.drop(columns="job").nunique(dropna=False) == 1).all()
        seen += len(group)
    assert seen == 1500


def _escaped(name: str) -> str:
    return re.sub(r"([\\,{}])", r"\\\1", name)


def _members(label: str, names: list[str]) -> list[str]:
    """The one subset of sorted names whose joined label this is."""
    from itertools import combinations

    found = [
        c
        for r in range(2, len(names) + 1)
        for c in combinations(names, r)
        if "{" + ", ".join(map(_escaped, c)) + "}" == label
    ]
    assert len(found) == 1
    return list(found[0])


def test_same_content_whatever_the_partitioning(spark, tmp_path, monkeypatch):
    monkeypatch.setattr("ppdp_spark.spark.partition.fragments.FRAGMENT_ROWS", 400)
    monkeypatch.setattr("ppdp_spark.spark.partition.fragments.SAMPLE_ROWS", 700)
    monkeypatch.setattr("ppdp_spark.spark.release.numbering.FILE_ROWS", 300)
    table = spark.createDataFrame(people(2000))
    digests = []
    for parts in (1, 2, 7):
        folder = tmp_path / str(parts)
        run = anonymize(
            spec_for(folder, **{"columns.publish_as_is": ["note"]}), table=table.repartition(parts)
        )
        files = json.loads((folder / "out/release/release.json").read_text())["files"]
        assert len(files) > 2 and run.ok
        digests.append((folder / "out/release/release.json").read_bytes())
    assert digests[0] == digests[1] == digests[2]
    out = released(tmp_path / "1")
    assert out.group_id.is_monotonic_increasing
    for _, group in out.groupby("group_id"):
        pairs = list(zip(group.note, group.job, strict=True))
        assert pairs == sorted(pairs)


def test_fragments_lose_nothing_and_keep_the_criteria(spark, tmp_path, monkeypatch):
    monkeypatch.setattr("ppdp_spark.spark.partition.fragments.FRAGMENT_ROWS", 300)
    monkeypatch.setattr("ppdp_spark.spark.partition.fragments.SAMPLE_ROWS", 500)
    table = people(3000, seed=4)
    run = anonymize(spec_for(tmp_path), table=spark.createDataFrame(table))
    out = released(tmp_path)
    sizes = out.groupby("group_id").agg(n=("job", "size"), distinct=("job", "nunique"))
    assert run.ok and sizes.n.sum() == 3000 and sizes.n.min() >= 5 and sizes.distinct.min() >= 2
    assert sorted(out.job) == sorted(table.job)


def test_bucketized(spark, tmp_path, monkeypatch):
    table = people(800)
    changes = {"output.form": "bucketized", "columns.publish_as_is": ["note"]}
    run = anonymize(spec_for(tmp_path, **changes), table=spark.createDataFrame(table))
    qi, sensitive = released(tmp_path, "qi"), released(tmp_path, "sensitive")
    assert run.ok and len(qi) == 800 and sensitive["count"].sum() == 800
    assert list(qi.columns) == ["group_id", "age", "city", "height", "born", "note"]
    key = ["age", "city", "height", "born", "note"]
    expected = table[key].astype({"age": float}).sort_values(key).reset_index(drop=True)
    got = qi[key].astype({"age": float}).sort_values(key).reset_index(drop=True)
    pd.testing.assert_frame_equal(got, expected, check_dtype=False)
    per_group = sensitive.groupby("group_id").agg(n=("count", "sum"), distinct=("job", "nunique"))
    assert (per_group.n == qi.groupby("group_id").size()).all() and per_group.distinct.min() >= 2
    assert not sensitive.duplicated(["group_id", "job"]).any()
    assert verify(str(tmp_path / "out"), spark=spark).ok
    part = next((tmp_path / "out/release/data/sensitive").glob("*.parquet"))
    counted = pd.read_parquet(part)
    assert counted.group_id[0] == counted.group_id[1]
    # Nobody is lost and nobody comes twice, but one value has fewer people than none.
    counted.loc[0, "count"] += counted["count"][1] + 1
    counted.loc[1, "count"] = -1
    counted.to_parquet(part)
    for wanted in (BucketFiles.of, lambda *_, **__: None):
        monkeypatch.setattr(BucketFiles, "of", wanted)
        with pytest.raises(DataError, match="two ways"):
            verify(str(tmp_path / "out"), spark=spark)


def test_sets_of_values(spark, tmp_path):
    rng = np.random.default_rng(2)
    rows = [
        (int(a), [str(x) for x in rng.choice(JOBS, rng.integers(0, 4))]) for a in rng.integers(0, 60, 600)
    ]
    rows[0] = (rows[0][0], None)
    table = spark.createDataFrame(rows, "age int, jobs array<string>")
    columns = {"quasi_identifiers": {"age": {}}, "sensitive": {"column": "jobs", "case": "mvpi-set"}}
    for form in ("generalized", "bucketized"):
        folder = tmp_path / form
        spec = spec_for(folder, **{"columns": columns, "privacy": {"k_anonymity": 5}, "output.form": form})
        assert anonymize(spec, table=table).ok
    out = released(tmp_path / "generalized")
    assert len(out) == 600 and out.groupby("group_id").size().min() >= 5
    expected = sorted(str(sorted(set(v))) if v is not None else "[None]" for _, v in rows)
    assert sorted(str(list(v)) for v in out.jobs) == expected
    counts = released(tmp_path / "bucketized", "sensitive").groupby("jobs")["count"].sum()
    assert counts.to_dict() == pd.Series([x for _, v in rows for x in set(v or [])]).value_counts().to_dict()


def test_nulls_suppressed_or_refused(spark, tmp_path):
    table = people(600)
    whole = table.dropna(subset=["age", "city", "height", "born", "job"])
    run = anonymize(spec_for(tmp_path, nulls="suppress"), table=spark.createDataFrame(table))
    out = released(tmp_path)
    assert len(out) == len(whole) < 600 and not out.isna().any().any()
    assert run.summary["release"]["suppressed"]["nulls"] == 600 - len(whole)
    with pytest.raises(DataError) as caught:
        anonymize(spec_for(tmp_path / "x", nulls="error"), table=spark.createDataFrame(table))
    assert len(caught.value.problems) == 3 and "`age`" in str(caught.value)
    assert not (tmp_path / "x" / "out" / "release").exists()


def test_types_of_quasi_identifiers(spark, tmp_path):
    stamp = dt.datetime(2020, 1, 1, 12, 30, 15, 123456)
    rows = [
        (
            i % 7 + 2**40 * (i % 3),
            float(i) / 3,
            Decimal(i).scaleb(-2),
            stamp + dt.timedelta(minutes=977 * i),
            i % 2 == 0,
        )
        for i in range(200)
    ]
    schema = "big bigint, real float, price decimal(10,2), at timestamp, yes boolean"
    table = spark.createDataFrame(rows, schema)
    table = table.withColumn("local", table["at"].cast("timestamp_ntz"))
    names = ["big", "real", "price", "at", "yes", "local"]
    columns = {"quasi_identifiers": {name: {} for name in names}}
    tight = {"columns": columns, "privacy": {"k_anonymity": 4}, "output.bounds": "tight"}
    assert anonymize(spec_for(tmp_path, **tight), table=table).ok
    data = spark.read.parquet(str(tmp_path / "out/release/data"))
    kinds = {field.name: field.dataType for field in data.schema.fields}
    assert kinds["big_min"] == T.LongType() and kinds["real_min"] == T.FloatType()
    assert kinds["price_max"] == T.DecimalType(10, 2) and kinds["at_min"] == T.TimestampType()
    assert kinds["local_max"] == T.TimestampNTZType() and kinds["yes"] == T.StringType()
    data.createOrReplaceTempView("released")
    table.createOrReplaceTempView("original")
    bounds = " and ".join(f"o.{n} between r.{n}_min and r.{n}_max" for n in names if n != "yes")
    inside = spark.sql(
        "select r.group_id, count(*) n, max(size) size from "
        "(select *, count(*) over (partition by group_id) size, "
        "row_number() over (partition by group_id order by big) i from released) r "
        f"join original o on {bounds} and contains(r.yes, cast(o.yes as string)) where i = 1 group by 1"
    ).toPandas()
    assert (inside.n == inside["size"]).all() and inside.n.sum() == 200


def test_hierarchy(spark, tmp_path):
    (tmp_path / "jobs.csv").write_text("cook,food,*\nbaker,food,*\nsmith,metal,*\nwelder,metal,*\n")
    rows = [(j, a) for a in range(10) for j in ("cook", "baker", "smith", "welder") for _ in range(2)]
    columns = {"quasi_identifiers": {"job": {"hierarchy": str(tmp_path / "jobs.csv")}}, "sensitive": "age"}
    spec = spec_for(tmp_path, **{"columns": columns, "privacy": {"k_anonymity": 40}})
    anonymize(spec, table=spark.createDataFrame(rows, "job string, age int"))
    assert set(released(tmp_path).job) == {"food", "metal"}
    with pytest.raises(DataError, match=r"has no leaf for 1 of its values \('tailor'\)"):
        anonymize(
            spec_for(tmp_path / "b", **{"columns": columns}),
            table=spark.createDataFrame([("tailor", 1)], "job string, age int"),
        )
