"""Tables that once passed and should not have, each as small as it can be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from ppdp_spark import ReleaseSpec, anonymize
from ppdp_spark.errors import DataError, SpecError
from support.oracle.judging import judge
from support.oracle.tables import Trial

TEXT, TEXTS = pa.string(), pa.list_(pa.string())


def made(values: pa.Array, privacy: dict[str, Any], case: str = "svpi", **changes: Any) -> Trial:
    """People of ages 20, 21, … with these sensitive values."""
    document = {
        "version": 1,
        "dataset": "named",
        "input": {"path": "unused.csv"},
        "columns": {
            "quasi_identifiers": {"age": {"type": "numeric"}},
            "sensitive": {"column": "s", "case": case},
        },
        "nulls": "category",
        "privacy": privacy,
        "output": {"form": "generalized", "queries": 0},
        **changes,
    }
    return Trial(0, pa.table({"age": list(range(20, 20 + len(values))), "s": values}), document)


def points(l: int, k: int, m: int, c: float) -> list[dict[str, Any]]:
    return [{"l": l, "k": k, "m": m, "c": c}]


RECORDS = pa.array([["s"], ["x"], ["x"], ["x"]], TEXTS)
EMPTY = pa.array([["s"] if i % 4 == 0 else ["x"] if i % 3 == 1 else [] for i in range(14)], TEXTS)
TWO = {"l_diversity": {"kind": "distinct", "l": 2}}
NAMED = {
    "records of sets": made(RECORDS, {"skyline": {"values": {"s": points(1, 0, 0, 0.7)}}}, "mvpi-set"),
    "records of multisets": made(
        RECORDS, {"skyline": {"values": {"s": points(1, 0, 0, 0.7)}}}, "mvpi-multiset"
    ),
    "empty sets, m = 1": made(EMPTY, {"skyline": {"default": points(0, 1, 1, 0.9)}}, "mvpi-set"),
    "signed zeros": made(pa.array([0.0, -0.0] * 4), TWO),
    "NaN suppressed": made(pa.array([1.0, float("nan"), 2.0, None] * 3), TWO, nulls="suppress"),
    "NaN beside null": made(pa.array([float("nan"), None] * 4), TWO),
    "the text (null)": made(
        pa.array([None, "(null)", "flu", "flu"] * 3, TEXT),
        {"skyline": {"default": points(0, 0, 0, 1), "values": {"\\(null)": points(0, 1, 0, 0.6)}}},
    ),
}


@pytest.mark.parametrize("name", NAMED)
def test_named_tables(spark, tmp_path, name):
    judge(spark, NAMED[name], tmp_path / "run")


@pytest.mark.parametrize("name", ["Hiv", "HIV ", "5"])
def test_a_skyline_of_a_value_that_is_not_there_is_not_passed_over(spark, tmp_path, name):
    trial = made(pa.array(["HIV", "flu"] * 4), {"skyline": {"values": {name: points(0, 1, 0, 0.5)}}})
    (tmp_path / "run").mkdir()
    spec = ReleaseSpec.parse(trial.spec(tmp_path / "run"))
    with pytest.raises((DataError, SpecError)):
        anonymize(spec, table=spark.createDataFrame(trial.table))


def test_rows_are_not_counted_as_people(spark, tmp_path):
    """Two people with four rows each are not eight people."""
    trial = made(pa.array(["a", "b", "c", "d"] * 2), {"k_anonymity": 4})
    document = trial.spec(Path(tmp_path))
    document["columns"]["identifiers"] = ["id"]
    table = trial.table.append_column("id", pa.array(["p"] * 4 + ["q"] * 4))
    with pytest.raises((DataError, SpecError)):
        anonymize(ReleaseSpec.parse(document), table=spark.createDataFrame(table))
