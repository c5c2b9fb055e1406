"""`compare` reads summaries and verdicts and nothing else; `sweep` plans its variants before Spark starts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ppdp_spark.cli.app import app
from ppdp_spark.commands.compare import compare
from ppdp_spark.commands.sweep import MOST_VARIANTS, plan
from ppdp_spark.errors import DataError, SpecError
from support.report import examples

SPEC = """
version: 1
dataset: people
input: {path: people.csv}
columns: {quasi_identifiers: {age: numeric}, sensitive: job}
privacy: {k_anonymity: 5}
output: {path: OUT}
"""


def output(folder: Path, *, run_id: str = "r1", verdict_id: str | None = None) -> Path:
    private = folder / "private"
    private.mkdir(parents=True)
    summary = {**examples.passing_summary(), "run_id": run_id}
    verdict = {"run_id": verdict_id or run_id, **examples.passing_verdict()}
    (private / "summary.json").write_text(json.dumps(summary))
    (private / "verdict.json").write_text(json.dumps(verdict))
    return folder


def test_runs_are_named_by_their_folders(tmp_path):
    found = compare([output(tmp_path / "a"), output(tmp_path / "b")])
    assert [run.name for run in found.runs] == ["a", "b"]
    one, other = output(tmp_path / "x/out"), output(tmp_path / "y/out")
    assert [run.name for run in compare([one, other]).runs] == [str(one), str(other)]
    assert compare([tmp_path / "a/private"]).runs[0].summary["run_id"] == "r1"


def test_every_folder_without_a_run_is_named(tmp_path):
    good = output(tmp_path / "good")
    (tmp_path / "empty").mkdir()
    half = output(tmp_path / "half")
    (half / "private/verdict.json").unlink()
    torn = output(tmp_path / "torn", verdict_id="r2")
    broken = output(tmp_path / "broken")
    (broken / "private/summary.json").write_text("{")
    missing = [tmp_path / "nowhere", tmp_path / "empty", half, torn, broken]
    with pytest.raises(DataError) as caught:
        compare([good, *missing])
    assert len(caught.value.problems) == 5
    for folder, problem in zip(missing, caught.value.problems, strict=True):
        assert str(folder) in problem
    assert "summary.json" in caught.value.problems[1] and "verdict.json" in caught.value.problems[2]
    with pytest.raises(SpecError):
        compare([])


def test_the_command_writes_a_page_and_clean_json(tmp_path):
    folders = [str(output(tmp_path / name)) for name in ("a", "b")]
    page = tmp_path / "compare.html"
    done = CliRunner().invoke(app, ["compare", *folders, "--output", str(page), "--json"])
    assert done.exit_code == 0 and json.loads(done.stdout)["runs"] == ["a", "b"]
    assert page.read_text().startswith("<!DOCTYPE html>") and page.stat().st_mode & 0o077 == 0
    told = CliRunner().invoke(app, ["compare", *folders, "--output", str(page)])
    assert told.exit_code == 0 and "Guarantees" in told.stdout and str(page) in told.stdout.replace("\n", "")
    assert CliRunner().invoke(app, ["compare", *folders, "--output", str(page), "--quiet"]).stdout == ""
    wrong = CliRunner().invoke(app, ["compare", str(tmp_path / "nowhere"), "--output", str(page)])
    assert wrong.exit_code == 3 and "nowhere" in wrong.stderr and "Traceback" not in wrong.stderr
    lost = CliRunner().invoke(app, ["compare", *folders, "--output", str(tmp_path / "no/where.html")])
    assert lost.exit_code == 2 and "does not exist" in lost.stderr


@pytest.fixture
def spec(tmp_path) -> Path:
    path = tmp_path / "spec.yaml"
    path.write_text(SPEC.replace("OUT", json.dumps(str(tmp_path / "it's, out"))))
    return path


def test_a_grid_of_variants_each_in_its_own_folder(spec, tmp_path):
    over = ["privacy.k_anonymity=5,10, 50", "output.form=generalized,bucketized"]
    folder, variants = plan(spec, over)
    assert str(folder) == str(tmp_path / "it's, out/sweep") and len(variants) == 6
    assert variants[1].name == "k_anonymity-5_form-bucketized"
    assert variants[1].changes == {"privacy.k_anonymity": 5, "output.form": "bucketized"}
    for variant in variants:
        assert variant.spec.privacy.k_anonymity == variant.changes["privacy.k_anonymity"]
        assert variant.spec.output.form == variant.changes["output.form"]
        assert variant.spec.output.path == f"{folder}/{variant.name}"
        assert variant.spec.output.overwrite and variant.spec.output.queries == 1000
    assert len({variant.name for variant in variants}) == 6


def test_queries_are_those_of_the_spec_if_it_says_so(spec):
    over = ["privacy.k_anonymity=5"]
    assert plan(spec, over, ["output.queries=77"])[1][0].spec.output.queries == 77
    assert plan(spec, over, queries=0)[1][0].spec.output.queries == 0


def test_values_with_commas_stay_whole(spec):
    points = "[{l: 1, k: 2, m: 0, c: 0.5}]"
    over = [f"privacy.skyline.default={points},[{{l: 3, k: 2, m: 0, c: 0.5}}]"]
    _, variants = plan(spec, over)
    assert [v.spec.privacy.skyline.default[0].l for v in variants] == [1, 3]
    assert len({v.name for v in variants}) == 2 and all("/" not in v.name for v in variants)
    named = plan(spec, ['privacy.skyline.values."a.b, c"=' + points])[1]
    assert list(named[0].spec.privacy.skyline.values) == ["a.b, c"]


@pytest.mark.parametrize(
    ("over", "said"),
    [
        ([], "is missing"),
        (["privacy.k_anonymity"], "must be FIELD=VALUE"),
        (["privacy.k_anonymity="], "must be FIELD=VALUE"),
        (["privacy.k_anonymity=5,,6"], "must be FIELD=VALUE"),
        (["=5"], "must be FIELD=VALUE"),
        (["output.path=a,b"], "cannot be varied"),
        (["output={path: a}"], "cannot be varied"),
        (["privacy.k_anonymity=5", "privacy.k_anonymity=6"], "given twice"),
        (["privacy.k_anonymity=" + ",".join(map(str, range(2, MOST_VARIANTS + 3)))], "too many"),
        (["privacy.k_anonymity=5,1"], "must be at least 2"),
        (["privacy.k_anonimity=5"], "did you mean"),
    ],
)
def test_mistakes_are_found_before_anything_runs(spec, over, said):
    with pytest.raises(SpecError, match=said):
        plan(spec, over)


def test_problems_of_several_variants_are_told_once(spec):
    with pytest.raises(SpecError) as caught:
        plan(spec, ["privacy.k_anonymity=1,0,5", "output.form=generalized,wrong"])
    assert len(caught.value.problems) == len(set(caught.value.problems)) == 3


def test_what_the_spec_lacks_may_be_what_is_varied(spec):
    over = ["suppression.l=2,3", "privacy.k_anonymity=5"]
    _, variants = plan(spec, over, ["suppression.method=r", "privacy=null"])
    assert [variant.spec.suppression.l for variant in variants] == [2, 3]


def test_without_an_output_there_is_no_place_for_variants(spec):
    with pytest.raises(SpecError, match=r"output\.path"):
        plan(spec, ["privacy.k_anonymity=5"], ["output.path=null"])
