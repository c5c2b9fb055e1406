"""Cuts of the driver come from a sample; where a fragment fails the criteria they are counted and mended."""

from __future__ import annotations

import pandas as pd
import pytest

from ppdp_spark import ReleaseSpec, anonymize
from ppdp_spark.spark.partition import coded_table, fragments

PEOPLE = 1_280


@pytest.mark.parametrize("partitioner", ["mondrian", pytest.param("anatomy", marks=pytest.mark.slow)])
@pytest.mark.parametrize("apart", [False, True])
def test_cuts_are_counted_and_mended_where_a_fragment_fails(spark, tmp_path, monkeypatch, partitioner, apart):
    """Young and old with different values: no side of a cut by age is diverse, but everybody is."""
    monkeypatch.setattr(fragments, "FRAGMENT_ROWS", 400)
    counted = []

    def counting(*given):
        counted.append(fragments.count_fragments(*given))
        return counted[-1]

    monkeypatch.setattr(coded_table, "count_fragments", counting)
    age = [i % 80 for i in range(PEOPLE)]
    value = ["ab"[a >= 40] if apart else "ab"[i // 80 % 2] for i, a in enumerate(age)]
    sides = [i // 160 % 2 for i in range(PEOPLE)]
    spec = ReleaseSpec.parse(
        {
            "version": 1,
            "dataset": "cuts",
            "input": {"path": "x.parquet"},
            "columns": {"quasi_identifiers": {"age": {"weight": 9}, "side": {}}, "sensitive": "value"},
            "privacy": {"l_diversity": {"kind": "distinct", "l": 2}},
            "partitioner": partitioner,
            "output": {"path": str(tmp_path / "out")},
        }
    )
    table = pd.DataFrame({"age": age, "side": sides, "value": value})
    run = anonymize(spec, table=spark.createDataFrame(table))
    assert run.ok and run.summary["release"]["rows"] == PEOPLE
    assert len(counted) == apart
    assert all(len(found.sizes) > 1 and found.sizes.sum() == PEOPLE for found in counted)
