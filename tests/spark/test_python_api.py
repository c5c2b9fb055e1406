"""What a program in Python gives and gets: tables and specs of any kind in, frames and numbers out."""

from __future__ import annotations

import datetime as dt
import json
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from pandas.testing import assert_frame_equal

from ppdp_spark import (
    ColumnsSpec,
    DataError,
    Metrics,
    OutputSpec,
    PrivacySpec,
    ReleaseSpec,
    anonymize,
    attack,
    check,
    compare,
    eligibility,
    explore,
    suppress,
    sweep,
    verify,
)
from ppdp_spark.run import active_session
from ppdp_spark.spark.input.given_tables import GIVEN, spark_frame

JOBS = ["cook", "nurse", "smith", "tailor"]
COLUMNS = {
    "identifiers": ["id"],
    "quasi_identifiers": {"age": "numeric", "city": "categorical", "born": "date"},
    "sensitive": "job",
}


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    age = rng.integers(0, 80, 240).astype(float)
    age[::17] = np.nan
    return pd.DataFrame(
        {
            "id": [f"P{i}" for i in range(240)],
            "age": age,
            "city": pd.Categorical(rng.choice(["Ulm", "Bonn", "Kiel"], 240)),
            "born": [dt.date(1950, 1, 1) + dt.timedelta(days=int(d)) for d in rng.integers(0, 9000, 240)],
            "job": rng.choice(JOBS, 240),
        },
        index=pd.Index(range(500, 740), name="row"),
    )


def plain(folder: Path, **changes: Any) -> dict[str, Any]:
    privacy = {"k_anonymity": 5, "l_diversity": {"kind": "distinct", "l": 2}}
    output = {"path": str(folder / "out"), "queries": 40}
    return {
        "version": 1,
        "dataset": "people",
        "columns": COLUMNS,
        "privacy": privacy,
        "output": output,
    } | changes


def digests(folder: Path) -> dict[str, str]:
    files = json.loads((folder / "out/release/release.json").read_text())["files"]
    assert files
    return files


@pytest.fixture(scope="module")
def run(spark, people, tmp_path_factory):
    """A generalized release of a pandas table under a mapping, and its folder."""
    folder = tmp_path_factory.mktemp("generalized")
    return anonymize(plain(folder), table=people, spark=spark), folder


@pytest.fixture(scope="module")
def bucketized(spark, people, tmp_path_factory):
    folder = tmp_path_factory.mktemp("bucketized")
    output = {"path": str(folder / "out"), "form": "bucketized"}
    return anonymize(plain(folder, output=output), table=people, spark=spark), folder


def test_a_table_from_pandas_spark_or_a_file_makes_one_release(spark, people, run, tmp_path):
    people.to_parquet(tmp_path / "people.parquet", index=False)
    (tmp_path / "spec.yaml").write_text(
        yaml.safe_dump(plain(tmp_path / "file", input={"path": "people.parquet"}), sort_keys=False)
    )
    filed = anonymize(tmp_path / "spec.yaml", spark=spark)
    frame = spark.read.parquet(str(tmp_path / "people.parquet")).repartition(3)
    given = anonymize(plain(tmp_path / "frame", input={"path": "not/read.parquet"}), table=frame)
    assert digests(tmp_path / "file") == digests(tmp_path / "frame") == digests(run[1])
    sources = [each.summary["input"]["source"] for each in (filed, given, run[0])]
    assert sources == [str(tmp_path / "people.parquet"), GIVEN, GIVEN]
    assert GIVEN in Path(given.paths["report"]).read_text()


def test_a_spec_of_parts_makes_the_same_release(spark, people, run, tmp_path):
    spec = ReleaseSpec(
        version=1,
        dataset="people",
        columns=ColumnsSpec(**COLUMNS),
        privacy=PrivacySpec(k_anonymity=5, l_diversity={"kind": "distinct", "l": 2}),
        output=OutputSpec(path=str(tmp_path / "out"), queries=40),
    )
    assert anonymize(spec, table=people, spark=spark).summary["spec"] == spec.to_dict()
    assert digests(tmp_path) == digests(run[1])


