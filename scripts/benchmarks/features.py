"""`features`: the whole command with one thing more, against the same command without it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.anonymize import summary_facts
from benchmarks.bench import Bench
from benchmarks.on_spark import JobCount, bring_into_cache, floor_action, release_spec, spark_session
from benchmarks.tables import ATTRIBUTES, PERSON, QUASI_IDENTIFIERS, SENSITIVE
from ppdp_spark.commands import anonymize
from ppdp_spark.run.results import Run

PLAIN = {"k_anonymity": 10}
DIVERSE = {"k_anonymity": 10, "l_diversity": {"kind": "distinct", "l": 3}}


@dataclass(frozen=True)
class Feature:
    """What a feature adds to a spec, and what it is compared with."""

    table: str = "census"
    without: dict[str, Any] = field(default_factory=dict)
    with_it: dict[str, Any] = field(default_factory=dict)
    baseline_table: str = "census"


FEATURES = {
    "identifiers": Feature(with_it={"columns": {"identifiers": [PERSON]}}),
    "audit": Feature(
        without={"privacy": DIVERSE, "audit": {"algorithm": "none"}}, with_it={"privacy": DIVERSE}
    ),
    "blind": Feature(
        without={"privacy": DIVERSE, "audit": {"algorithm": "none"}},
        with_it={"privacy": {**DIVERSE, "l_diversity": {"kind": "distinct", "l": 2}}, "partitioner": "blind"},
    ),
    "three attributes": Feature(
        table="attributes",
        baseline_table="attributes",
        without={"privacy": DIVERSE, "audit": {"algorithm": "none"}},
        with_it={
            "privacy": DIVERSE,
            "columns": {"sensitive": [SENSITIVE, *ATTRIBUTES]},
            "audit": {"algorithm": "none"},
        },
    ),
    "several rows per person": Feature(
        table="visits",
        baseline_table="visits",
        with_it={"columns": {"person": PERSON, "sensitive": {"column": SENSITIVE, "case": "mvpi-set"}}},
    ),
}
"""A column that is checked not to repeat; the default audit; blind groups; three secrets; rows of people."""


def measure(bench: Bench) -> None:
    feature = FEATURES[bench.parameters["feature"]]
    form = {"form": "bucketized"} if bench.parameters["feature"] == "several rows per person" else {}
    with spark_session(bench) as spark:

        def run_of(table: str, sections: dict[str, Any], rows: int, target: Path) -> Run:
            settings = {"privacy": PLAIN, **sections, "output": form}
            return anonymize(release_spec(bench.table(table, rows), target, **settings), spark=spark)

        def without(rows: int, target: Path) -> Run:
            return run_of(feature.baseline_table, feature.without, rows, target)

        def with_it(rows: int, target: Path) -> Run:
            return run_of(feature.table, feature.with_it, rows, target)

        bring_into_cache(spark, bench, feature.table, (*QUASI_IDENTIFIERS, SENSITIVE))
        runs = {"floor": floor_action(spark, bench, feature.table), "without": without, "with": with_it}
        found = bench.compare(runs, JobCount(spark))
        bench.note(**summary_facts(found["with"]), baseline=summary_facts(found["without"]))
