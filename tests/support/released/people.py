"""A table of people, a spec for it, and its release as pandas."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path

import numpy as np
import pandas as pd

from ppdp_spark import ReleaseSpec

JOBS = ["cook", "nurse", "smith", "tailor", "clerk"]


def people(rows: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 90, rows).astype(object)
    age[rng.random(rows) < 0.05] = None
    city = rng.choice(["Ulm", "Köln", "a, b", 'O\'Hara "x"', "{z}"], rows).astype(object)
    city[rng.random(rows) < 0.05] = None
    return pd.DataFrame(
        {
            "id": [f"ID{i}" for i in range(rows)],
            "age": pd.array(age, dtype="Int64"),
            "city": city,
            "height": np.where(rng.random(rows) < 0.05, np.nan, rng.normal(170, 10, rows)),
            "born": [dt.date(1950, 1, 1) + dt.timedelta(days=int(d)) for d in rng.integers(0, 20000, rows)],
            "job": rng.choice(JOBS, rows),
            "note": rng.choice(["p", "q"], rows),
            "extra": "never published",
        }
    )


def spec_for(folder: Path, **changes) -> ReleaseSpec:
    plain = {
        "version": 1,
        "dataset": "people",
        "input": {"path": "unused.parquet"},
        "columns": {
            "identifiers": ["id"],
            "quasi_identifiers": {"age": {}, "city": {}, "height": {}, "born": {}},
            "sensitive": "job",
        },
        "privacy": {"k_anonymity": 5, "l_diversity": {"kind": "distinct", "l": 2}},
        "output": {"path": str(folder / "out")},
    }
    overrides = [f"{key}={json.dumps(value)}" for key, value in changes.items()]
    return ReleaseSpec.parse(plain, overrides=overrides)


def released(folder: Path, table: str = "") -> pd.DataFrame:
    return pd.read_parquet(folder / "out" / "release" / "data" / table)
