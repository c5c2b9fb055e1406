"""Releases of a dozen specs, to the letter: what they publish may only change on purpose.

`PPDP_RECORD_DIGESTS=1 pytest tests/spark/test_release_digests.py` records the digests anew; say in the commit
why they changed.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ppdp_spark import ReleaseSpec, anonymize
from ppdp_spark.spark.engine.versions import from_arrow

pytestmark = [pytest.mark.usefixtures("compiled"), pytest.mark.versions]

RECORDED = Path(__file__).parents[1] / "golden" / "release_digests.json"
ROWS = 3_000
JOBS = ["clerk", "cook", "driver", "farmer", "guard", "nurse", "smith", "tailor"]
ILLS = ["asthma", "cold", "diabetes", "flu", "gout", "measles"]
CITIES = [
    ["Ulm", "south"],
    ["Hof", "south"],
    ["Bonn", "west"],
    ["Köln", "west"],
    ["Jena", "east"],
    ["Gera", "east"],
]


def people() -> pa.Table:
    """People with numbers, dates, categories and nulls; a value each, and a list of values each."""
    rng = random.Random("release digests")
    draw = range(ROWS)
    age = [None if rng.random() < 0.02 else min(95, int(rng.expovariate(1 / 38))) for _ in draw]
    income = [None if rng.random() < 0.05 else rng.randrange(8_000, 90_000, 250) + 0.5 for _ in draw]
    return pa.table(
        {
            "id": pa.array(list(draw)),
            "age": pa.array(age, pa.int32()),
            "income": pa.array(income, pa.float64()),
            "born": pa.array([rng.randrange(0, 20_000) for _ in draw], pa.int32()).cast(pa.date32()),
            "sex": pa.array([rng.choice(["f", "m", None]) for _ in draw]),
            "city": pa.array([rng.choice(CITIES)[0] for _ in draw]),
            "region": pa.array([rng.choice(["a", "b"]) for _ in draw]),
            "job": pa.array([JOBS[min(7, int(rng.expovariate(0.45)))] for _ in draw]),
            "rare": pa.array([ILLS[min(5, int(rng.expovariate(1.1)))] for _ in draw]),
            "even": pa.array([rng.choice(JOBS) for _ in draw]),
            "ills": pa.array([rng.sample(ILLS, rng.choice([0, 1, 1, 1, 2])) for _ in draw]),
            "visits": pa.array([[rng.choice(ILLS) for _ in range(rng.choice([0, 1, 1, 2]))] for _ in draw]),
        }
    )


QUASI = {"age": {}, "income": {"weight": 2}, "born": {}, "sex": {}, "city": {"hierarchy": "cities.csv"}}
PRIORS = [{"attributes": ["sex"]}, {"attributes": ["city"]}]
WIDE = {"robustness": {"r": 2, "priors": PRIORS}}
SPECS: dict[str, dict[str, Any]] = {
    "k": {"privacy": {"k_anonymity": 5}},
    "k-by-loss": {"privacy": {"k_anonymity": 5}, "cuts": "loss"},
    "k-on-a-grid": {"privacy": {"k_anonymity": 5}, "bounds": "grid"},
    "k-bucketized": {"privacy": {"k_anonymity": 5}, "form": "bucketized"},
    "nulls-suppressed": {"privacy": {"k_anonymity": 5}, "nulls": "suppress"},
    "kept-columns": {"privacy": {"k_anonymity": 8}, "publish_as_is": ["region"]},
    "diverse": {
        "privacy": {
            "k_anonymity": 4,
            "l_diversity": {"kind": "recursive", "c": 4, "l": 3},
            "t_closeness": {"t": 0.4},
        }
    },
    "alike": {
        "sensitive": "even",
        "privacy": {"beta_likeness": {"beta": 3}, "alpha_k": {"alpha": 0.4, "k": 6}},
    },
    "skyline": {
        "privacy": {
            "skyline": {
                "default": [{"l": 1, "k": 2, "m": 0, "c": 0.8}],
                "values": {"nurse": [{"l": 2, "k": 1, "m": 0, "c": 0.5}]},
            }
        }
    },
    "skyline-coupled": {
        "sensitive": "even",
        "privacy": {"k_anonymity": 3, "skyline": {"default": [{"l": 1, "k": 2, "m": 2, "c": 0.75}]}},
    },
    "skyline-coupled-by-loss": {
        "sensitive": "even",
        "privacy": {"k_anonymity": 3, "skyline": {"default": [{"l": 1, "k": 2, "m": 2, "c": 0.75}]}},
        "cuts": "loss",
    },
    "sets-bucketized": {
        "sensitive": {"column": "ills", "case": "mvpi-set"},
        "privacy": {"k_anonymity": 3, "skyline": {"default": [{"l": 1, "k": 1, "m": 0, "c": 0.8}]}},
        "form": "bucketized",
    },
    "sets-generalized": {
        "sensitive": {"column": "ills", "case": "mvpi-set"},
        "privacy": {"skyline": {"default": [{"l": 0, "k": 1, "m": 0, "c": 0.6}]}},
    },
    "multisets": {
        "sensitive": {"column": "visits", "case": "mvpi-multiset"},
        "privacy": {"skyline": {"default": [{"l": 0, "k": 1, "m": 1, "c": 0.8}]}},
        "form": "bucketized",
    },
    "robust-mondrian": {
        "sensitive": "even",
        "privacy": {"k_anonymity": 3, **WIDE},
        "suppression": {"budget": 0.5},
    },
    "art-joint": {"sensitive": "even", "privacy": WIDE, "partitioner": "art", "suppression": {"budget": 0.5}},
    "art-binary": {
        "sensitive": "even",
        "privacy": {"robustness": {"r": 2, "model": "binary", "priors": PRIORS}},
        "partitioner": "art",
        "suppression": {"budget": 0.5},
        "form": "bucketized",
    },
    "anatomy": {
        "sensitive": "even",
        "privacy": {"l_diversity": {"kind": "distinct", "l": 4}},
        "partitioner": "anatomy",
        "suppression": {"budget": 0.2},
        "form": "bucketized",
    },
    "suppressed": {
        "sensitive": "rare",
        "privacy": {"l_diversity": {"kind": "distinct", "l": 2}},
        "suppression": {"method": "r", "l": 3, "budget": 0.9, "unsafe_fixed_seed": 7},
    },
}


def output_of(given: dict[str, Any]) -> dict[str, str]:
    """The form of a spec; ranges are tight where it does not say otherwise."""
    if given.get("form") == "bucketized":
        return {"form": "bucketized"}
    return {"form": "generalized", "bounds": given.get("bounds", "tight")}


def spec_of(name: str, folder: Path) -> ReleaseSpec:
    """The spec of a name, with its hierarchy beside it."""
    (folder / "cities.csv").write_text(
        "".join(f"{leaf};{node};*\n" for leaf, node in CITIES), encoding="utf-8"
    )
    given = SPECS[name]
    quasi = {**QUASI, "city": {"hierarchy": str(folder / "cities.csv")}}
    return ReleaseSpec.parse(
        {
            "version": 1,
            "dataset": "digests",
            "input": {"path": "unused.parquet"},
            "columns": {
                "identifiers": ["id"],
                "quasi_identifiers": quasi,
                "sensitive": given.get("sensitive", "job"),
                "publish_as_is": given.get("publish_as_is", []),
            },
            "nulls": given.get("nulls", "category"),
            "privacy": given["privacy"],
            "partitioner": given.get("partitioner", "mondrian"),
            "cuts": given.get("cuts", "median"),
            "suppression": given.get("suppression", {}),
            "output": {"path": str(folder / "out"), "queries": 0, **output_of(given)},
        }
    )


def digest(release: Path) -> str:
    """A hash of the names, columns, types and rows of all published files, in their order."""
    found = hashlib.sha256()
    for file in sorted(release.rglob("*.parquet")):
        table = pq.read_table(file)
        schema = [(field.name, str(field.type)) for field in table.schema]
        told = [file.relative_to(release).as_posix(), schema, table.to_pylist()]
        found.update(json.dumps(told, default=str, ensure_ascii=False).encode())
    return found.hexdigest()


def published(spark: Any, name: str, folder: Path) -> str:
    """The digest of the release of a spec."""
    table = from_arrow(spark, people()).repartition(3)
    run = anonymize(spec_of(name, folder), table=table)
    assert run.ok
    return digest(folder / "out" / "release")


@pytest.fixture
def several_fragments(monkeypatch):
    """Sizes so small that the table is cut on the driver first and has several files."""
    from ppdp_spark.spark.partition import fragments
    from ppdp_spark.spark.release import numbering

    monkeypatch.setattr(fragments, "FRAGMENT_ROWS", 900)
    monkeypatch.setattr(fragments, "SAMPLE_ROWS", 2_000)
    monkeypatch.setattr(numbering, "FILE_ROWS", 1_000)


QUICK = {
    "k-on-a-grid",
    "k-bucketized",
    "skyline-coupled",
    "sets-generalized",
    "art-joint",
    "anatomy",
    "suppressed",
}
"""Every form, partitioner and case once; the others come with the slow tests."""


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in SPECS]
)
def test_the_same_release_as_ever(spark, tmp_path, several_fragments, name):
    found, recorded = published(spark, name, tmp_path), json.loads(RECORDED.read_text())
    if "PPDP_RECORD_DIGESTS" in os.environ:
        recorded = {**recorded, name: found}
        RECORDED.write_text(json.dumps(recorded, indent=2) + "\n")
    assert found == recorded[name]