def test_the_release_is_the_published_table(run):
    found, folder = run
    on_disk = pd.read_parquet(folder / "out/release/data")
    assert len(on_disk) == 240 and "row" not in on_disk.columns
    assert_frame_equal(found.release.toPandas(), on_disk)
    with pytest.raises(DataError, match=r"is generalized: use `run\.release`"):
        _ = found.qi_table


def test_a_bucketized_release_has_two_tables(bucketized):
    found, folder = bucketized
    assert_frame_equal(found.qi_table.toPandas(), pd.read_parquet(folder / "out/release/data/qi"))
    assert_frame_equal(
        found.sensitive_table.toPandas(), pd.read_parquet(folder / "out/release/data/sensitive")
    )
    with pytest.raises(DataError, match=r"is bucketized: use `run\.qi_table` and `run\.sensitive_table`"):
        _ = found.release


def test_verify_gives_the_release_back_unless_it_fails(spark, run, tmp_path):
    _, folder = run
    again = verify(folder / "out", spark=spark)
    assert again.release.count() == 240
    published = tmp_path / "release"
    subprocess.run(["cp", "-r", folder / "out/release", published], check=True)
    file = next(published.glob("data/*.parquet"))
    pd.read_parquet(file).iloc[1:].to_parquet(file)
    broken = verify(published, spark=spark)
    assert not broken.ok and repr(broken).startswith("Run(verify people: FAIL: files")
    with pytest.raises(DataError, match=r"does not verify \(files, "):
        _ = broken.release


def test_the_release_of_a_later_run_is_not_taken_for_this_one(spark, people, tmp_path):
    spec = ReleaseSpec.parse(plain(tmp_path), overrides=["output.overwrite=true", "output.queries=0"])
    first = anonymize(spec, table=people, spark=spark, trial=True)
    assert first.metrics.queries is None
    later = anonymize(ReleaseSpec.of(spec, ["privacy.k_anonymity=20"]), table=people, spark=spark, trial=True)
    assert later.release.count() == 240
    with pytest.raises(DataError, match="holds the release of a later run"):
        _ = first.release
    subprocess.run(["rm", "-r", tmp_path / "out/release"], check=True)
    with pytest.raises(DataError, match="does not hold the release of this run any more"):
        _ = later.release


def test_metrics_are_those_of_the_published_table(run):
    found, folder = run
    metrics, table = found.metrics, pd.read_parquet(folder / "out/release/data")
    sizes = table.groupby("group_id").size()
    assert isinstance(metrics, Metrics)
    assert (metrics.people, metrics.groups, metrics.suppressed) == (240, len(sizes), 0)
    assert (metrics.sizes.smallest, metrics.sizes.largest) == (sizes.min(), sizes.max())
    assert metrics.sizes.mean == sizes.mean() and metrics.discernibility == (sizes**2).sum()
    assert metrics.average_class_ratio == pytest.approx(sizes.mean() / 5)
    assert list(metrics.ncp) == ["age", "city", "born"]
    assert metrics.gcp == pytest.approx(sum(metrics.ncp.values()) / 3) and 0 < metrics.gcp < 1
    for each in metrics.sizes.histogram:
        inside = sizes[sizes.between(each.smallest, each.largest)]
        assert (each.groups, each.people) == (len(inside), inside.sum())
    assert sum(each.groups for each in metrics.sizes.histogram) == metrics.groups
    asked = found.summary["metrics"]["queries"]
    assert metrics.queries is not None
    assert metrics.queries.number == sum(cell.queries for cell in metrics.queries.table) == asked["number"]
    assert metrics.queries.median == asked["median"]


def test_verdicts_are_frames(run):
    found, _ = run
    frame = found.verdict.to_pandas()
    assert len(frame) == len(found.verdict.rows)
    row = frame.set_index("criterion").loc["k_anonymity"]
    assert (row.value, row.threshold, row.relation, row.status) == (
        found.metrics.sizes.smallest,
        5,
        ">=",
        "pass",
    )
    assert row.parameters == {"k": 5} and row.witness["group"] >= 1
    demanded = int((frame.status == "pass").sum())
    assert demanded == len(frame) - 1 and "algorithm_aware" in set(frame.criterion)
    assert repr(found.verdict) == f"Verdict(PASS, {demanded} criteria)"
    assert repr(found) == f"Run(anonymize people: PASS, {demanded} criteria; {found.paths['release']})"
    assert found._repr_html_().startswith("<!DOCTYPE html>")


