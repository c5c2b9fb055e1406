"""Unmistakable values in every kind of column, and one process that runs all commands on them."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd

ROWS = 2_000
SEED = 6_021_023_140_857_001

DRIVER = """
import json, logging, random, sys
log, drawn, runs = sys.argv[1:]
logging.basicConfig(filename=log, level=logging.INFO)
from ppdp_spark.cli.app import app
from ppdp_spark.spark.suppression import suppression_stage as suppression
from ppdp_spark.spark.partition import fragments
from ppdp_spark.spark.release import numbering
fragments.FRAGMENT_ROWS, fragments.SAMPLE_ROWS, numbering.FILE_ROWS = 500, 900, 300

class Recorded(random.Random):
    numbers = []
    def getrandbits(self, bits):
        self.numbers.append(super().getrandbits(bits))
        return self.numbers[-1]

suppression.generator = lambda spec, *_: Recorded(spec.suppression.unsafe_fixed_seed)
for name, *arguments in json.load(open(runs)):
    try:
        app(arguments)
    except SystemExit as end:
        print("EXIT", name, end.code)
with open(drawn, "w") as file:
    json.dump(Recorded.numbers, file)
"""

SPEC = """
version: 1
dataset: people
input: {path: people.parquet}
columns:
  identifiers: [person, phone]
  quasi_identifiers:
    number: numeric
    amount: numeric
    price: numeric
    born: date
    seen: timestamp
    town: categorical
    school: {hierarchy: schools.csv}
  sensitive: illness
  publish_as_is: [note]
  may_single_out: [note]
privacy: {k_anonymity: 5}
composition: {earlier: accept}
"""


def people(rng: np.random.Generator) -> pd.DataFrame:
    share = np.array([8, 6, 1, 1, 1, 1, 1, 1]) / 20
    day = dt.datetime(1848, 2, 3)
    return pd.DataFrame(
        {
            "person": [f"CANARYPERSON{i:05d}" for i in range(ROWS)],
            "phone": 7_777_700_000 + np.arange(ROWS),
            "number": 987_650_000 + rng.integers(0, 9_000, ROWS),
            "amount": 43_215_000 + rng.integers(0, 4_000_000, ROWS) / 1000,
            "price": [Decimal(f"555.444{d}") for d in rng.integers(10, 99, ROWS)],
            "born": [dt.date(1847, 2, 1) + dt.timedelta(days=7 * int(d)) for d in rng.integers(0, 6, ROWS)],
            "seen": pd.Series(
                [day + dt.timedelta(hours=int(h)) for h in rng.integers(0, 4_000, ROWS)]
            ).astype("datetime64[us]"),
            "town": rng.choice([f"CANARYTOWN{c}" for c in "abcdefghij"], ROWS),
            "school": rng.choice([f"CANARYLEAF{c}" for c in "abcd"], ROWS),
            "illness": rng.choice([f"CANARYILLNESS{i}" for i in range(8)], ROWS, p=share),
            "note": rng.choice(["p", "q"], ROWS),
            "extra": "CANARYPERSON",
        }
    )


def write_input(folder: Path) -> None:
    table = people(np.random.default_rng(3))
    table.to_parquet(folder / "people.parquet")
    leaves = [f"CANARYLEAF{c};CANARYNODE{c in 'ab'};all" for c in "abcd"]
    (folder / "schools.csv").write_text("\n".join(leaves) + "\n")
    (folder / "spec.yaml").write_text(SPEC)
    signatures = [
        {"born": day, "value": illness, "probability": 0.125}
        for day in sorted(set(table["born"]))
        for illness in sorted(set(table["illness"]))
    ]
    pd.DataFrame(signatures).to_parquet(folder / "priors.parquet")
    infinite = table.assign(amount=np.where(table.index == 7, np.inf, table["amount"]))
    infinite.to_parquet(folder / "infinite.parquet")
    whole = (folder / "people.parquet").read_bytes()
    (folder / "damaged.parquet").write_bytes(
        whole[:100] + b"\xff" * (len(whole) // 2) + whole[100 + len(whole) // 2 :]
    )


def commands(folder: Path) -> list[list[str]]:
    """(name, arguments …) of every run; the name ends in the exit code that is expected."""

    def of(name: str, command: str, **changes: object) -> list[str]:
        changes.setdefault("output.path", str(folder / name))
        sets = [part for key, value in changes.items() for part in ("--set", f"{key}={json.dumps(value)}")]
        return [name, command, str(folder / "spec.yaml"), *sets]

    suppression = {"method": "r", "l": 4, "budget": 0.9, "unsafe_fixed_seed": SEED}
    skyline = {"default": [{"l": 1, "k": 2, "m": 1, "c": 0.9}]}
    robust = {
        "r": 1.5,
        "priors": [
            {"attributes": ["town"]},
            {"attributes": ["born"], "path": str(folder / "priors.parquet")},
        ],
    }
    groups = {"group": "group_id", "quasi_identifiers": {"town": {}}, "sensitive": "illness"}
    made = {
        "input": {"path": str(folder / "generalized-0/release/data"), "format": "parquet"},
        "columns": groups,
    }
    return [
        of("generalized-0", "anonymize", **{"suppression": suppression, "output.queries": 10}),
        of("bucketized-0", "anonymize", **{"output.form": "bucketized", "privacy.skyline": skyline}),
        of(
            "robust-0",
            "anonymize",
            **{
                "output.form": "bucketized",
                "partitioner": "art",
                "privacy.robustness": robust,
                "suppression": {"budget": 0.9},
            },
        ),
        of("check-0", "check", **made),
        of("check-4", "check"),
        of(
            "explore-0",
            "explore",
            **made,
            **{
                "privacy": {"skyline": {"default": [{"l": 0, "k": 0, "m": 0, "c": 1}]}},
                "explore": {"max_l": 1, "max_m": 1},
            },
        ),
        of("suppress-0", "suppress", suppression=suppression),
        ["verify-0", "verify", str(folder / "generalized-0")],
        ["report-0", "report", str(folder / "generalized-0")],
        of("infeasible-4", "anonymize", **{"privacy.k_anonymity": ROWS + 1}),
        of("ineligible-4", "anonymize", suppression={"method": "none", "l": 4}),
        of("budget-5", "anonymize", suppression=suppression | {"budget": 0.0001}),
        of("data-3", "anonymize", **{"input.path": str(folder / "infinite.parquet")}),
        of("type-3", "anonymize", **{"columns.quasi_identifiers.town": {"type": "numeric"}}),
        of("damaged-3", "anonymize", **{"input.path": str(folder / "damaged.parquet")}),
    ]


@dataclass(frozen=True)
class Remains:
    """What a process left behind: texts by name, and the folder with its outputs."""

    home: Path
    stdout: str
    quiet: dict[str, str]
    """What nobody needs to read a value in: error stream, logs, event log."""
    keys: list[int]

    def written(self) -> Iterator[tuple[str, str]]:
        """Text files of all outputs."""
        for path in sorted(self.home.glob("*-[0-9]/**/*")):
            if path.suffix in (".json", ".html", ".jsonl"):
                yield str(path.relative_to(self.home)), path.read_text()
