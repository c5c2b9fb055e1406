"""What the reproductions of published experiments share: where Adult is, tables, pages and figures."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
NO_FIGURES = "matplotlib is not installed: no figures drawn"

Record = dict[str, Any]


def adult_path() -> Path:
    """The Adult table: $PPDP_ADULT, else ../shared/data/adult.csv beside the repository."""
    default = ROOT.parent / "shared" / "data" / "adult.csv"
    return Path(os.environ.get("PPDP_ADULT") or default)


def table(records: Sequence[Record]) -> str:
    """Records as a Markdown table, their keys as its head."""
    header = list(records[0])
    lines = [header, ["---:"] * len(header), *([_shown(x) for x in row.values()] for row in records)]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def _shown(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"


def write_results(folder: Path, name: str, results: Record, page: str) -> None:
    """`NAME.json` and the page beside it, which is printed too."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(results, indent=1) + "\n")
    (folder / "README.md").write_text(page)
    print(page)


def pyplot() -> Any | None:
    """matplotlib's pyplot without a display; None where it is not installed."""
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot as plt
    except ImportError:
        return None
    return plt


def save(figure: Any, path: Path) -> None:
    """The figure as a small PNG."""
    figure.savefig(path, dpi=120, bbox_inches="tight")
    plt = pyplot()
    assert plt is not None
    plt.close(figure)
