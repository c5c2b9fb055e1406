"""Work counted instead of timed: lines of Python that run, with compiled loops interpreted."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType, ModuleType
from typing import Any

from numba.core.registry import CPUDispatcher


def lines_run(call: Callable[[], object], *, most: int = 5_000_000) -> int:
    """How many lines of the package run in `call`, which is stopped after `most` of them.

    A loop counts each turn; one numpy operation is one line.
    """
    lines = 0

    def inside(_frame: FrameType, event: str, _arg: Any) -> Any:
        nonlocal lines
        lines += event == "line"
        assert lines <= most, f"stopped after {most} lines"
        return inside

    def entered(frame: FrameType, _event: str, _arg: Any) -> Any:
        return inside if "/ppdp_spark/" in frame.f_code.co_filename else None

    before = sys.gettrace()
    sys.settrace(entered)
    try:
        call()
    finally:
        sys.settrace(before)
    return lines


@contextmanager
def interpreted(*modules: ModuleType) -> Iterator[None]:
    """The compiled functions that modules hold or import, as the Python that they were compiled from."""
    found = [(vars(m), name, made) for m in modules for name, made in vars(m).items()]
    compiled = [(names, name, made) for names, name, made in found if isinstance(made, CPUDispatcher)]
    for names, name, made in compiled:
        names[name] = made.py_func
    try:
        yield
    finally:
        for names, name, made in compiled:
            names[name] = made
