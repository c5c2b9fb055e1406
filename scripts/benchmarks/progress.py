"""What the person at the terminal sees: one moving line, or one line a phase where nothing can move."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from benchmarks.store import OK

if TYPE_CHECKING:
    from benchmarks.watching import Watched


class Progress:
    """One line on the terminal that moves, and lines that stay; lines only if it is no terminal."""

    def __init__(self) -> None:
        self._moving = sys.stderr.isatty()
        self._phase = ""

    def say(self, text: str) -> None:
        self._clear()
        print(text, file=sys.stderr, flush=True)

    def show(self, title: str, watched: Watched) -> None:
        memory = watched.now.get("total", 0) / 2**30
        if self._moving:
            line = f"{title}: {watched.phase}, {watched.phase_seconds:.0f} s, {memory:.1f} GB"
            print(f"\r\033[K{line[:150]}", end="", file=sys.stderr, flush=True)
        elif watched.phase != self._phase and watched.phase != "between runs":
            self._phase = watched.phase
            print(f"{title}: {watched.phase} …", file=sys.stderr, flush=True)

    def done(self, title: str, outcome: dict[str, Any], runs: dict[str, Any]) -> None:
        times = [f"{name} {run['seconds']:.3g} s" for name, run in runs.items() if "seconds" in run]
        problem = [] if outcome["status"] == OK else [f"{outcome['status']}: {outcome['reason']}"]
        self.say(f"{title}: {'; '.join([*times, *problem]) or 'done'}")
        self._phase = ""

    def _clear(self) -> None:
        if self._moving:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
