"""What the relative paths of a spec mean."""

from __future__ import annotations

import re
from os import PathLike
from pathlib import Path


def resolved_path(path: str, base: str | PathLike[str]) -> str:
    """A path of the spec's folder `base` if it exists there, else the path as it is written.

    Addresses such as `s3://...` and absolute paths stay; what is left relative means the working
    directory, or the default file system of the cluster.
    """
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+:", path) or Path(path).is_absolute():
        return path
    beside_spec = Path(base) / path
    try:
        found = any(beside_spec.parent.glob(beside_spec.name)) if "*" in path else beside_spec.exists()
    except (OSError, ValueError, NotImplementedError):
        found = False
    return str(beside_spec) if found else path
