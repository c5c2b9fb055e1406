"""A page printed to a PDF by Chromium, where there is one."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from ppdp_spark.errors import MachineError
from ppdp_spark.run.storage import Folder
from ppdp_spark.stores.local_disk import LocalDisk

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "microsoft-edge")
_OPTIONS = ("--headless", "--disable-gpu", "--no-first-run", "--disable-sync", "--no-pdf-header-footer")
_PATIENCE = 120.0


def print_page(folder: Folder, page: str, target: str) -> None:
    """Print a page in a folder of this machine to a file beside it, which only the owner may read."""
    if not isinstance(folder.store, LocalDisk):
        raise MachineError(
            f"`{folder}` is not on this machine: copy {page} here, and print it from a browser"
        )
    path = next((found for name in _NAMES if (found := shutil.which(name))), None)
    if path is None:
        raise MachineError(
            "no Chromium is installed, which prints the PDF: `sudo apt-get install chromium`, or open "
            f"{page} in any browser and print it from there"
        )
    source, printed = Path(folder.path) / page, Path(folder.path) / target
    with TemporaryDirectory() as scratch:
        made = Path(scratch) / target
        command = [path, *_OPTIONS, f"--user-data-dir={scratch}/profile", f"--print-to-pdf={made}"]
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            command.append("--no-sandbox")  # Chromium refuses to run as root with it
        try:
            subprocess.run([*command, source.as_uri()], capture_output=True, timeout=_PATIENCE, check=True)
            content = made.read_bytes()
        except (OSError, subprocess.SubprocessError) as error:
            raise MachineError(
                f"Chromium could not print {page} ({type(error).__name__}): open it in a browser and print it"
            ) from None
    printed.unlink(missing_ok=True)
    printed.touch(0o600)
    printed.write_bytes(content)
