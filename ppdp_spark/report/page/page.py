"""One self-contained HTML file from the aggregates of a run."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from string import Template
from typing import Any

from ppdp_spark.report.sections.privacy import privacy
from ppdp_spark.report.sections.run import running
from ppdp_spark.report.sections.surfaces import script_json, surfaces
from ppdp_spark.report.sections.top import header, promises, title
from ppdp_spark.report.sections.utility import utility

_PAGE = Template("""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="$policy">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,">
<title>$title</title>
<style>
$style</style>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
$header
<main id="main">
$body
</main>
<footer><p>Made from summary.json and verdict.json alone: aggregates of groups, never a row. For the owner
of the data, not for publication.</p></footer>
<script type="application/json" id="knowledge-data">$data</script>
<script type="text/plain" id="plot-library">$library</script>
<script>$script</script>
</body>
</html>
""")


def render(summary: Mapping[str, Any], verdict: Mapping[str, Any]) -> str:
    """The report of a run as one HTML file that needs no network.

    The plotting library is part of it only if there is a knowledge skyline to draw; it lies there as text
    until the plot comes into view, so that the page opens at once.
    """
    drawn, _ = surfaces(summary)
    library = _package_text("plotly", "package_data", "plotly.min.js") if drawn else ""
    parts = [promises(summary, verdict), privacy(summary, verdict), utility(summary), running(summary)]
    return document(title(summary, verdict), header(summary, verdict), parts, drawn=drawn, library=library)


def document(
    name: str, heading: str, parts: Iterable[str], *, drawn: Sequence[Any] = (), library: str = ""
) -> str:
    """A self-contained page. Every script is allowed by its hash, so that no text can ever become one."""
    script = _package_text("ppdp_spark.report.page", "page.js")
    return _PAGE.substitute(
        policy=_policy([script, library] if library else [script]),
        title=name,
        style=_package_text("ppdp_spark.report.page", "page.css"),
        header=heading,
        body="\n".join(part for part in parts if part),
        data=script_json(list(drawn)),
        library=library,
        script=script,
    )


def _package_text(package: str, *path: str) -> str:
    """A file of a package as a browser reads it: with plain line ends."""
    return files(package).joinpath(*path).read_text(encoding="utf-8").replace("\r\n", "\n")


def _policy(scripts: list[str]) -> str:
    hashes = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in hashes)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )
