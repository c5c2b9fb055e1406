"""Unmistakable values are planted in every kind of column; then everything a run leaves behind is searched.

One real process runs all commands, and runs that fail, with Spark's event log and logs of level INFO on.
What may be where:

    identifiers            the input, and `private/kept`, which is raw microdata for the owner; nowhere else
    quasi-identifiers      there and in the published tables, where categories may stand as nodes of their
                           hierarchy; in no log, message, plan, event, manifest, verdict, summary or report
    ranges, cut points     as quasi-identifiers: they are values of rows
    sensitive values       the published tables; by name, with counts, in what the owner reads: the output of
                           a command, verdict, summary and report in `private/`; in no log, plan or manifest
    seed and secret key    nowhere
    suppressed by value    `private/`, by rank; in no manifest and no log
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from pyspark.find_spark_home import _find_spark_home

from support.releases import run

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

ROWS = 2_000
SEED = 6_021_023_140_857_001

IDENTIFIERS = re.compile(r"CANARYPERSON|77777\d{5}")
QUASI_IDENTIFIERS = re.compile(
    "|".join(
        [
            r"CANARYTOWN|CANARYLEAF",
            r"98765\d{4}",  # numbers
            r"4\.?321[5-9]\d{3}",  # floats, also as 4.3215678E7
            r"555\.?444[1-9]\.?\d",  # decimals, also unscaled
            r"1847-\d\d-\d\d|(?<![\d.-])-44[5-9]\d\d(?!\d)",  # dates, also as days
            r"1848-\d\d-\d\d|(?<!\d)-38[2-4]\d{13}(?!\d)",  # timestamps, also as microseconds
        ]
    )
)
CUTS = re.compile(r"q\d+#\d+L? <= -?\d")
SENSITIVE = re.compile(r"CANARYILLNESS")
NODES = re.compile(r"CANARYNODE")
# Times that Spark measures: nanoseconds look like a planted number now and then.
MEASURED = re.compile(
    r'"(?:internal\.metrics\.\w+|[\w ]* time[\w ]*)"(?:,"(?:Update|Value)":"?\d+"?)+'
    r'|"[\w ]+ Time":\d+|Code generated in [\d.]+ ms'
)

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

LOG4J = """
rootLogger.level = info
rootLogger.appenderRef.file.ref = file
appender.file.type = File
appender.file.name = file
appender.file.fileName = {file}
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %p %c: %m%n%ex
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
privacy: {k_anonymity: 5}
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


@pytest.fixture(scope="module")
def remains(tmp_path_factory) -> Remains:
    home, logs = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("logs")
    write_input(home)
    (logs / "driver.py").write_text(DRIVER)
    (logs / "runs.json").write_text(json.dumps(commands(home)))
    (logs / "log4j2.properties").write_text(LOG4J.format(file=logs / "spark.log"))
    (logs / "events").mkdir()
    java = ["-XX:TieredStopAtLevel=1", "-Xss8m", f"-Dlog4j2.configurationFile={logs / 'log4j2.properties'}"]
    settings = {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": (logs / "events").as_uri(),
        "spark.eventLog.compress": "false",
        "spark.eventLog.rolling.enabled": "false",
        "spark.eventLog.logBlockUpdates.enabled": "true",
        "spark.ui.enabled": "false",
        "spark.driver.memory": "2g",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.extraJavaOptions": " ".join(java),
    }
    options = [part for key, value in settings.items() for part in ("--conf", f"{key}={value}")]
    command = [Path(_find_spark_home()) / "bin/spark-submit", "--master", "local[2]"]
    command += [*options, logs / "driver.py"]
    done = run([*command, logs / "python.log", logs / "drawn.json", logs / "runs.json"], cwd=logs)
    assert done.returncode == 0, done.stderr[-3000:]
    events = "".join(path.read_text() for path in (logs / "events").iterdir())
    quiet = {"stderr": done.stderr, "events": events}
    quiet |= {name: (logs / name).read_text() for name in ("spark.log", "python.log")}
    return Remains(home, done.stdout, quiet, json.loads((logs / "drawn.json").read_text()))


def around(pattern: re.Pattern[str], text: str) -> list[str]:
    """Where a pattern is found, with what stands around it."""
    return [text[max(0, m.start() - 150) : m.end() + 60] for m in pattern.finditer(text)][:3]


