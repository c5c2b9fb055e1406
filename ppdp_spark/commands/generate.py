"""`generate`: a synthetic census on disk."""

from __future__ import annotations

from pyspark.sql import SparkSession

from ppdp_spark.errors import SpecError
from ppdp_spark.run.storage import Folder
from ppdp_spark.spark.synthetic.census import census


def generate(
    spark: SparkSession,
    path: str,
    *,
    rows: int,
    seed: int = 1,
    shape: str = "parquet",
    overwrite: bool = False,
) -> None:
    """Write a census of `rows` people; CSV holds the set-valued column as text joined by `;`."""
    from pyspark.sql import functions as F

    target = Folder.at(path)
    if target.exists() and not overwrite:
        raise SpecError(f"`{path}` exists already: use --overwrite or choose another path")
    table = census(spark, rows, seed=seed)
    if shape == "csv":
        table = table.withColumn("conditions", F.concat_ws(";", "conditions"))
    options = {"header": "true"} if shape == "csv" else {}
    table.write.mode("overwrite").format(shape).options(**options).save(str(target))
