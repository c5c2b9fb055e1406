"""What blind grouping costs beside Mondrian: information lost and query error, on Adult and on the census.

    python scripts/blind_cost.py [--out benchmarks/blind] [--rows 100000]

The Adult table is read from $PPDP_ADULT, else from ../shared/data/adult.csv beside the repository: its train
part without missing values, attribute occupation. The census is that of `ppdp generate`. Every least size is
tried here, for study: whoever publishes must choose one beforehand.
"""

from __future__ import annotations

import argparse
import csv
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from reproduction import ROOT, Record, adult_path, table, write_results

from ppdp_spark import InfeasibleError, anonymize, plan
from ppdp_spark.commands.generate import generate
from ppdp_spark.spark.session import local_session

ADULT = ("age", "workclass", "education", "marital-status", "race", "sex")
CENSUS = ("age", "sex", "education", "marital", "income")
CRITERIA: dict[str, Record] = {
    "α = .5, k = 5": {"alpha_k": {"alpha": 0.5, "k": 5}},
    "skyline (1, 2, 0), c = .75": {"skyline": {"default": [{"l": 1, "k": 2, "m": 0, "c": 0.75}]}},
}
SIZES = (40, 80, 160, 320, 640)
QUERIES = 1_000
NUMERIC = {"age", "income"}


def adult(path: Path) -> pa.Table:
    """The train part of Adult, rows with a missing value left out."""
    with path.open(newline="") as lines:
        rows = [row for row in csv.DictReader(lines, skipinitialspace=True) if row["part"] == "train"]
    kept = [row for row in rows if "?" not in row.values()]
    columns: dict[str, Any] = {name: [row[name] for row in kept] for name in (*ADULT, "occupation")}
    return pa.table({**columns, "age": [int(age) for age in columns["age"]]})


def spec_of(names: tuple[str, ...], privacy: Record, folder: str, **more: Any) -> Record:
    """A release of these quasi-identifiers, for comparison only."""
    kinds = {name: {"type": "numeric" if name in NUMERIC else "categorical"} for name in names}
    return {
        "version": 1,
        "dataset": "blind-cost",
        "columns": {"quasi_identifiers": kinds, "sensitive": "occupation"},
        "privacy": privacy,
        "cuts": "median",
        "output": {"path": f"{folder}/out", "overwrite": True, "queries": QUERIES},
        **more,
    }


def measured(people: DataFrame, spec: Record, **named: Any) -> Record:
    """One release: what it loses, or that it is refused; blind ones with what a plan says beforehand."""
    record, planned = {**named, "least size": None, "chance": None}, None
    if "partitioner" in spec:
        planned = plan(spec, table=people).summary
        record |= {"least size": planned["blind"]["least_size"], "chance": planned["blind"]["chance"]}
    try:
        found = anonymize(spec, table=people, trial=True).summary
    except InfeasibleError:
        found = None
    metrics = (found or planned or {})["metrics"]
    error = None if found is None else metrics["queries"]["median"]
    record |= {"published": found is not None, "people per group": metrics["sizes"]["mean"]}
    record |= {"information lost": metrics["gcp"], "query error": error}
    print(record, flush=True)
    return record


def costs(people: DataFrame, names: tuple[str, ...], name: str) -> Iterator[Record]:
    """Mondrian, the predicted size, and the sizes by hand up to the first that passes."""
    with tempfile.TemporaryDirectory() as folder:
        for label, privacy in CRITERIA.items():
            told = {"table": name, "criterion": label}
            yield measured(people, spec_of(names, privacy, folder), **told, partitioner="mondrian")
            blind = {"partitioner": "blind"}
            yield measured(
                people, spec_of(names, privacy, folder, **blind), **told, partitioner="blind, predicted"
            )
            for size in SIZES:
                spec = spec_of(names, privacy, folder, **blind, least_size=size)
                found = measured(people, spec, **told, partitioner="blind, by hand")
                yield found
                if found["published"]:
                    break


def page(records: list[Record]) -> str:
    """The page beside the JSON."""
    parts = ["# What blind grouping costs\n", __doc__.split("\n\n")[2].strip() + "\n"]
    parts.append(
        "*Chance* is what `ppdp plan` shows beforehand: it takes values to be independent of "
        "quasi-identifiers, which they are not here, so that a release can be refused in spite of it. "
        "Nothing is published then; the information lost is that of the groups that were refused. "
        "*Information lost* is the mean certainty penalty, *query error* the median of "
        f"{QUERIES:,} random COUNT queries.\n"
    )
    for key in dict.fromkeys((r["table"], r["criterion"]) for r in records):
        chosen = [r for r in records if (r["table"], r["criterion"]) == key]
        parts.append(f"## {key[0]}, {key[1]}\n")
        parts.append(table([{k: v for k, v in r.items() if k not in ("table", "criterion")} for r in chosen]))
    return "\n".join(parts)


def census(spark: SparkSession, rows: int, folder: str) -> DataFrame:
    """The invented census."""
    generate(spark, f"{folder}/census", rows=rows)
    return spark.read.parquet(f"{folder}/census")


def main() -> None:
    """Measure all, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "blind")
    parser.add_argument("--rows", type=int, default=100_000)
    given = parser.parse_args()
    spark = local_session("local[2]")
    with tempfile.TemporaryDirectory() as folder:
        people = spark.createDataFrame(adult(adult_path())).cache()
        records = list(costs(people, ADULT, "Adult"))
        born = census(spark, given.rows, folder).select(*CENSUS, "occupation").cache()
        records += costs(born, CENSUS, f"Census, {given.rows:,} people")
        spark.stop()
    write_results(given.out, "blind", {"records": records}, page(records))


if __name__ == "__main__":
    main()
