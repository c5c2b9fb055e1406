"""A command on a small table."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ppdp_spark import ReleaseSpec


@pytest.fixture
def run(spark, tmp_path):
    """Runs a command on a table of Arrow columns: the run, and the folder of its output."""

    def runner(command, columns, spec, name="out"):
        path, out = tmp_path / f"{name}.parquet", tmp_path / name
        pq.write_table(pa.table(columns), path)
        given = {"version": 1, "dataset": name, "input": {"path": str(path)}, **spec}
        given["output"] = {**spec.get("output", {}), "path": str(out)}
        return command(ReleaseSpec.parse(given), spark=spark), out

    return runner
