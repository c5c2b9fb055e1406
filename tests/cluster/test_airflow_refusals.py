"""Runs of the DAG on the real Airflow 3 that publish nothing: unsafe tables, wrong specs, failed verdicts."""

from __future__ import annotations

import json

import pytest

from support.dag_runs import AGAIN, conf_of, dags_test, only_folder
from support.released.releases import write_people

pytestmark = pytest.mark.airflow


@pytest.mark.parametrize(
    ("privacy", "stopped", "date"),
    [
        ("{k_anonymity: 5_000}", "eligibility: a privacy check fails", "2026-02-01"),
        ("{k_anonymity: 1}", "eligibility: the spec is wrong", "2026-02-02"),
    ],
)
def test_an_unsafe_table_is_not_published(airflow, tmp_path, privacy, stopped, date):
    done = dags_test(airflow, date, conf_of(write_people(tmp_path, privacy=privacy), tmp_path))
    said = done.stdout + done.stderr
    assert done.returncode != 0 and stopped in said, said[-3000:]
    assert not (tmp_path / "public").exists() and "CANARY" not in said
    assert not (only_folder(tmp_path / "staging") / "release").exists()


def test_a_verdict_that_fails_stops_the_publication(airflow, tmp_path):
    """R-suppression over its budget: only `anonymize` can tell, and its verdict is final for the run."""
    spec = write_people(tmp_path)
    spec.write_text(spec.read_text() + "suppression: {method: r, l: 8, budget: 0.0}\n")
    done = dags_test(airflow, "2026-03-01", conf_of(spec, tmp_path))
    said = done.stdout + done.stderr
    assert done.returncode != 0 and "anonymize: the suppression budget is exceeded" in said, said[-3000:]
    assert not (tmp_path / "public").exists()
    staged = only_folder(tmp_path / "staging")
    assert json.loads((staged / "private/verdict.json").read_text())["status"] == "fail"
    began = json.loads((staged / "run.json").read_text())["run_id"].removeprefix("manual__")
    again = airflow("python", "-c", AGAIN, began, "2026-03-01", conf_of(spec, tmp_path))
    assert "ended failed" in again.stdout
    assert "the verdict does not allow publication" in again.stdout + again.stderr
    assert not (tmp_path / "public").exists()
