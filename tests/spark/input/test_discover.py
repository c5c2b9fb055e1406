"""Whom sets of columns single out, on Spark: against pandas, and against every set counted by itself."""

from __future__ import annotations

import datetime
import json
from dataclasses import replace
from importlib import import_module
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from ppdp_spark import DataError, ReleaseSpec, SpecError, anonymize, discover
from ppdp_spark.spark.discovery import value_codes
from ppdp_spark.spark.discovery.set_crowds import SetCounter

PEOPLE = 240
TYPES = {
    "number": "int",
    "amount": "double",
    "place": "string",
    "born": "date",
    "flag": "boolean",
    "tags": "array<string>",
    "extra": "map<string,int>",
}


def a_table() -> pd.DataFrame:
    """Values of every type, with nulls, NaN, both zeros and empty arrays; objects, as Spark shows them."""
    rng = np.random.default_rng(4)
    day = datetime.date(1950, 1, 1)
    columns = {
        "number": rng.choice([None, *range(12)], PEOPLE),
        "amount": rng.choice([0.0, -0.0, float("nan"), None, 1.5, 2.5, 7.25], PEOPLE),
        "place": rng.choice([None, "", "null", "a", "b", "ä", "\x1b[31m"], PEOPLE),
        "born": [day + datetime.timedelta(int(d) * 300) for d in rng.integers(0, 90, PEOPLE)],
        "flag": rng.choice([None, True, False], PEOPLE),
        "tags": [[None, [], [None], ["a"], ["a", None]][int(i)] for i in rng.integers(0, 5, PEOPLE)],
        "extra": [{"a": 1}] * PEOPLE,
    }
    return pd.DataFrame({name: pd.Series(list(column), dtype=object) for name, column in columns.items()})


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    return a_table()


@pytest.fixture(scope="module")
def on_spark(spark, people):
    plain = [tuple(row) for row in people.itertuples(index=False, name=None)]
    schema = ", ".join(f"{name} {kind}" for name, kind in TYPES.items())
    return spark.createDataFrame(plain, schema).cache()


def same(value: object) -> object:
    """NaN is null and −0.0 is 0.0; lists as texts, in which null is not the word."""
    if isinstance(value, float):
        return None if value != value else value + 0.0
    return repr(value) if isinstance(value, list) else value


def literal(table: pd.DataFrame, needed: int, most: int) -> dict[tuple[str, ...], int]:
    plain = table.drop(columns="extra").map(same)
    found: dict[tuple[str, ...], int] = {}
    for size in range(1, most + 1):
        for names in combinations(plain.columns, size):
            keys = plain[list(names)].apply(tuple, axis=1)
            alone = int((~keys.duplicated(keep=False)).sum())
            if alone >= needed and not any(set(part) < set(names) for part in found):
                found[names] = alone
    return found


def by_names(found) -> dict[tuple[str, ...], int]:
    return {each.columns: each.people for each in found.sets}


def needed(share: float) -> int:
    return int(np.ceil(share * PEOPLE))


def test_all_sets_that_pandas_finds(on_spark, people):
    found = discover(table=on_spark.repartition(5), share=0.6)
    expected = literal(people, needed(0.6), 4)
    assert by_names(found) == expected and {len(names) for names in expected} >= {3, 4}
    assert found.left_out == ("extra",) and found.counted + found.spared > 0
    ranked = [(len(each.columns), -each.people) for each in found.sets]
    assert ranked == sorted(ranked)


@pytest.mark.parametrize(("heaviest", "gathered"), [(60, 4), (1, 65_536)])
def test_nothing_depends_on_how_sets_are_counted(on_spark, people, monkeypatch, heaviest, gathered):
    """Tasks of a few people, columns too heavy to be an anchor, some or all; long codes and short ones."""
    monkeypatch.setattr(value_codes, "MOST_GATHERED", gathered)
    command = import_module("ppdp_spark.commands.without_spec.discover")
    limits = {"fragment": 100, "most": heaviest}
    monkeypatch.setattr(command, "SetCounter", lambda *args: replace(SetCounter(*args), **limits))
    names = ["number", "amount", "place", "flag", "tags"]
    found = discover(table=on_spark.select(names).coalesce(1), share=0.05, most=3)
    expected = literal(people[[*names, "extra"]], needed(0.05), 3)
    assert by_names(found) == expected and {len(names) for names in expected} == {2, 3}


def test_the_proposed_spec_runs_and_quotes_nobody(spark, tmp_path, caplog):
    rng = np.random.default_rng(8)
    days = pd.date_range("1930-01-01", periods=28_000).date
    table = pd.DataFrame(
        {
            "customer id": [f"CANARY{i}" for i in range(300)],
            "name": [f"CANARY {i // 2}" for i in range(300)],
            "birthDate": rng.choice(days, 300),
            "zip": rng.choice([f"0{i:04}" for i in range(30)], 300),
            "sex": rng.choice(["f", "m"], 300),
            "notes": [f"CANARY said that {i % 9} is fine" for i in range(300)],
            "diagnosis": rng.choice(list("xyz"), 300),
            "amount": rng.normal(size=300),
            "plain": ["a"] * 300,
            "e-mail #1: (x)": [f"canary{i}@example.org" for i in range(300)],
        }
    )
    table.to_csv(tmp_path / "people.csv", index=False, sep=";")
    source = {"path": str(tmp_path / "people.csv"), "separator": ";"}
    found = discover(source, spark=spark, share=0.1)
    roles = {each.name: each.role for each in found.columns}
    assert roles == {
        "customer id": "identifier", "name": "identifier", "birthDate": "quasi-identifier",
        "zip": "quasi-identifier", "sex": "quasi-identifier", "notes": "none", "diagnosis": "sensitive",
        "amount": "quasi-identifier", "plain": "none", "e-mail #1: (x)": "identifier",
    }  # fmt: skip
    spec = tmp_path / "spec.yaml"
    spec.write_text(found.spec)
    proposed = ReleaseSpec.load(spec, [f"output.path={tmp_path / 'out'}"])
    assert proposed.columns.may_repeat == ("name",)
    run = anonymize(proposed, spark=spark)
    assert run.ok and run.summary["release"]["rows"] == 300
    told = json.dumps(found.to_dict()) + found.spec + repr(found) + caplog.text
    assert "CANARY" not in told and "canary" not in told and "00029" not in told


def test_a_table_of_the_catalog_in_which_nobody_is_alone(spark):
    spark.createDataFrame([(i // 2,) for i in range(8)], "a int").createOrReplaceTempView("pairs")
    found = discover({"table": "pairs"}, spark=spark)
    (column,) = found.columns
    assert found.sets == () and (column.values, column.alone) == (4, 0)
    assert "table: pairs" in found.spec and "No set of up to 4 columns singles out" in found.spec


def test_mistakes_are_told(spark, tmp_path):
    with pytest.raises(SpecError, match=r"`share` \(0\) must be greater than 0"):
        discover(tmp_path / "x.parquet", spark=spark, share=0)
    with pytest.raises(SpecError, match=r"`most` \(5\) must be at most 4"):
        discover(tmp_path / "x.parquet", spark=spark, most=5)
    with pytest.raises(SpecError, match="a source or a table"):
        discover(spark=spark)
    with pytest.raises(DataError, match="cannot be read"):
        discover(tmp_path / "x.parquet", spark=spark)
    with pytest.raises(DataError, match="has no rows"):
        discover(table=spark.createDataFrame([], "a int"))
    with pytest.raises(DataError, match="differ in case only"):
        discover(table=spark.createDataFrame([(1, 2)], "a int, A int"))
