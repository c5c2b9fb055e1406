"""Random trials in chunks: every release is judged, and enough of them must pass."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from .judging import judge
from .tables import CASES, Trial, trial

CHUNK = 21
FEW = 9
"""Of the first chunk, in the default tests."""


def attempt(spark: Any, one: Trial, folder: Path) -> tuple[str, str]:
    """The outcome of a trial, and the objection or error if there is one."""
    try:
        return judge(spark, one, folder), ""
    except Exception as error:
        return "wrong", f"{type(error).__name__}: {error}\n{one}"


def chunk_of(number: int) -> range:
    """The seeds of a chunk."""
    return range(number * CHUNK, (number + 1) * CHUNK)


def judged(spark: Any, seeds: range, folder: Path) -> None:
    """All trials of these seeds, two at a time; some of each case must pass, and a third of them all."""
    trials = [trial(seed) for seed in seeds]
    with ThreadPoolExecutor(2) as pool:
        ended = list(pool.map(lambda one: attempt(spark, one, folder / str(one.seed)), trials))
    wrong = [told for _, told in ended if told]
    assert not wrong, f"{len(wrong)} of {len(seeds)} trials\n" + "\n\n".join(wrong)
    outcomes = Counter((one.case, how) for one, (how, _) in zip(trials, ended, strict=True))
    passed = [outcomes[case, "passed"] for case in CASES]
    assert all(passed), outcomes
    assert 3 * sum(passed) >= len(seeds), outcomes
