"""What is being done right now, as a live line on the terminal."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text


class Progress:
    """A live line: the stage, how long it has run, Spark's tasks, and when they may be done.

    where
        tasks  how many of its tasks Spark has done, of how many; None where it does not tell
    """

    def __init__(self, console: Console, tasks: Callable[[], tuple[int, int] | None]) -> None:
        self.console, self.tasks = console, tasks
        self.stage: str | None = None
        self.begun = self.moved = time.monotonic()
        self.done = self.total = 0
        self.spinner = Spinner("dots")

    def begin(self, stage: str) -> None:
        self.stage, self.begun, self.total = stage, time.monotonic(), 0

    def end(self, stage: str, told: str) -> None:
        self.stage = None
        self.console.print(Text(f"· {stage}: {told}"))

    def __rich__(self) -> RenderableType:
        if self.stage is None:
            return Text("")
        now = time.monotonic()
        line = Table.grid(padding=(0, 1))
        cells: list[RenderableType] = [
            self.spinner,
            Text(self.stage, style="bold"),
            f"{now - self.begun:.0f} s",
        ]
        cells += self._spark(now)
        line.add_row(*cells)
        return line

    def _spark(self, now: float) -> list[RenderableType]:
        counted = self.tasks()
        if counted is None or not counted[1]:
            self.total = 0
            return []
        done, total = counted
        if total != self.total or done < self.done:
            self.moved = now
        self.done, self.total = done, total
        cells: list[RenderableType] = [ProgressBar(total, done, width=24), f"{done:,} of {total:,} tasks"]
        left = remaining(now - self.moved, done, total)
        return cells if left is None or left < 1 else [*cells, f"about {left:.0f} s left of them"]


def remaining(elapsed: float, done: int, total: int) -> float | None:
    """Seconds that the tasks left will take if they are like those done; None before the first."""
    return elapsed * (total - done) / done if done and elapsed > 0 else None


@contextmanager
def live(console: Console, tasks: Callable[[], tuple[int, int] | None]) -> Iterator[Progress]:
    """Shows progress while the work inside runs, and leaves one line a stage."""
    progress = Progress(console, tasks)
    with Live(progress, console=console, transient=True, refresh_per_second=5, redirect_stdout=False):
        yield progress
