"""One self-contained HTML file from the aggregates of a run."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from string import Template
from typing import Any

from ppdp_spark.report.sections.approval import approval
from ppdp_spark.report.sections.privacy import privacy
from ppdp_spark.report.sections.roles import roles
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
<script>$script</script>
</body>
</html>
""")


def render(summary: Mapping[str, Any], verdict: Mapping[str, Any]) -> str:
    """The report of a run as one HTML file that needs no network."""
    drawn, _ = surfaces(summary)
    parts = [
        promises(summary, verdict),
        roles(summary),
        privacy(summary, verdict),
        utility(summary),
        running(summary),
        approval(summary, verdict),
    ]
    return document(title(summary, verdict), header(summary, verdict), parts, drawn=drawn)


def document(name: str, heading: str, parts: Iterable[str], *, drawn: Sequence[Any] = ()) -> str:
    """A self-contained page. Its script is allowed by its hash, so that no text can ever become one."""
    script = _package_text("ppdp_spark.report.page", "page.js")
    return _PAGE.substitute(
        policy=_policy(script),
        title=name,
        style=_package_text("ppdp_spark.report.page", "page.css"),
        header=heading,
        body="\n".join(part for part in parts if part),
        data=script_json(list(drawn)),
        script=script,
    )


def _package_text(package: str, *path: str) -> str:
    """A file of a package as a browser reads it: with plain line ends."""
    return files(package).joinpath(*path).read_text(encoding="utf-8").replace("\r\n", "\n")


def _policy(script: str) -> str:
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )
