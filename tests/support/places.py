"""Where things of the project are, for tests in any folder."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "ppdp_spark"
SCRIPTS = ROOT / "scripts"


def golden(name: str) -> Any:
    """Answers recorded once, from a file of `tests/golden/`."""
    return json.loads((ROOT / "tests/golden" / f"{name}.json").read_text())


def script(name: str) -> ModuleType:
    """A module of `scripts/`, which is on the path only while it loads."""
    sys.path.insert(0, str(SCRIPTS))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(SCRIPTS))
