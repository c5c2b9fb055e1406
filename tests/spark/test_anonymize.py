"""The whole path on small tables, judged by plain pandas that shares nothing with the program."""

from __future__ import annotations

import datetime as dt
import json
import math
import re
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pyspark.sql import types as T

from ppdp_spark import ReleaseSpec, anonymize, verify
from ppdp_spark.errors import DataError, InfeasibleError, SpecError

JOBS = ["cook", "nurse", "smith", "tailor", "clerk"]


def people(rows: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 90, rows).astype(object)
    age[rng.random(rows) < 0.05] = None
    city = rng.choice(["Ulm", "Köln", "a, b", 'O\'Hara "x"', "{z}"], rows).astype(object)
    city[rng.random(rows) < 0.05] = None
    return pd.DataFrame(
        {
            "id": [f"ID{i}" for i in range(rows)],
            "age": pd.array(age, dtype="Int64"),
            "city": city,
            "height": np.where(rng.random(rows) < 0.05, np.nan, rng.normal(170, 10, rows)),
            "born": [dt.date(1950, 1, 1) + dt.timedelta(days=int(d)) for d in rng.integers(0, 20000, rows)],
            "job": rng.choice(JOBS, rows),
            "note": rng.choice(["p", "q"], rows),
            "extra": "never published",
        }
    )


def spec_for(folder: Path, **changes) -> ReleaseSpec:
    plain = {
        "version": 1,
        "dataset": "people",
        "input": {"path": "unused.parquet"},
        "columns": {
            "identifiers": ["id"],
            "quasi_identifiers": {"age": {}, "city": {}, "height": {}, "born": {}},
            "sensitive": "job",
        },
        "privacy": {"k_anonymity": 5, "l_diversity": {"kind": "distinct", "l": 2}},
        "output": {"path": str(folder / "out")},
    }
    overrides = [f"{key}={json.dumps(value)}" for key, value in changes.items()]
    return ReleaseSpec.parse(plain, overrides=overrides)


def released(folder: Path, table: str = "") -> pd.DataFrame:
    return pd.read_parquet(folder / "out" / "release" / "data" / table)


def test_every_person_is_inside_its_group_and_nothing_is_lost(spark, tmp_path):
    table = people(1500)
    run = anonymize(spec_for(tmp_path), table=spark.createDataFrame(table))
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


def test_bucketized(spark, tmp_path):
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
    for form in ("generalized",):
        spec = spec_for(tmp_path, **{"columns": columns, "privacy": {"k_anonymity": 4}, "output.form": form})
        assert anonymize(spec, table=table).ok
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


def test_infeasible_leaves_a_failing_verdict_and_no_release(spark, tmp_path):
    table = spark.createDataFrame(people(4))
    with pytest.raises(InfeasibleError, match="k_anonymity 4, needed >= 5"):
        anonymize(spec_for(tmp_path), table=table)
    verdict = json.loads((tmp_path / "out/private/verdict.json").read_text())
    assert verdict["status"] == "fail" and not verdict["publishable"]
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["private"]


def test_a_failed_run_keeps_the_old_release(spark, tmp_path):
    spec = spec_for(tmp_path)
    anonymize(spec, table=spark.createDataFrame(people(100)))
    before = (tmp_path / "out/release/release.json").read_bytes()
    with pytest.raises(SpecError, match="already holds a release"):
        anonymize(spec, table=spark.createDataFrame(people(100)))
    forced = spec_for(tmp_path, **{"output.overwrite": True})
    with pytest.raises(InfeasibleError):
        anonymize(forced, table=spark.createDataFrame(people(3)))
    assert (tmp_path / "out/release/release.json").read_bytes() == before
    anonymize(forced, table=spark.createDataFrame(people(120)))
    assert len(released(tmp_path)) == 120
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["private", "release"]


def test_edge_tables(spark, tmp_path):
    with pytest.raises(DataError, match="no rows"):
        anonymize(spec_for(tmp_path), table=spark.createDataFrame(people(10)).limit(0))
    constant = spark.createDataFrame([(1, "x")] * 30, "age int, job string")
    columns = {"quasi_identifiers": {"age": {}}, "sensitive": "job"}
    only_k = {"columns": columns, "privacy": {"k_anonymity": 5}}
    run = anonymize(spec_for(tmp_path / "c", **only_k), table=constant)
    assert run.summary["release"]["groups"] == 1 and run.summary["metrics"]["gcp"] == 0
    missing = spark.createDataFrame([(None, "x")] * 30, "age int, job string")
    anonymize(spec_for(tmp_path / "m", **only_k), table=missing)
    assert released(tmp_path / "m").age.isna().all()
    infinite = spark.createDataFrame([(math.inf, "x")] * 30, "age double, job string")
    with pytest.raises(DataError, match="infinite"):
        anonymize(spec_for(tmp_path / "i", **only_k), table=infinite)
    with pytest.raises(DataError) as caught:
        anonymize(spec_for(tmp_path / "n"), table=constant)
    assert any("did you mean" in p or "the table has" in p for p in caught.value.problems)
    assert len(caught.value.problems) == 4