def test_sweeps_and_comparisons_are_frames(spark, people, run, tmp_path):
    spec = plain(tmp_path, output={"path": str(tmp_path / "out")})
    found = sweep(spec, {"privacy.k_anonymity": [10, 500]}, table=people, spark=spark, queries=0)
    frame = found.to_pandas()
    assert list(frame["privacy.k_anonymity"]) == [10, 500] and list(frame.status) == ["pass", "fail"]
    losses = frame["information lost"]
    assert losses[0] > 0 and pd.isna(losses[1]) and list(frame.frontier) == [True, False]
    assert repr(found) == "Sweep(people: 1 of 2 variants pass)"
    both = compare([run[1] / "out", tmp_path / "out/sweep/k_anonymity-10"])
    lines = both.to_pandas()
    assert list(lines.columns) == ["out", "k_anonymity-10"]
    assert lines.loc[("Release", "groups"), "out"] == run[0].metrics.groups
    assert lines.loc[("Guarantees", "verdict")].tolist() == ["✓ PASS", "✓ PASS"]
    assert repr(both) == "Comparison(out, k_anonymity-10)"


def test_every_command_takes_a_pandas_table_and_says_so(spark, people, tmp_path):
    grouped = people.assign(city=people.city.astype(str), cell=people.age.fillna(-1) // 20)
    spec = plain(tmp_path, suppression={"method": "r", "l": 2})
    groups = {"group": "cell", "sensitive": "job"}
    runs = [
        eligibility(spec, table=grouped, spark=spark),
        suppress(spec, table=grouped, spark=spark),
        check({**spec, "columns": groups}, table=grouped, spark=spark),
        explore({**spec, "columns": groups, "explore": {"max_l": 1, "max_m": 1}}, table=grouped, spark=spark),
        attack(
            {**spec, "columns": {**groups, "quasi_identifiers": {"city": None}}, "attack": {}},
            table=grouped,
            spark=spark,
        ),
    ]
    for found in runs:
        assert found.summary["input"]["source"] == GIVEN
        assert GIVEN in found._repr_html_() and "—" not in found._repr_html_().split("From")[1][:80]
        with pytest.raises(DataError, match=f"`{found.summary['command']}` publishes nothing"):
            _ = found.release
        with pytest.raises(DataError, match=f"`{found.summary['command']}` measures no release"):
            _ = found.metrics


def test_a_check_of_robustness_reads_the_given_table(spark, people):
    priors = [{"attributes": ["city"]}]
    spec = {
        "version": 1,
        "dataset": "people",
        "columns": {"group": "cell", "quasi_identifiers": {"city": "categorical"}, "sensitive": "job"},
        "privacy": {"robustness": {"r": 2, "priors": priors}},
    }
    grouped = people.assign(cell=people.age.fillna(-1) // 20)
    found = check(spec, table=grouped, spark=spark).verdict.to_pandas()
    again = check(spec, table=spark_frame(grouped, spark)).verdict.to_pandas()
    assert "robustness" in set(found.criterion)
    assert_frame_equal(found, again)


def test_pandas_columns_become_columns_of_spark(spark):
    table = pd.DataFrame(
        {
            "many": [["a", "b"], None, []],
            "array": [np.array([1, 2]), None, np.array([3])],
            "whole": pd.array([1, None, 3], dtype="Int64"),
            "tiny": np.array([1, 2, 255], dtype="uint8"),
            "half": np.array([0.5, 1, 2], dtype="float16"),
            "text": pd.array(["a", None, "b"], dtype="string"),
            "mixed": ["a", np.nan, None],
            "code": pd.Categorical([7, 8, None]),
            "yes": pd.array([True, None, False], dtype="boolean"),
            "price": [Decimal("1.20"), None, Decimal("3.1")],
            "local": pd.to_datetime(["2020-01-01 12:00", None, "2021-06-01 00:00"]),
            "zoned": pd.to_datetime(["2020-01-01 12:00", None, "2021-06-01 00:00"]).tz_localize("Asia/Tokyo"),
            "nothing": [None] * 3,
        },
        index=[10, 20, 30],
    )
    frame = spark_frame(table, spark)
    assert frame.schema.simpleString() == (
        "struct<many:array<string>,array:array<bigint>,whole:bigint,tiny:smallint,half:float,text:string,"
        "mixed:string,code:bigint,yes:boolean,price:decimal(3,2),local:timestamp_ntz,zoned:timestamp,"
        "nothing:string>"
    )
    first, second, third = (list(row) for row in frame.collect())
    noon = dt.datetime(2020, 1, 1, 12)
    assert first[:9] == [["a", "b"], [1, 2], 1, 1, 0.5, "a", "a", 7, True]
    assert first[9:11] == [Decimal("1.20"), noon] and first[12] is None
    assert second == [None, None, None, 2, 1.0, None, None, 8, *[None] * 5]
    assert third[:4] == [[], [3], 3, 255]
    instants = frame.selectExpr("unix_seconds(zoned)").collect()
    assert instants[0][0] == dt.datetime(2020, 1, 1, 3, tzinfo=dt.timezone.utc).timestamp()


def test_sets_of_values_from_pandas(spark, tmp_path):
    rng = np.random.default_rng(5)
    held = [sorted(rng.choice(JOBS, rng.integers(0, 3), replace=False)) for _ in range(80)]
    table = pd.DataFrame({"age": rng.integers(0, 50, 80), "jobs": held})
    columns = {"quasi_identifiers": {"age": "numeric"}, "sensitive": {"column": "jobs", "case": "mvpi-set"}}
    spec = plain(tmp_path, columns=columns, privacy={"k_anonymity": 5})
    published = anonymize(spec, table=table, spark=spark).release.toPandas()
    assert sorted(map(list, published.jobs)) == sorted(held)


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([1j, 2j], "complex128"),
        (pd.period_range("2020", periods=2, freq="M"), r"period\[M\]"),
        (pd.interval_range(0, 2), r"interval\[int64, right\]"),
        ([1, "SECRET"], "object"),
        ([object(), object()], "object"),
        (np.array([2**64 - 1, 1], dtype="uint64"), "uint64"),
        (pd.to_datetime([1, 2], unit="ns"), r"datetime64\[ns\]"),
    ],
)
def test_columns_that_spark_cannot_take_are_named(spark, tmp_path, values, dtype):
    table = pd.DataFrame({"age": [1, 2], "odd": values})
    with pytest.raises(DataError, match=f"column `odd` of the pandas table has dtype {dtype} and") as caught:
        anonymize(plain(tmp_path), table=table, spark=spark)
    assert len(caught.value.problems) == 1 and "SECRET" not in str(caught.value)
    assert not (tmp_path / "out/release").exists()


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ([{"age": 1}], r"`table` \(list\) must be a Spark or a pandas DataFrame"),
        (pd.DataFrame([[1, 2]]), "2 columns whose names are not text"),
        (pd.DataFrame([[1, 2]], columns=["age", "age"]), r"several columns of one name \(age\)"),
        (pd.DataFrame({"age": [1]}), "has no column `id`"),
    ],
)
def test_tables_that_are_none(spark, tmp_path, table, said):
    with pytest.raises(DataError, match=said):
        anonymize(plain(tmp_path), table=table, spark=spark)


def test_a_table_of_pandas_uses_the_active_session(spark, people):
    found = eligibility(plain(Path("unused")), table=people)
    assert found.ok


def test_without_a_session_one_line_says_how_to_start_one():
    """In a process of its own, where no session is active."""
    code = (
        "import pandas as pd, ppdp_spark\n"
        "spec = {'version': 1, 'dataset': 'd', 'columns': {'quasi_identifiers': {'age': 'numeric'}},\n"
        "        'privacy': {'k_anonymity': 2}, 'output': {'path': 'nowhere'}}\n"
        "try:\n"
        "    ppdp_spark.anonymize(spec, table=pd.DataFrame({'age': [1, 2]}))\n"
        "except ppdp_spark.SpecError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f"{active_session.NO_SESSION}\n"
    assert "\n" not in active_session.NO_SESSION and "SparkSession.builder" in active_session.NO_SESSION
