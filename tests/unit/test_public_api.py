"""The public names: all there, all documented, none loaded before it is used."""

from __future__ import annotations

import dataclasses
import inspect
import subprocess
import sys
from importlib.metadata import version

import pytest

import ppdp_spark
from ppdp_spark import DataError, Run, Verdict, VerdictRow


def test_every_public_name_is_there_and_documented():
    for name in ppdp_spark.__all__:
        found = getattr(ppdp_spark, name)
        assert name == "__version__" or inspect.getdoc(found), name
    assert set(ppdp_spark.__all__) <= set(dir(ppdp_spark))


@pytest.mark.parametrize("name", ["Run", "Verdict", "Comparison", "Sweep", "Metrics", "Discovery"])
def test_what_commands_return_is_documented_in_every_member(name):
    members = {
        key: found for key, found in vars(getattr(ppdp_spark, name)).items() if not key.startswith("_")
    }
    told = {key: getattr(found, "__func__", found) for key, found in members.items()}
    public = {
        key: each for key, each in told.items() if inspect.isfunction(each) or isinstance(each, property)
    }
    assert public and [key for key, each in public.items() if not inspect.getdoc(each)] == []


def test_the_map_names_every_public_name():
    told = inspect.getdoc(ppdp_spark) or ""
    assert [name for name in ppdp_spark.__all__ if name not in told and name != "__version__"] == []


def test_the_version_is_that_of_the_package():
    assert ppdp_spark.__version__ == version("ppdp-spark")


def test_the_package_runs_as_a_module():
    done = subprocess.run(
        [sys.executable, "-m", "ppdp_spark", "--help"], capture_output=True, text=True, check=True
    )
    assert "anonymize" in done.stdout and "eligibility" in done.stdout


def judged(status: str, name: str = "k_anonymity") -> VerdictRow:
    return VerdictRow(name, "k = 2", 3.0, 2.0, ">=", 1, int(status == "fail"), status)


@pytest.mark.parametrize(
    ("verdict", "told"),
    [
        (Verdict(()), "Verdict(nothing was demanded)"),
        (Verdict((judged("measured"),)), "Verdict(nothing was demanded)"),
        (Verdict((judged("pass"), judged("measured"))), "Verdict(PASS, 1 criterion)"),
        (Verdict((judged("pass"), judged("pass"))), "Verdict(PASS, 2 criteria)"),
        (Verdict((judged("pass"),), False), "Verdict(PASS, 1 criterion, not for publication)"),
        (Verdict((judged("pass"), judged("fail", "files"))), "Verdict(FAIL: files)"),
    ],
)
def test_a_verdict_in_one_line_counts_only_what_was_demanded(verdict, told):
    assert repr(verdict) == told
    assert repr(Run(verdict, {"command": "check", "dataset": "a\x1b"})) == f"Run(check a\\x1b: {told[8:-1]})"


def test_a_command_that_publishes_nothing_has_no_metrics_of_a_release():
    for summary in ({}, {"metrics": {"gcp": 0.5}}):
        with pytest.raises(DataError, match="`plan` measures no release"):
            _ = Run(Verdict(()), {"command": "plan", **summary}).metrics


def test_frames_keep_the_columns_of_an_empty_verdict():
    assert list(Verdict(()).to_pandas().columns) == [field.name for field in dataclasses.fields(VerdictRow)]
