"""Whole runs on real stores: the release of a local disk to the letter, verified and attacked there."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest

from ppdp_spark import ReleaseSpec, anonymize, attack, check, compare, compose, explore, suppress, verify
from ppdp_spark.errors import DataError
from ppdp_spark.run.storage import DATA, MANIFEST, PRIVATE, RELEASE, Folder, copy_file

pytestmark = pytest.mark.stores

ROWS = 600
QUASI = {"age": {}, "born": {}, "city": {"hierarchy": "cities.csv"}}
FORMS: dict[str, dict[str, Any]] = {
    "generalized": {
        "columns": {"quasi_identifiers": QUASI, "sensitive": "job", "publish_as_is": ["seen"]},
        "privacy": {"k_anonymity": 4},
        "output": {},
    },
    "bucketized": {
        "columns": {"quasi_identifiers": QUASI, "sensitive": "job"},
        "privacy": {
            "l_diversity": {"kind": "distinct", "l": 3},
            "robustness": {"r": 2, "priors": [{"attributes": ["city"]}]},
        },
        "output": {"form": "bucketized"},
    },
    "two-attributes": {
        "columns": {"quasi_identifiers": QUASI, "sensitive": ["job", "ill"]},
        "privacy": {"l_diversity": {"kind": "distinct", "l": 2}},
        "output": {"form": "bucketized"},
    },
}


def people() -> pa.Table:
    rng = random.Random("stores")
    draw = range(ROWS)
    days = pa.array([rng.randrange(0, 20_000) for _ in draw], pa.int32())
    return pa.table(
        {
            "age": pa.array([rng.randrange(18, 90) for _ in draw], pa.int32()),
            "born": days.cast(pa.date32()),
            "city": [rng.choice(["Ulm", "Hof", "Bonn", "Köln"]) for _ in draw],
            "seen": pa.array([rng.choice([0, 10**15 + 1, 3]) for _ in draw], pa.timestamp("us", "UTC")),
            "job": [rng.choice(["clerk", "cook", "nurse", "smith", "tailor"]) for _ in draw],
            "ill": [rng.choice(["flu", "cold", "gout"]) for _ in draw],
        }
    )


@pytest.fixture(scope="module")
def here(tmp_path_factory) -> Path:
    """Input, hierarchy and a spec for each form on the local disk."""
    folder = tmp_path_factory.mktemp("here")
    pq.write_table(people(), folder / "people.parquet", row_group_size=100)
    pc.write_csv(people(), folder / "people.csv")
    (folder / "cities.csv").write_text("Ulm;south\nHof;south\nBonn;west\nKöln;west\n")
    for name, given in FORMS.items():
        spec = {"version": 1, "dataset": name, "input": {"path": "people.parquet"}, **given}
        (folder / f"{name}.yaml").write_text(json.dumps(spec))
    return folder


@pytest.fixture(scope="module")
def local(spark, here) -> Callable[[str], dict[str, Any]]:
    """The manifest of the release of a form on the local disk."""

    @cache
    def made(name: str) -> dict[str, Any]:
        spec = ReleaseSpec.load(here / f"{name}.yaml", [f"output.path={here / 'out' / name}"])
        anonymize(spec, spark=spark)
        manifest: dict[str, Any] = json.loads((here / "out" / name / "release/release.json").read_text())
        return manifest

    return made


def uploaded(here: Path, place: Folder) -> Folder:
    for path in here.iterdir():
        if path.is_file():
            copy_file(Folder.at(path), place.create() / path.name)
    return place


def plain(manifest: dict[str, Any]) -> dict[str, Any]:
    """A manifest without the name of its folder of tables."""
    data = manifest.get("data", DATA)
    files = {name.replace(f"{data}/", "", 1): digest for name, digest in manifest["files"].items()}
    return {**{key: value for key, value in manifest.items() if key != "data"}, "files": files}


@pytest.mark.parametrize(
    "name",
    [
        "generalized",
        *(pytest.param(name, marks=pytest.mark.nightly) for name in ("bucketized", "two-attributes")),
    ],
)
def test_a_release_is_the_same_on_every_store_and_can_be_read_there(spark, here, local, root, name):
    """Spec, input and hierarchy lie on the store, too; in the second run it replaces the first."""
    place = uploaded(here, Folder.at(f"{root}/given"))
    overrides = [f"output.path={root}/out", "output.overwrite=true"]
    spec = ReleaseSpec.load(f"{place}/{name}.yaml", overrides)
    for _ in range(2 if name == "generalized" else 1):
        run = anonymize(spec, spark=spark)
    out = Folder.at(f"{root}/out")
    manifest = (out / RELEASE).read_json(MANIFEST)
    assert plain(manifest) == plain(local(name))
    assert sorted(file for file, _ in (out / RELEASE).files()) == sorted([*manifest["files"], MANIFEST])
    assert out.children() == ["private", "release"]
    verdict = (out / PRIVATE).read_json("verdict.json")
    assert verdict["status"] == "pass" and verdict["manifest"] == (out / RELEASE).digest(MANIFEST)
    judged = verify(f"{root}/out", spark=spark).verdict
    criteria = {row["criterion"] for row in verdict["criteria"]} - {"algorithm_aware"}
    assert judged.ok and criteria and {row.criterion for row in judged.rows} >= criteria
    assert compare([f"{root}/out"]).runs
    shown = run.qi_table if name != "generalized" else run.release
    assert shown.count() == ROWS
    if name == "generalized":
        assert dict(shown.dtypes)["seen"] == "timestamp"
        told = {row.seen for row in shown.select("seen").collect()}
        assert len(told) == len(set(people()["seen"].to_pylist()))


@pytest.mark.nightly
def test_a_release_on_a_store_is_attacked_there(spark, here, root):
    place = uploaded(here, Folder.at(f"{root}/given"))
    spec = ReleaseSpec.load(f"{place}/bucketized.yaml", [f"output.path={root}/out"])
    anonymize(spec, spark=spark)
    asked = [
        f"output.path={root}/out",
        f"attack.release={root}/out",
        f"attack.original={root}/given/people.csv",
    ]
    asked.append("attack.mine={positive: [5], negative: [5]}")
    found = attack(ReleaseSpec.load(f"{place}/bucketized.yaml", asked), spark=spark)
    private = Folder.at(f"{root}/out") / PRIVATE / "attack"
    assert {"posterior", "verdict.json", "report.html"} <= set(private.children())
    files = [file for file, _ in (private / "posterior").files(".parquet")]
    rows = sum(pq.read_table((private / "posterior" / file).arrow_file()).num_rows for file in files)
    assert files and rows > 0 and found.summary["attack"]["steps"]


@pytest.mark.nightly
def test_releases_on_a_store_are_judged_together_and_looked_at(spark, here, root):
    """The second run finds the first in the registry; both are read again where they lie."""
    place = uploaded(here, Folder.at(f"{root}/given"))
    outputs = [f"{root}/out", f"{root}/later"]
    for k, output in zip((4, 9), outputs, strict=True):
        asked = [f"output.path={output}", f"privacy.k_anonymity={k}", "output.bounds=tight"]
        made = anonymize(ReleaseSpec.load(f"{place}/generalized.yaml", asked), spark=spark)
        assert ("composition" in made.summary) == (k == 9)
    hierarchies = {"city": f"{place}/cities.csv"}
    together = compose(outputs, people=f"{place}/people.parquet", hierarchies=hierarchies, spark=spark)
    assert together.summary["composition"]["basis"] == "table"
    assert check(outputs[1], spark=spark).ok
    shown = explore(outputs[1], spark=spark)
    assert shown.summary["knowledge"] and "explore" in (Folder.at(outputs[1]) / PRIVATE).children()


@pytest.mark.nightly
def test_kept_rows_are_written_to_a_store(spark, here, root):
    place = uploaded(here, Folder.at(f"{root}/given"))
    asked = [
        f"output.path={root}/out",
        "input.path=people.csv",
        "input.format=csv",
        "suppression={method: r, l: 4, budget: 0.5}",
    ]
    suppress(ReleaseSpec.load(f"{place}/generalized.yaml", asked), spark=spark)
    kept = Folder.at(f"{root}/out") / PRIVATE / "kept"
    rows = sum(pq.read_table((kept / file).arrow_file()).num_rows for file, _ in kept.files(".parquet"))
    assert 0 < rows <= ROWS and Folder.at(f"{root}/out").children() == ["private"]


@pytest.mark.nightly
def test_a_table_that_was_changed_on_a_store_does_not_verify(spark, here, root):
    place = uploaded(here, Folder.at(f"{root}/given"))
    spec = ReleaseSpec.load(f"{place}/generalized.yaml", [f"output.path={root}/out"])
    anonymize(spec, spark=spark)
    release = Folder.at(f"{root}/out") / RELEASE
    name = next(iter(release.read_json(MANIFEST)["files"]))
    table = pq.read_table((release / name).arrow_file())
    with (release / name).writing() as file:
        pq.write_table(table.slice(0, table.num_rows - 1), file)
    verdict = verify(f"{root}/out", spark=spark).verdict
    assert not verdict.ok and "files" in {row.criterion for row in verdict.failures}


def test_an_input_that_is_not_there_is_told(spark, root):
    given = {
        "version": 1,
        "dataset": "d",
        "input": {"path": f"{root}/none.parquet"},
        "columns": {"quasi_identifiers": {"age": {}}},
        "privacy": {"k_anonymity": 2},
        "output": {"path": f"{root}/out"},
    }
    with pytest.raises(DataError, match=r"none\.parquet"):
        anonymize(given, spark=spark)
    assert Folder.at(f"{root}/out").children() == []
