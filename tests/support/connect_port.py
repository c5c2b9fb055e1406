"""Spark Connect in local mode listens on one port, and on no other: processes of tests take turns."""

from __future__ import annotations

import fcntl
import socket
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PORT = 15_002


@contextmanager
def connect_port() -> Iterator[None]:
    """While inside, no other test of this machine starts Spark Connect; before, whoever listens has ended."""
    with (Path(tempfile.gettempdir()) / "ppdp-tests-connect.lock").open("w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        for _ in range(6_000):
            if _free():
                break
            time.sleep(0.1)
        yield


def _free() -> bool:
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("", PORT))
        except OSError:
            return False
        return True
