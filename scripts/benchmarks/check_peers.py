"""`check-peers`: pycanon on groups of people in memory, against the whole of `ppdp check`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from benchmarks.bench import Bench
from benchmarks.on_spark import grouped_spec, spark_session
from benchmarks.tables import GROUP, VALUE
from ppdp_spark.commands import check
from ppdp_spark.run.results import Run

CRITERIA = {"k_anonymity": 2, "l_diversity": {"kind": "distinct", "l": 2}, "t_closeness": {"t": 1.0}}


def measure(bench: Bench) -> None:
    """Both find the k, ℓ and t of the same groups; ours reads the files, theirs has them in memory."""
    with spark_session(bench) as spark:

        def ours(rows: int, target: Path) -> Run:
            return check(grouped_spec(bench.table("grouped", rows), privacy=CRITERIA), spark=spark)

        bench.warm_up(ours)
        for _ in range(bench.repeats):
            run = bench.run("check", ours, bench.rows)
    table = pq.read_table(bench.table("grouped", bench.rows)).to_pandas()

    def theirs(rows: int, target: Path) -> dict[str, Any]:
        from pycanon.anonymity import k_anonymity, l_diversity, t_closeness

        return {
            "k": int(k_anonymity(table, [GROUP])),
            "l": int(l_diversity(table, [GROUP], [VALUE])),
            "t": float(t_closeness(table, [GROUP], [VALUE])),
        }

    found = bench.run("pycanon", theirs, bench.rows)
    values = {row.criterion: row.value for row in run.verdict.rows}
    agreed = values["k_anonymity"] == found["k"] and values["distinct_l_diversity"] == found["l"]
    bench.note(agreed="yes" if agreed else "no", ours=values, theirs=found)
