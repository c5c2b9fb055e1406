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

import json
import re
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest
from pyspark.find_spark_home import _find_spark_home

from support.released.canaries import DRIVER, SEED, Remains, commands, write_input
from support.released.releases import run

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

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

# Every planted number is above 1: the digits of a share, such as 0.643219328, are nobody's amount.
SHARES = re.compile(r"(?<![\d.])0\.\d+")

LOG4J = """
rootLogger.level = info
rootLogger.appenderRef.file.ref = file
appender.file.type = File
appender.file.name = file
appender.file.fileName = {file}
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %p %c: %m%n%ex
"""


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
            assert around(kind, SHARES.sub("", text)) == [], name


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
