"""The run section: stages, versions, fingerprints and the spec as it was resolved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

from ppdp_spark.report.format.markup import Column, bar, data, facts, figure, section, table, text, words
from ppdp_spark.report.format.numbers import as_number, listing, mapping
from ppdp_spark.report.format.quoted_names import printable


def running(summary: Mapping[str, Any]) -> str:
    """The section on the run: identity, stages, versions and the resolved spec."""
    return section(
        "run",
        "Run",
        [_identity(summary), _stages(summary), _versions(summary), _spec(mapping(summary, "spec"))],
    )


def _identity(summary: Mapping[str, Any]) -> str:
    release = mapping(summary, "release")
    texts = [
        ("Command", summary.get("command")),
        ("Made with", f"ppdp-spark {summary['version']}" if summary.get("version") else None),
        ("Fingerprint of the spec", summary.get("spec_fingerprint")),
        ("Fingerprint of the input", mapping(summary, "input").get("fingerprint")),
    ]
    figures = [
        ("Rows per second", summary.get("rows_per_second")),
        ("Files", release.get("files")),
        ("Bytes", release.get("bytes")),
    ]
    told = [(term, f"<code>{text(value)}</code>") for term, value in texts if value]
    return facts([*told, *((term, data(value)) for term, value in figures if as_number(value) is not None)])


def _stages(summary: Mapping[str, Any]) -> str:
    stages = [mapping(stage) for stage in listing(summary, "stages")]
    longest = max((as_number(stage.get("seconds")) or 0 for stage in stages), default=0) or 1
    counted = [count for count in ("rows", "groups") if any(count in stage for stage in stages)]
    columns = [Column("Stage"), Column("Seconds", "number")]
    columns += [Column(count.capitalize(), "number") for count in counted]
    cells = [
        [
            words(stage.get("name")),
            figure(stage.get("seconds")),
            *(figure(stage.get(count)) for count in counted),
            bar((as_number(stage.get("seconds")) or 0) / longest),
        ]
        for stage in stages
    ]
    return table("Stages", [*columns, Column("Against the longest", "chart")], cells)


def _versions(summary: Mapping[str, Any]) -> str:
    cells = [[words(package), words(version)] for package, version in mapping(summary, "versions").items()]
    return table("Versions", [Column("Package"), Column("Version")], cells)


def _spec(spec: Mapping[str, Any]) -> str:
    if not spec:
        return ""
    lines = yaml.safe_dump(_plain(spec), sort_keys=False, allow_unicode=True, width=100).splitlines()
    shown = "\n".join(text(printable(line)) for line in lines)
    return f'<details id="spec"><summary>The spec as it was resolved</summary><pre>{shown}</pre></details>'


def _plain(content: Any) -> Any:
    """Mappings and sequences as YAML knows them."""
    if isinstance(content, Mapping):
        return {str(key): _plain(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_plain(value) for value in content]
    return content if content is None or isinstance(content, bool | int | float | str) else str(content)
