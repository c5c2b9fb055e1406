"""A server of the S3 protocol on this machine, behind a proxy that can throttle and fail."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from threading import Thread

from support.places import ROOT
from support.stores.ports import answers, free_port

PYTHON = ROOT / "build/moto-env/bin/python"
"""Of the environment that `make stores` makes for the server."""

SETTINGS = {
    "AWS_ACCESS_KEY_ID": "AKIAOFNOBODY",
    "AWS_SECRET_ACCESS_KEY": "hush-hush",
    "AWS_REGION": "us-east-1",
    "AWS_ALLOW_HTTP": "true",
}


_OWN = {"transfer-encoding", "connection", "content-length", "server", "date"}
"""What the proxy says itself."""


class Faults:
    """How often the proxy fails: every so many requests, first with the one status, then with the other."""

    def __init__(self) -> None:
        self.every, self.told, self._numbers = 0, 0, count(1)

    def next(self) -> int | None:
        number = next(self._numbers)
        if not self.every or number % self.every:
            return None
        self.told += 1
        return 503 if self.told % 2 else 500


@contextmanager
def s3(folder: Path) -> Iterator[Faults]:
    """A server with the bucket `bucket`; the environment says where, for as long as the block lasts."""
    behind, port = free_port(), free_port()
    with (folder / "log").open("ab") as log:
        command = [str(PYTHON), "-m", "moto.server", "-H", "127.0.0.1", "-p", str(behind)]
        server = subprocess.Popen(command, stdout=log, stderr=log)
        proxy = ThreadingHTTPServer(("127.0.0.1", port), _proxy(behind, faults := Faults()))
        Thread(target=proxy.serve_forever, daemon=True).start()
        before = {name: os.environ.get(name) for name in (*SETTINGS, "AWS_ENDPOINT_URL")}
        os.environ.update(SETTINGS, AWS_ENDPOINT_URL=f"http://127.0.0.1:{port}")
        try:
            until = time.monotonic() + 60
            while not answers(behind):
                assert time.monotonic() < until, "the S3 server does not answer"
                time.sleep(0.1)
            _make_bucket(behind)
            yield faults
        finally:
            proxy.shutdown()
            server.kill()
            server.wait()
            for name, value in before.items():
                os.environ.pop(name)
                if value is not None:
                    os.environ[name] = value


def _make_bucket(port: int) -> None:
    connection = HTTPConnection("127.0.0.1", port)
    connection.request("PUT", "/bucket")
    assert connection.getresponse().status == 200


def _proxy(behind: int, faults: Faults) -> type[BaseHTTPRequestHandler]:
    class Proxy(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _pass(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status = faults.next()
            if status is not None:
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            connection = HTTPConnection("127.0.0.1", behind)
            connection.request(self.command, self.path, body, dict(self.headers))
            answer = connection.getresponse()
            content = answer.read()
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in (
                    "transfer-encoding",
                    "connection",
                    "content-length",
                    "server",
                    "date",
                ):
                    self.send_header(name, value)
            length = answer.getheader("Content-Length") if self.command == "HEAD" else str(len(content))
            self.send_header("Content-Length", length or "0")
            self.end_headers()
            self.wfile.write(content)
            connection.close()

        do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = _pass

        def log_message(self, format: str, *args: object) -> None:
            """Nothing."""

    return Proxy
