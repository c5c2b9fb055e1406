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
from benchmarks.scenario import Options, Parameters, Scenario
from benchmarks.tables import CATEGORICAL, QUASI_IDENTIFIERS, SENSITIVE

COUNT = "count"


def people(path: str) -> pd.DataFrame:
    """The census in pandas; null is a value of its own (-1), since these peers lose or drop nulls."""
    table = pq.read_table(path, columns=[*QUASI_IDENTIFIERS, SENSITIVE]).to_pandas()
    table["income"] = table["income"].fillna(-1).astype("int64")
    return table


def anonypy(table: pd.DataFrame, k: int) -> pd.DataFrame:
    from anonypy import Preserver

    typed = table.astype(dict.fromkeys((*CATEGORICAL, SENSITIVE), "category"))
    found = Preserver(typed, list(QUASI_IDENTIFIERS), SENSITIVE).anonymize_k_anonymity(k=k)
    return pd.DataFrame(found).groupby(list(QUASI_IDENTIFIERS), as_index=False)[COUNT].sum()


def polarfrost(table: pd.DataFrame, k: int) -> pd.DataFrame:
    import polars
    from polarfrost import mondrian_k_anonymity

    found = mondrian_k_anonymity(
        polars.from_pandas(table), list(QUASI_IDENTIFIERS), SENSITIVE, k, list(CATEGORICAL)
    )
    return pd.DataFrame({COUNT: found[COUNT].to_list()})


PEERS: dict[str, Callable[[pd.DataFrame, int], pd.DataFrame]] = {"anonypy": anonypy, "polarfrost": polarfrost}


def variants(options: Options) -> list[Parameters]:
    return [{"peer": peer, "k": k, **options.session()} for peer in PEERS for k in options.k[:1]]


def measure(bench: Bench) -> None:
    peer, k = bench.parameters["peer"], bench.parameters["k"]
    if importlib.util.find_spec(peer) is None:
        raise ModuleNotFoundError(f"{peer} is not installed (pip install {peer})")
    path = bench.table("census", bench.rows)
    run_ours(bench, Coded.read(path))
    table = people(path)

    def theirs(rows: int, target: Path) -> Any:
        return PEERS[peer](table, k)

    sizes = bench.run("peer", theirs, bench.rows)[COUNT]
    published = int(sizes.sum())
    bench.note(
        theirs={
            "groups": len(sizes),
            "mean_size": published / len(sizes),
            "smallest": int(sizes.min()),
            "rows_lost": bench.rows - published,
        }
    )


SCENARIO = Scenario(
    name="peers",
    about="anonypy and polarfrost, in memory, against the whole of ppdp anonymize",
    rows=(100_000,),
    variants=variants,
    measure=measure,
    ratio=("peer", "anonymize"),
    tables=("census",),
    largest=1_000_000,
    facts={
        "people a group, ours": "ours.mean_size",
        "theirs": "theirs.mean_size",
        "their smallest": "theirs.smallest",
        "rows they lost": "theirs.rows_lost",
    },
)
