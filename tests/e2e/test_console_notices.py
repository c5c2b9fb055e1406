"""What Java says for itself while a command starts does not reach the user; errors do."""

from __future__ import annotations

import subprocess
import sys

import pytest

from ppdp_spark.cli.java_notice import NOTICE, without_java_notice


def test_all_but_the_notice_is_passed_on(capfd: pytest.CaptureFixture[str]) -> None:
    lines = f"{NOTICE.decode()}: some.module\nOutOfMemoryError\n"
    with without_java_notice():
        subprocess.run([sys.executable, "-c", f"import sys; sys.stderr.write({lines!r})"], check=True)
    heard = ""
    while "OutOfMemoryError" not in heard:
        heard += capfd.readouterr().err
    assert heard == "OutOfMemoryError\n"