def test_every_run_ends_as_meant(remains):
    ended = re.findall(r"^EXIT (\S+-(\d)) (\d)$", remains.stdout, re.MULTILINE)
    assert [name for name, _, _ in ended] == [name for name, *_ in commands(remains.home)]
    assert [name for name, meant, code in ended if meant != code] == []
    assert "Traceback" not in remains.quiet["stderr"]


def test_logs_are_logs(remains):
    """The search below would find something if there were something."""
    assert "physicalPlanDescription" in remains.quiet["events"] and "q0" in remains.quiet["events"]
    assert "INFO org.apache.spark" in remains.quiet["spark.log"]
    assert "ppdp_spark" in remains.quiet["python.log"]


@pytest.mark.parametrize("place", ["stderr", "events", "spark.log", "python.log"])
@pytest.mark.parametrize(
    "kind", [IDENTIFIERS, QUASI_IDENTIFIERS, CUTS, SENSITIVE, NODES], ids=lambda p: p.pattern[:14]
)
def test_no_value_in_logs_messages_and_plans(remains, place, kind):
    assert around(kind, MEASURED.sub("", remains.quiet[place])) == []


def test_what_the_owner_reads_has_aggregates_only(remains):
    texts = {"stdout": remains.stdout, **dict(remains.written())}
    assert sum(name.endswith("report.html") for name in texts) >= 8
    assert any(SENSITIVE.search(text) for text in texts.values()), "sensitive values are named to the owner"
    for name, text in texts.items():
        for kind in (IDENTIFIERS, QUASI_IDENTIFIERS, NODES):
            assert around(kind, text) == [], name


def test_a_release_has_no_identifier_and_its_manifest_no_value(remains):
    releases = sorted(remains.home.glob("*/release"))
    assert [release.parent.name for release in releases] == ["bucketized-0", "generalized-0", "robust-0"]
    for release in releases:
        manifest = (release / "release.json").read_text()
        for kind in (IDENTIFIERS, QUASI_IDENTIFIERS, SENSITIVE, NODES):
            assert around(kind, manifest) == []
        for file in release.rglob("*.parquet"):
            table = pq.read_table(file)
            assert not IDENTIFIERS.search(str(table.to_pydict())) and "extra" not in table.column_names
            assert not IDENTIFIERS.search(file.read_bytes().decode("latin-1"))
        assert {path.suffix for path in release.rglob("*") if path.is_file()} == {".parquet", ".json"}


def test_the_seed_and_the_key_are_nowhere(remains):
    large = {number for number in remains.keys if number > 2**40}
    assert len(large) >= 2, "the key was drawn"
    secrets = {SEED, *large, *(number - 2**63 for number in large)}
    forms = [form for x in secrets for form in (str(x), f"{abs(x):x}", f"{x & (2**64 - 1):x}")]
    packed = [x.to_bytes(8, order, signed=x < 0) for x in secrets for order in ("little", "big")]
    texts = {"stdout": remains.stdout, **remains.quiet, **dict(remains.written())}
    assert [(name, form) for name, text in texts.items() for form in forms if form in text.lower()] == []
    for file in remains.home.glob("*-[0-9]/**/*.parquet"):
        content = file.read_bytes()
        assert not any(form in content for form in packed)


def test_suppressed_rows_by_value_are_private(remains):
    before = pd.read_parquet(remains.home / "people.parquet")["illness"].value_counts()
    after = pd.read_parquet(remains.home / "generalized-0/release/data")["illness"].value_counts()
    removed = (before - after.reindex(before.index, fill_value=0)).loc[lambda gone: gone > 0]
    assert len(removed) >= 2, "several values lose rows, so that none of them is the public total"
    manifest = json.loads((remains.home / "generalized-0/release/release.json").read_text())
    assert set(manifest["suppression"]) == {"method", "l", "total"}
    numbers = set(re.findall(r"\d+", json.dumps({k: v for k, v in manifest.items() if k != "files"})))
    told = re.sub(r"\d+\.\d+ s", "", remains.quiet["python.log"] + remains.quiet["stderr"]).replace(",", "")
    for gone in map(str, removed):
        assert gone not in numbers and not re.search(rf"(?<!\d){gone} rows", told)


def test_nothing_is_left_of_scratch(remains):
    left = [path.name for path in remains.home.glob("*/.*") if not path.name.startswith(".claim")]
    assert left == []
