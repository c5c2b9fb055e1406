"""Our own releases without a spec: `check`, `explore` and `attack` on the folder of a run."""

from __future__ import annotations

import json
import shutil
from contextlib import contextmanager

import pandas as pd
import pytest
from typer.testing import CliRunner

import ppdp_spark.cli.console as console
from ppdp_spark import DataError, anonymize, check, explore
from ppdp_spark.cli.app import app

JOBS = ("Nurse", "Nurse", "Nurse", "Clerk", "Smith", "Cook", "Judge")
PEOPLE = pd.DataFrame(
    {
        "age": [20 + i % 40 for i in range(240)],
        "city": [("Bern", "Basel", "Chur")[i % 3] for i in range(240)],
        "job": [JOBS[(i * i + i // 7) % 7] for i in range(240)],
        "wage": [10 * (i % 5) for i in range(240)],
    }
)


@pytest.fixture(scope="module")
def home(spark, tmp_path_factory):
    """A generalized and a bucketized release, and one of two sensitive attributes."""
    folder = tmp_path_factory.mktemp("releases")
    (folder / "city.csv").write_text("Bern,west,*\nBasel,west,*\nChur,east,*\n")
    columns = {
        "quasi_identifiers": {
            "age": "numeric",
            "city": {"type": "categorical", "hierarchy": str(folder / "city.csv")},
        },
        "sensitive": "job",
    }
    made = {
        "generalized": (columns, "generalized"),
        "bucketized": (columns, "bucketized"),
        "two": ({**columns, "sensitive": ["job", "wage"]}, "generalized"),
    }
    for name, (of_table, form) in made.items():
        spec = {
            "version": 1,
            "dataset": name,
            "columns": of_table,
            "privacy": {"k_anonymity": 8},
            "output": {"path": str(folder / name), "form": form},
        }
        assert anonymize(spec, table=PEOPLE, spark=spark).ok
    PEOPLE.to_parquet(folder / "people.parquet")
    return folder


@pytest.fixture
def ppdp(spark, monkeypatch):
    """The command line in this process, on the session of the tests."""

    @contextmanager
    def session(master):
        yield spark

    monkeypatch.setattr(console, "session", session)
    monkeypatch.setenv("COLUMNS", "80")
    return lambda *args: CliRunner().invoke(app, list(map(str, args)), prog_name="ppdp")


def counts_by_group(home, name):
    """Values by group, read from the files alone."""
    data = home / name / "release/data"
    if name == "bucketized":
        table = pd.read_parquet(data / "sensitive")
        return table.pivot_table(index="group_id", columns="job", values="count", fill_value=0)
    table = pd.read_parquet(data)
    return pd.crosstab(table["group_id"], table["job"])


@pytest.mark.parametrize("form", ["generalized", "bucketized"])
def test_check_judges_what_was_promised_and_measures_the_rest(home, ppdp, form):
    done = ppdp("check", home / form)
    assert done.exit_code == 0, done.output
    assert "PASS · check" in done.output
    verdict = json.loads((home / form / "private/check/verdict.json").read_text())
    rows = {(row["criterion"], row["status"]): row for row in verdict["criteria"]}
    counts = counts_by_group(home, form)
    assert rows["k_anonymity", "pass"]["value"] == counts.sum(axis=1).min()
    assert rows["distinct_l_diversity", "measured"]["value"] == (counts > 0).sum(axis=1).min()
    assert rows["files", "pass"]["violations"] == 0


@pytest.mark.parametrize("form", ["generalized", "bucketized"])
def test_explore_looks_at_the_release_and_shows_no_pass(home, ppdp, form):
    done = ppdp("explore", home / form, "--set", "explore.confidence=[0.2, 0.9]")
    assert done.exit_code == 0, done.output
    assert "EXPLORED · explore" in done.output and "PASS" not in done.output
    page = (home / form / "private/explore/report.html").read_text()
    assert "EXPLORED</strong>" in page and "PASS" not in page and len(page) < 300_000
    summary = json.loads((home / form / "private/explore/summary.json").read_text())
    counts = counts_by_group(home, form)
    shares = counts.div(counts.sum(axis=1), axis=0)
    for skyline in summary["knowledge"]:
        sure = shares[skyline["value"]].max() >= skyline["c"]
        assert (skyline["start"] is not None) == sure
        if sure:
            group = skyline["start"]["group"]
            assert counts.loc[group, skyline["value"]] == skyline["start"]["group_occurrences"]
    told = " ".join(done.output.split())
    assert "Somebody who knows nothing but the groups is already 20 % sure of “Nurse”, or more." in told


def test_exploring_the_table_says_so(home, ppdp):
    spec = home / "table.yaml"
    spec.write_text(
        f"version: 1\ndataset: people\ninput: {{path: {home}/people.parquet}}\n"
        "columns: {quasi_identifiers: {age: numeric, city: categorical}, sensitive: job}\n"
    )
    done = ppdp("explore", spec, "--set", "explore.values=[Nurse]")
    assert done.exit_code == 0, done.output
    assert "warning: this looked at the table itself" in done.stderr and "ppdp explore OUTPUT" in done.stderr


@pytest.mark.parametrize("form", ["generalized", "bucketized"])
def test_attack_needs_no_spec(home, ppdp, form):
    done = ppdp("attack", home / form)
    assert done.exit_code == 0, done.output
    assert "MEASURED · attack" in done.output and "PASS" not in done.output
    counts = counts_by_group(home, form)
    verdict = json.loads((home / form / "private/attack/verdict.json").read_text())
    largest = counts.div(counts.sum(axis=1), axis=0).max().max()
    assert verdict["criteria"][0]["value"] == pytest.approx(largest)
    closed = ppdp("attack", home / form, "--set", "attack.threshold=0.1", "--quiet")
    assert closed.exit_code == 4


def test_an_external_table_needs_no_spec_either(home, ppdp):
    """The hierarchy is that of the owner's spec; the exit codes are those of the documentation."""
    people = ("--set", f"attack.external={{path: {home}/people.parquet}}")
    share = (PEOPLE["job"][PEOPLE["city"] == "Chur"] == "Nurse").mean()
    stated = f"attack.knowledge=[{{given: {{city: Chur}}, value: Nurse, probability: {share}}}]"
    true = ppdp("attack", home / "generalized", *people, "--set", stated)
    assert true.exit_code == 0, true.output
    false = ppdp("attack", home / "generalized", *people, "--set", stated.replace(str(share), "0.97"))
    assert false.exit_code == 3 and "is possible" in false.stderr, false.output
    unknown = ppdp("attack", home / "generalized", *people, "--set", stated.replace("Nurse", "Nurce"))
    assert unknown.exit_code == 2 and "`Nurce`" in unknown.stderr


def test_of_several_attributes_one_is_named(home, ppdp):
    for command in ("explore", "attack"):
        done = ppdp(command, home / "two")
        assert done.exit_code == 2 and f"{command}.sensitive" in done.stderr, done.output
        named = ppdp(command, home / "two", "--set", f"{command}.sensitive=job")
        assert named.exit_code == 0, named.output
    assert ppdp("check", home / "two").exit_code == 0


def test_a_release_that_came_alone_is_enough(home, spark, tmp_path):
    """Nobody but the owner has `private`: columns are then what the manifest says, and nothing is written."""
    shutil.copytree(home / "generalized/release", tmp_path / "received")
    run = check(tmp_path / "received", spark=spark)
    assert run.ok and run.paths == {} and not (tmp_path / "private").exists()
    found = explore(str(tmp_path / "received"), spark=spark)
    assert found.summary["release"]["form"] == "generalized"


def test_what_a_release_says_of_itself_cannot_be_changed(home, ppdp):
    done = ppdp("check", home / "generalized", "--set", "columns.sensitive=city")
    assert done.exit_code == 2 and "this is what the release says of itself" in done.stderr
    with pytest.raises(DataError, match=r"holds no release of ours: release\.json is not there"):
        check(home)
    assert ppdp("check", home).exit_code == 3
