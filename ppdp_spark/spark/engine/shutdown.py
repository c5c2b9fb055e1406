"""A command that is told to stop takes its scratch data along: Spark stops, then folders are cleared."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from pyspark.sql import SparkSession

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_PATIENCE = 30.0
"""Seconds that Spark gets to stop its tasks."""


@contextmanager
def stopped_by_signals(spark: SparkSession) -> Iterator[None]:
    """While inside, a signal stops Spark and then unwinds the command, so that what it began is undone.

    Tasks that still write would bring a folder back that was just deleted.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in _SIGNALS}

    def end(number: int, frame: FrameType | None) -> None:
        for each in _SIGNALS:
            signal.signal(each, signal.SIG_IGN)
        # Not in this thread: it may be in the middle of a call to Spark.
        stopping = threading.Thread(target=spark.stop, daemon=True)
        stopping.start()
        stopping.join(_PATIENCE)
        # Not KeyboardInterrupt: the gateway to Spark would log it with its traceback.
        raise SystemExit(128 + number)

    for number in _SIGNALS:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
