"""What weights say of the population is called an estimate, wherever it is said."""

from __future__ import annotations

from ppdp_spark.core.criteria import EstimatedPopulation
from ppdp_spark.core.criteria.base import VerdictRow
from ppdp_spark.report import render
from ppdp_spark.report.sentences.criteria import guarantees

SUMMARY = {"command": "anonymize", "release": {"form": "generalized"}, "sensitive": {"column": "ill"}}
CRITERION = EstimatedPopulation(100)


def row(value, status, **witness):
    return VerdictRow(
        CRITERION.name, CRITERION.level, value, CRITERION.threshold, CRITERION.relation, 9,
        int(status == "fail"), status, witness, CRITERION.parameters,
    ).to_dict()  # fmt: skip


def told(value, status, **witness):
    (guarantee,) = guarantees(SUMMARY, {"criteria": [row(value, status, **witness)]})
    return guarantee


def test_an_estimate_is_called_one():
    kept = told(120.5, "pass")
    assert kept.title.startswith("an estimate, no guarantee") and kept.claim.startswith("Estimated")
    assert "at least 100 people of the population. How many there are is not known." in kept.claim
    assert "does not know whether the person is in the table" in kept.holds and "estimated" in kept.margin
    broken = told(3.0, "fail")
    assert broken.claim.startswith("Not met") and "1 of 9 groups stand for fewer than 100" in broken.claim
    unknown = told(None, "fail", reason="the owner's table of weights is not there")
    assert unknown.claim.startswith("Not met: the owner's table of weights is not there")
    assert "estimated by weights" in CRITERION.level


def test_weights_in_the_report():
    """Weighted figures stand beside the others, each called what it is."""
    error = {"number": 6, "median": 0.125, "mean": 0.25, "floor": 7.5}
    error["table"] = [{"dimension": 1, "selectivity": 0.1, "queries": 6, "median": 0.125, "mean": 0.25}]
    metrics = {"ncp": {"age": 0.5}, "gcp": 0.5, "queries": {**error, "floor": 1.0}}
    metrics["weighted"] = {"population": 4321.5, "ncp": {"age": 0.375}, "gcp": 0.375, "queries": error}
    weights = {"column": "w", "below_one": 0, "input": 5000.0, "published": 4321.5, "suppressed": 678.5}
    release = {"form": "generalized", "rows": 9, "groups": 2, "weights": {**weights, "rate": 0.1357}}
    summary = {**SUMMARY, "run_id": "r", "dataset": "d", "release": release, "metrics": metrics}
    page = render(summary, {"status": "pass", "publishable": True, "criteria": [row(120.5, "pass")]})
    for text in ("GCP, weighted", "NCP, weighted", "4,321.5", "0.375", "people of the population, estimated"):
        assert text in page
    assert "Query error in the population" in page and "multiplies counts by the mean weight" in page
    plain = {key: held for key, held in metrics.items() if key != "weighted"}
    page = render({**summary, "release": {"form": "generalized"}, "metrics": plain}, {"criteria": []})
    assert "weighted" not in page and "Query error in the population" not in page
