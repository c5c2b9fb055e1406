"""`peers`: other implementations from PyPI on the same people, by the calls their documentation shows."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq

from benchmarks.bench import Bench
from benchmarks.coded import Coded
from benchmarks.ours import run_ours
from benchmarks.tables import CATEGORICAL, QUASI_IDENTIFIERS, SENSITIVE

COUNT = "count"


def people(path: str) -> pd.DataFrame:
    """The census in pandas; null is a value of its own (-1), since these peers lose or drop nulls."""
    table: pd.DataFrame = pq.read_table(path, columns=[*QUASI_IDENTIFIERS, SENSITIVE]).to_pandas()
    table["income"] = table["income"].fillna(-1).astype("int64")
    return table


def anonypy(table: pd.DataFrame, k: int) -> list[int]:
    """Sizes of the groups that anonypy makes."""
    from anonypy import Preserver

    typed = table.astype(dict.fromkeys((*CATEGORICAL, SENSITIVE), "category"))
    found = pd.DataFrame(Preserver(typed, list(QUASI_IDENTIFIERS), SENSITIVE).anonymize_k_anonymity(k=k))
    # One row per group and sensitive value; a group's description is a list of one text a column.
    keys = [found[name].str[0] for name in QUASI_IDENTIFIERS]
    return found.groupby(keys)[COUNT].sum().tolist()


def polarfrost(table: pd.DataFrame, k: int) -> list[int]:
    """Sizes of the groups that polarfrost makes."""
    import polars
    from polarfrost import mondrian_k_anonymity

    found = mondrian_k_anonymity(
        polars.from_pandas(table), list(QUASI_IDENTIFIERS), SENSITIVE, k, list(CATEGORICAL)
    )
    return list(found[COUNT])


# Each gives the sizes of its groups.
PEERS: dict[str, Callable[[pd.DataFrame, int], list[int]]] = {"anonypy": anonypy, "polarfrost": polarfrost}


def measure(bench: Bench) -> None:
    peer, k = bench.parameters["peer"], bench.parameters["k"]
    if importlib.util.find_spec(peer) is None:
        raise ModuleNotFoundError(f"{peer} is not installed (pip install {peer})")
    path = bench.table("census", bench.rows)
    run_ours(bench, Coded.read(path))
    table = people(path)

    def theirs(rows: int, target: Path) -> Any:
        return PEERS[peer](table, k)

    sizes = bench.run("peer", theirs, bench.rows)
    published = sum(sizes)
    bench.note(
        theirs={
            "groups": len(sizes),
            "mean_size": published / len(sizes),
            "smallest": min(sizes),
            "rows_lost": bench.rows - published,
        }
    )
