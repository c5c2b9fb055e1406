"""`skyline-scale`: the scale-up of SkylineAnonymize [Skyline, Sec 7.2] on records of 44 bytes."""

from __future__ import annotations

from benchmarks.bench import Bench
from benchmarks.records import LABELS, QUASI_IDENTIFIERS, SENSITIVE
from benchmarks.skyline import compare_releases


def measure(bench: Bench) -> None:
    kinds = dict.fromkeys(QUASI_IDENTIFIERS, "numeric")
    columns = {"quasi_identifiers": kinds, "sensitive": SENSITIVE, "identifiers": list(LABELS)}
    compare_releases(bench, "records", (*QUASI_IDENTIFIERS, SENSITIVE), columns)
