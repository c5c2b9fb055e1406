"""What the cluster tests share: a table to publish, what of a release is compared, and real processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq


def published(out: Path) -> tuple[dict, dict[str, pa.Table]]:
    """The manifest without digests, and every file's table.

    Writers of different processes list a column's encodings in different orders: bytes of the footer
    may differ where schema, values, order, names and sizes of files may not.
    """
    manifest = json.loads((out / "release/release.json").read_text())
    files = manifest.pop("files")
    manifest["sizes"] = {name: (out / "release" / name).stat().st_size for name in files}
    return manifest, {name: pq.read_table(out / "release" / name) for name in files}


def same_content(one: Path, other: Path, *, footers: bool = True) -> bool:
    """Whether names, schemas, values and order agree; with `footers`, sizes and Spark's notes as well."""
    (manifest, tables), (other_manifest, other_tables) = published(one), published(other)
    if not footers:
        del manifest["sizes"], other_manifest["sizes"]
    alike = tables.keys() == other_tables.keys() and all(
        other_tables[name].equals(table, check_metadata=footers) for name, table in tables.items()
    )
    return manifest == other_manifest and bool(tables) and alike


def write_people(folder: Path, *, rows: int = 4_000, privacy: str = "{k_anonymity: 5}") -> Path:
    """A table of people and a spec beside it, of which the path comes back."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "id": [f"CANARY{i}" for i in range(rows)],
            "age": rng.integers(0, 90, rows),
            "city": rng.choice(list("abcdefghij"), rows),
            "income": np.where(rng.random(rows) < 0.03, np.nan, rng.lognormal(10, 1, rows)),
            "job": rng.choice([f"job{i}" for i in range(8)], rows),
        }
    )
    table.to_parquet(folder / "people.parquet")
    (folder / "spec.yaml").write_text(
        "version: 1\ndataset: people\ninput: {path: people.parquet}\n"
        "columns:\n  identifiers: [id]\n  quasi_identifiers: {age: {}, city: {}, income: {}}\n"
        f"  sensitive: job\nprivacy: {privacy}\ncomposition: {{earlier: accept}}\n"
    )
    return folder / "spec.yaml"


def sets(**changes: object) -> list[str]:
    """`--set` options; `__` in a name stands for a dot."""
    return [
        part
        for name, value in changes.items()
        for part in ("--set", f"{name.replace('__', '.')}={json.dumps(value, default=str)}")
    ]


def run(
    command: Sequence[str | Path], *, environment: Mapping[str, str] | None = None, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a process to its end."""
    whole = {**os.environ, "PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable}
    return subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        timeout=900,
        env={**whole, **(environment or {})},
        cwd=cwd,
    )
