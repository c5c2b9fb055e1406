"""What Java and Spark say for themselves while a command starts does not reach the user; errors do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ppdp_spark.cli.java_notice import NOTICE, without_java_notice


def test_a_command_says_nothing_on_behalf_of_java_or_spark(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "ppdp_spark", "generate", str(tmp_path / "census"), "--rows", "100"]
    environment = {name: value for name, value in os.environ.items() if name != "JAVA_TOOL_OPTIONS"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    said = done.stdout + done.stderr
    assert not [word for word in ("WARN", "log4j", "log level", "incubator") if word in said], said


def test_all_but_the_notice_is_passed_on(capfd: pytest.CaptureFixture[str]) -> None:
    lines = f"{NOTICE.decode()}: some.module\nOutOfMemoryError\n"
    with without_java_notice():
        subprocess.run([sys.executable, "-c", f"import sys; sys.stderr.write({lines!r})"], check=True)
    heard = ""
    while "OutOfMemoryError" not in heard:
        heard += capfd.readouterr().err
    assert heard == "OutOfMemoryError\n"
