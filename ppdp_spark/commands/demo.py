"""`demo`: the whole path on made-up people, for a first look."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from ppdp_spark.commands.anonymize import anonymize
from ppdp_spark.commands.generate import generate
from ppdp_spark.commands.verify import verify
from ppdp_spark.report.terminal import rows_table
from ppdp_spark.spark.engine.versions import to_arrow
from ppdp_spark.spec import ReleaseSpec

_ROWS = 3


def demo(spark: SparkSession, folder: Path, *, rows: int) -> Iterator[Any]:
    """Generate, anonymize, verify; yields what to show after each step."""
    table = folder / "census.parquet"
    yield f"Making a synthetic census of {rows:,} people in {table} …"
    generate(spark, str(table), rows=rows, overwrite=True)
    with as_file(files("ppdp_spark") / "demo") as ready:
        overrides = [
            f"input.path={table.absolute()}",
            f"output.path={folder / 'census'}",
            "output.overwrite=true",
        ]
        spec = ReleaseSpec.load(ready / "census.yaml", overrides)
        yield "Anonymizing it as the demo spec says …"
        run = anonymize(spec, spark=spark, trial=True)
    yield run
    shown = to_arrow(run.release.limit(_ROWS))
    names = [name for name in shown.column_names if not name.endswith(("_min", "_max"))]
    yield rows_table("The first rows that were published", shown.select(names).to_pylist())
    yield "Verifying the release from its files alone …"
    checked = verify(str(folder / "census"), spark=spark)
    yield f"Verified: {'PASS' if checked.ok else 'FAIL'}. Open {run.paths['report']} in a browser."