def test_many_attributes(spark, tmp_path):
    rng = np.random.default_rng(1)
    wide = pd.DataFrame(rng.integers(0, 5, (300, 60)), columns=[f"q.{j}" for j in range(60)])
    columns = {"quasi_identifiers": {name: {} for name in wide.columns}}
    spec = spec_for(tmp_path, **{"columns": columns, "privacy": {"k_anonymity": 10}})
    run = anonymize(spec, table=spark.createDataFrame(wide))
    assert run.ok and run.summary["release"]["rows"] == 300


def test_names_that_we_use_ourselves_are_free_for_users(spark, tmp_path):
    rng = np.random.default_rng(5)
    names = ["people", "sensitive", "q0", "a0", "size", "path", "fragment", "w0", "description", "x.y `z`"]
    data = pd.DataFrame(rng.integers(0, 6, (200, len(names))), columns=names)
    columns = {
        "quasi_identifiers": {name: {} for name in names[:8]},
        "sensitive": "description",
        "publish_as_is": ["x.y `z`"],
    }
    for form in ("generalized", "bucketized"):
        changes = {"columns": columns, "privacy": {"k_anonymity": 5}, "output.form": form}
        run = anonymize(spec_for(tmp_path / form, **changes), table=spark.createDataFrame(data))
        assert run.ok
    out = released(tmp_path / "generalized")
    assert sorted(zip(out.description, out["x.y `z`"], strict=True)) == sorted(
        zip(data.description, data["x.y `z`"], strict=True)
    )


def test_people_of_a_group_are_sorted_by_what_is_published(spark, tmp_path):
    rows = [(i % 3, [JOBS[(7 * i) % 5]], f"n{(11 * i) % 40:02d}") for i in range(120)]
    table = spark.createDataFrame(rows, "age int, jobs array<string>, note string")
    sets = {"quasi_identifiers": {"age": {}}, "sensitive": {"column": "jobs", "case": "mvpi-multiset"}}
    alone = {"quasi_identifiers": {"age": {}}, "publish_as_is": ["note"]}
    for name, columns in (("jobs", sets), ("note", alone)):
        spec = spec_for(tmp_path / name, columns=columns, privacy={"k_anonymity": 5})
        anonymize(spec, table=table)
        for _, group in released(tmp_path / name).groupby("group_id"):
            listed = [list(v) if name == "jobs" else v for v in group[name]]
            assert listed == sorted(listed)


def test_names_that_would_clash_are_refused(spark, tmp_path):
    table = spark.createDataFrame([(1, 2, "x")] * 10, "age int, age_min int, job string")
    columns = {"quasi_identifiers": {"age": {}, "age_min": {}}, "sensitive": "job"}
    with pytest.raises(DataError, match="age_min"):
        anonymize(spec_for(tmp_path, columns=columns, privacy={"k_anonymity": 5}), table=table)


def test_summary_and_private_files(spark, tmp_path):
    run = anonymize(spec_for(tmp_path), table=spark.createDataFrame(people(300)))
    private = tmp_path / "out" / "private"
    summary = json.loads((private / "summary.json").read_text())
    assert summary["input"]["rows"] == 300 and summary["input"]["unassigned"] == ["note", "extra"]
    assert summary["release"]["rows"] + summary["release"]["suppressed"]["total"] == 300
    sizes = released(tmp_path).groupby("group_id").size()
    assert summary["metrics"]["discernibility"] == int((sizes**2).sum())
    assert summary["metrics"]["average_class_ratio"] == pytest.approx(300 / len(sizes) / 5)
    assert sum(b["rows"] for b in summary["metrics"]["sizes"]["histogram"]) == 300
    assert private.stat().st_mode & 0o077 == 0
    assert all(p.stat().st_mode & 0o077 == 0 for p in private.iterdir())
    text = (
        "".join(p.read_text() for p in private.iterdir())
        + (tmp_path / "out/release/release.json").read_text()
    )
    assert "ID17" not in text and "never published" not in text
    assert run.to_dict()["verdict"]["status"] == "pass"
