"""Java's notice that Spark uses an incubating module, which no setting of Java's or Spark's turns off."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

NOTICE = b"WARNING: Using incubator modules"


@contextmanager
def without_java_notice() -> Iterator[None]:
    """Java that starts meanwhile does not tell of an incubating module; all else it says is passed on."""
    try:
        terminal = os.dup(2)
    except OSError:  # nobody listens
        yield
        return
    heard, told = os.pipe()
    os.dup2(told, 2)
    os.close(told)
    Thread(target=_pass_on, args=(heard, terminal), daemon=True).start()
    try:
        yield
    finally:
        os.dup2(terminal, 2)


def _pass_on(heard: int, terminal: int) -> None:
    with os.fdopen(heard, "rb") as lines:
        for line in lines:
            if not line.startswith(NOTICE):
                os.write(terminal, line)
