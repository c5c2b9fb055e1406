"""`check` on tables made anywhere, agreement with pycanon, and `verify` against tampering."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pycanon.anonymity as pycanon
import pytest

from ppdp_spark import ReleaseSpec, anonymize, check, verify
from ppdp_spark.errors import DataError


def table(rows: int = 400, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.choice(["[20-29]", "[30-39]", None], rows),
            "sex": rng.choice(["f", "m"], rows),
            "wage": rng.choice([1, 2, 9, 10, 100], rows, p=[0.4, 0.25, 0.2, 0.1, 0.05]),
        }
    )


def spec(privacy=None, columns=None, **more) -> ReleaseSpec:
    default = {"quasi_identifiers": {"age": {}, "sex": {}}, "sensitive": "wage"}
    plain = {"version": 1, "dataset": "any", "input": {"path": "x.parquet"}, "privacy": privacy or {}}
    return ReleaseSpec.parse({**plain, "columns": columns or default, **more})


def found(run) -> dict[str, float]:
    named = {f"{row.criterion} {row.level}": row.value for row in run.verdict.rows}
    return {row.criterion: row.value for row in run.verdict.rows} | named


def test_measures_every_criterion_like_pycanon_and_by_definition(spark):
    data = table().dropna().reset_index(drop=True)
    run = check(spec(), table=spark.createDataFrame(data))
    values, qi = found(run), ["age", "sex"]
    assert run.ok and all(row.status == "measured" for row in run.verdict.rows)
    assert values["k_anonymity"] == pycanon.k_anonymity(data, qi)
    assert values["distinct_l_diversity"] == pycanon.l_diversity(data, qi, ["wage"])
    assert int(values["entropy_l_diversity"] + 1e-9) == pycanon.entropy_l_diversity(data, qi, ["wage"])
    assert values["basic_beta_likeness"] == pytest.approx(pycanon.basic_beta_likeness(data, qi, ["wage"]))
    assert values["delta_disclosure"] == pytest.approx(pycanon.delta_disclosure(data, qi, ["wage"]))
    whole = data.wage.value_counts(normalize=True).sort_index()
    equal, ordered = 0.0, 0.0
    for _, group in data.groupby(qi):
        share = group.wage.value_counts(normalize=True).reindex(whole.index, fill_value=0)
        equal = max(equal, float((share - whole).abs().sum() / 2))
        ordered = max(ordered, float((share - whole).cumsum().abs().sum() / (len(whole) - 1)))
    assert values["t_closeness largest distance, equal"] == pytest.approx(equal, abs=1e-12)
    assert values["t_closeness largest distance, ordered"] == pytest.approx(ordered, abs=1e-12)


def test_nulls_form_groups_of_their_own(spark):
    data = pd.DataFrame({"age": ["a"] * 5 + [None] * 3, "sex": "f", "wage": range(8)})
    run = check(spec({"k_anonymity": 4}), table=spark.createDataFrame(data))
    row = run.verdict.rows[0]
    assert not run.ok and row.value == 3 and row.violations == 1 and row.groups == 2


def test_group_column_and_missing_columns(spark):
    data = table()
    data["g"] = np.arange(len(data)) % 40
    columns = {"group": "g", "sensitive": "wage"}
    run = check(spec({"k_anonymity": 10}, columns), table=spark.createDataFrame(data))
    assert run.ok and run.verdict.rows[0].value == 10
    with pytest.raises(DataError, match="did you mean `wage`"):
        check(spec({}, {"group": "g", "sensitive": "wages"}), table=spark.createDataFrame(data))


def test_no_sensitive_column(spark):
    columns = {"quasi_identifiers": {"sex": {}}}
    run = check(spec({"k_anonymity": 2}, columns), table=spark.createDataFrame(table()))
    assert run.ok and [row.criterion for row in run.verdict.rows] == ["k_anonymity"]


@pytest.fixture(scope="module")
def release(spark, tmp_path_factory):
    folder = tmp_path_factory.mktemp("release") / "out"
    rng = np.random.default_rng(1)
    data = pd.DataFrame({"age": rng.integers(0, 50, 500), "wage": rng.integers(0, 5, 500)})
    plain = spec(
        {"k_anonymity": 5, "t_closeness": {"t": 0.6, "distance": "ordered"}},
        {"quasi_identifiers": {"age": {}}, "sensitive": "wage"},
        output={"path": str(folder)},
    )
    anonymize(plain, table=spark.createDataFrame(data))
    return folder


def copy_of(folder, tmp_path):
    import shutil

    return shutil.copytree(folder, tmp_path / "copy")


def test_verify_accepts_the_untouched_release(spark, release):
    run = verify(str(release), spark=spark)
    assert run.ok and {row.criterion for row in run.verdict.rows} >= {"files", "k_anonymity", "conservation"}
    assert verify(str(release / "release"), spark=spark).ok


def test_verify_rejects_tampering(spark, release, tmp_path):
    folder = copy_of(release, tmp_path)
    part = next((folder / "release/data").glob("*.parquet"))
    pd.read_parquet(part).iloc[:-1].to_parquet(part)
    run = verify(str(folder), spark=spark)
    failing = {row.criterion for row in run.verdict.failures}
    assert not run.ok and {"files", "conservation"} <= failing


def test_verify_rejects_a_group_described_in_two_ways(spark, release, tmp_path):
    folder = copy_of(release, tmp_path)
    part = next((folder / "release/data").glob("*.parquet"))
    data = pd.read_parquet(part)
    data.loc[0, "age"] = "17"
    data.to_parquet(part)
    with pytest.raises(DataError, match="described in two ways"):
        verify(str(folder), spark=spark)


def test_verify_judges_by_the_manifest(spark, release, tmp_path):
    folder = copy_of(release, tmp_path)
    path = folder / "release/release.json"
    manifest = json.loads(path.read_text())
    manifest["privacy"]["k_anonymity"] = 400
    path.write_text(json.dumps(manifest))
    run = verify(str(folder), spark=spark)
    assert {row.criterion for row in run.verdict.failures} == {"k_anonymity"}
    with pytest.raises(DataError, match="not the output of a finished run"):
        verify(str(tmp_path), spark=spark)


def test_pycanon_agrees_about_a_release(spark, tmp_path):
    """The published table, judged by another tool: every threshold of the spec is kept."""
    rng = np.random.default_rng(3)
    data = pd.DataFrame(
        {
            "age": rng.integers(0, 50, 800),
            "city": rng.choice(list("abc"), 800),
            "wage": rng.integers(0, 4, 800),
        }
    )
    privacy = {
        "k_anonymity": 8,
        "l_diversity": {"kind": "distinct", "l": 3},
        "t_closeness": {"t": 0.4},
        "beta_likeness": {"beta": 1.5, "kind": "basic"},
        "delta_disclosure": 2.0,
    }
    columns = {"quasi_identifiers": {"age": {}, "city": {}}, "sensitive": "wage"}
    out = spec(privacy, columns, output={"path": str(tmp_path / "out")})
    assert anonymize(out, table=spark.createDataFrame(data)).ok
    release = pd.read_parquet(tmp_path / "out/release/data")
    qi = ["age", "city"]
    assert release.group_id.nunique() > 5
    assert pycanon.k_anonymity(release, qi) >= 8
    assert pycanon.l_diversity(release, qi, ["wage"]) >= 3
    assert pycanon.t_closeness(release, qi, ["wage"]) <= 0.4 + 1e-9
    assert pycanon.basic_beta_likeness(release, qi, ["wage"]) <= 1.5 + 1e-9
    assert pycanon.delta_disclosure(release, qi, ["wage"]) < 2.0
