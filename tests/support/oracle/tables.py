"""Random small tables with specs: duplicates, nulls, odd numbers and odd texts; fixed by their seed."""

from __future__ import annotations

import csv
import datetime as dt
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from .reading import plain, record_of, value_name

CASES = ("svpi", "mvpi-set", "mvpi-multiset")
NAN = float("nan")
ODD = ["(null)", "a, b", "{x}", "x or null", "[1-2]", "", " HIV", "\\", "\\(null)", "a", "b", "x", "a\\"]
WORDS = ["HIV", "flu", "cold", "TB", "gout"]
TREE = [
    ["Ulm", "south", "*"],
    ["Bonn", "west", "*"],
    ["Köln", "west", "*"],
    ["Jena", "east", "*"],
    ["a, b", "east", "*"],
    ["x or null", "south", "*"],
]
TYPES = {
    "numeric": pa.int64(),
    "height": pa.float64(),
    "date": pa.date32(),
    "categorical": pa.string(),
    "place": pa.string(),
}


@dataclass(frozen=True)
class Trial:
    """A table, and the spec for it; `tree` beside a hierarchy tells the oracle its rows."""

    seed: int
    table: pa.Table
    document: dict[str, Any]

    @property
    def case(self) -> str:
        return self.document["columns"]["sensitive"]["case"]

    @property
    def lists(self) -> dict[str, list[Any]]:
        return {name: self.table[name].to_pylist() for name in self.table.column_names}

    def spec(self, folder: Path) -> dict[str, Any]:
        """The document as the program reads it, its hierarchies written to files."""
        qis = {}
        for name, given in self.document["columns"]["quasi_identifiers"].items():
            qis[name] = {"type": given["type"]}
            if "tree" in given:
                file = folder / f"{name}.csv"
                with file.open("w", newline="", encoding="utf-8") as opened:
                    csv.writer(opened).writerows(given["tree"])
                qis[name]["hierarchy"] = str(file)
        columns = {**self.document["columns"], "quasi_identifiers": qis}
        output = {**self.document["output"], "path": str(folder / "out")}
        return {**self.document, "columns": columns, "output": output}

    def __str__(self) -> str:
        return f"seed {self.seed}: {self.lists}\n{self.document}"


def trial(seed: int) -> Trial:
    """The table and the spec of a seed; cases take turns."""
    rng = random.Random(f"oracle {seed}")
    case, size = CASES[seed % 3], rng.randint(4, 14)
    kinds = rng.sample(list(TYPES), rng.choice([1, 1, 2, 2, 3]))
    holes = rng.choice([0, 0, 0.15])
    columns = {f"q{i}": _quasi(rng, kind, size, holes) for i, kind in enumerate(kinds)}
    sensitive = _sensitive(rng, case, size)
    document = {
        "version": 1,
        "dataset": f"oracle-{seed}",
        "input": {"path": "unused.parquet"},
        "columns": {
            "quasi_identifiers": {f"q{i}": _given(kind) for i, kind in enumerate(kinds)},
            "sensitive": {"column": "s", "case": case},
        },
        "nulls": rng.choice(["category", "category", "suppress"]),
        "privacy": privacy(rng, case, _values(sensitive, case)),
        "output": {"form": rng.choice(["generalized", "bucketized"]), "queries": 0},
    }
    return Trial(seed, pa.table({**columns, "s": sensitive}), document)


def _given(kind: str) -> dict[str, Any]:
    if kind == "place":
        return {"type": "categorical", "tree": TREE}
    return {"type": "numeric" if kind == "height" else kind}


def _quasi(rng: random.Random, kind: str, size: int, holes: float) -> pa.Array:
    pool = {
        "numeric": [-3, 0, 1, 2, 3, 7, 40],
        "height": [1.5, 0.0, -0.0, 2.25, NAN, 100.0],
        "date": [dt.date(1990, 1, 1) + dt.timedelta(days=d) for d in (0, 1, 31, 400, 9000)],
        "categorical": rng.choice([ODD, WORDS]),
        "place": [row[0] for row in TREE],
    }[kind]
    pool = rng.sample(pool, rng.randint(2, len(pool)))
    return pa.array([None if rng.random() < holes else rng.choice(pool) for _ in range(size)], TYPES[kind])


def _sensitive(rng: random.Random, case: str, size: int) -> pa.Array:
    pools = [WORDS, WORDS, rng.sample(ODD, 4), [1.5, 0.0, -0.0, NAN, 2.0], [3, 5, 10, 5000]]
    pool = rng.choice(pools if case == "svpi" else pools[:4])
    pool = rng.sample(pool, rng.randint(min(3, len(pool)), len(pool)))
    kind = {str: pa.string(), float: pa.float64(), int: pa.int64()}[type(pool[0])]
    holes = rng.choice([0, 0, 0.1])
    if case == "svpi":
        return pa.array([None if rng.random() < holes else rng.choice(pool) for _ in range(size)], kind)
    lengths = rng.choice([[1], [0, 1, 1, 2], [1, 2, 3]])
    lists = [[rng.choice(pool) for _ in range(rng.choice(lengths))] for _ in range(size)]
    made = [None if rng.random() < holes else one for one in lists]
    return pa.array(made, pa.list_(kind))


def _values(sensitive: pa.Array, case: str) -> list[Any]:
    found = {value for one in sensitive.to_pylist() for value in record_of(plain(one), case)}
    return sorted(found, key=repr)


def privacy(rng: random.Random, case: str, values: list[Any]) -> dict[str, Any]:
    """One to three criteria, mild enough that most tables have a release; sets take but two of them."""
    some: dict[str, Any] = {
        "k_anonymity": rng.choice([2, 2, 3]),
        "alpha_k": {"alpha": rng.choice([0.5, 0.75, 0.8]), "k": 2},
        "l_diversity": rng.choice(
            [
                {"kind": "distinct", "l": 2},
                {"kind": "entropy", "l": rng.choice([1.5, 2])},
                {"kind": "recursive", "c": rng.choice([2, 3.5]), "l": 2},
            ]
        ),
        "t_closeness": {"t": rng.choice([0.3, 0.5]), "distance": rng.choice(["equal", "ordered"])},
        "beta_likeness": {"beta": rng.choice([1, 2.5]), "kind": rng.choice(["basic", "enhanced"])},
        "delta_disclosure": rng.choice([1.5, 3]),
    }
    if case != "svpi":
        some = {"k_anonymity": some["k_anonymity"]}
    chosen = rng.sample(sorted(some), min(len(some), rng.choice([0, 1, 1, 2])))
    made = {name: some[name] for name in chosen}
    if not made or rng.random() < (0.6 if case == "svpi" else 0.9):
        made["skyline"] = _skyline(rng, values)
    return made


def _skyline(rng: random.Random, values: list[Any]) -> dict[str, Any]:
    def points() -> list[dict[str, Any]]:
        return [_point(rng) for _ in range(rng.choice([1, 1, 2]))]

    own = rng.sample(values, min(len(values), rng.choice([0, 1, 2])))
    given = {"values": {value_name(value): points() for value in own}}
    return given if own and rng.random() < 0.4 else {**given, "default": points()}


def _point(rng: random.Random) -> dict[str, Any]:
    """A point of little knowledge, at a confidence that rises with it."""
    l, k, m = rng.choice([0, 0, 1, 1, 2]), rng.choice([0, 0, 1, 2]), rng.choice([0, 0, 1, 2])
    c = min(1.0, rng.choice([0.6, 0.75, 0.8]) + 0.1 * (l + k + m))
    return {"l": l, "k": k, "m": m, "c": round(c, 2)}
