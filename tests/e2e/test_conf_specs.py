"""Every spec in `conf/` does what it says, on a small census and on a table made elsewhere."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest

from ppdp_spark import ReleaseSpec, anonymize, attack, check, explore, plan
from ppdp_spark.commands.generate import generate
from support.places import ROOT

RELEASES = ("k10", "diverse", "skyline", "robust", "skewed", "blind", "two-secrets")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def census(spark, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("conf") / "census.parquet"
    generate(spark, str(path), rows=5_000, seed=1, shape="parquet", overwrite=False)
    return path


def spec(name: str, folder: Path, table: Path, *more: str) -> ReleaseSpec:
    changes = [f"input.path={table}", f"output.path={folder / name}", *more]
    return ReleaseSpec.load(ROOT / "conf" / f"{name}.yaml", changes)


def test_every_spec_is_run_here():
    others = {"census-attack", "check-others"}
    assert {path.stem for path in (ROOT / "conf").glob("*.yaml")} == {
        f"census-{n}" for n in RELEASES
    } | others


@pytest.mark.parametrize("name", RELEASES)
def test_a_release_passes_and_loses_no_more_than_it_may(spark, tmp_path, census, name):
    wanted = spec(f"census-{name}", tmp_path, census)
    run = anonymize(wanted, spark=spark)
    assert run.ok and run.summary["release"]["groups"] > 20
    assert run.summary["release"]["suppressed"]["rate"] <= wanted.suppression.budget
    demanded = {row.criterion for row in run.verdict.rows if row.threshold is not None}
    assert len(demanded) >= 2


def test_the_plan_of_blind_groups_tells_the_chance(spark, tmp_path, census):
    found = plan(spec("census-blind", tmp_path, census), spark=spark)
    assert found.summary["blind"]["least_size"] == 60 and found.summary["blind"]["chance"] > 0.5


def test_the_attack_knows_more_with_every_step(spark, tmp_path, census):
    out = tmp_path / "census-diverse"
    anonymize(spec("census-diverse", tmp_path, census), spark=spark)
    changes = [f"attack.release={out}", f"attack.original={census}"]
    found = attack(spec("census-attack", tmp_path, census, *changes), spark=spark)
    steps = [step["max_posterior"] for step in found.summary["attack"]["steps"]]
    assert len(steps) == 3 and steps == sorted(steps)


def test_a_table_made_elsewhere_is_checked_and_explored(spark, tmp_path, census):
    people = pq.read_table(census).select(["age", "sex", "education", "occupation"]).to_pandas()
    people["age"] = (people["age"] // 30 * 30).map(lambda low: f"{low}-{low + 29}")
    people["education"] = "*"
    table = tmp_path / "made-elsewhere.csv"
    pc.write_csv(pa.Table.from_pandas(people, preserve_index=False), table)
    smallest = int(people.groupby(["age", "sex"]).size().min())
    judged = check(spec("check-others", tmp_path, table), spark=spark)
    (row,) = [row for row in judged.verdict.rows if row.criterion == "k_anonymity"]
    assert row.value == smallest and (row.status == "pass") == (smallest >= 5)
    told = explore(spec("check-others", tmp_path, table), spark=spark)
    assert {found["c"] for found in told.summary["knowledge"]} == {0.5, 0.9}
