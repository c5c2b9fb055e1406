"""The end of the page: which files a signature is about, and room for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ppdp_spark.report.format.markup import Cell, Column, facts, paragraph, section, table, text
from ppdp_spark.report.sentences.criteria import passed

_COLUMNS = [
    Column("For", "short"),
    Column("Name", "line"),
    Column("Date", "line"),
    Column("Signature", "line"),
]
_WHO = ("Prepared by", "Checked by", "Approved by")


def approval(summary: Mapping[str, Any], verdict: Mapping[str, Any]) -> str:
    """What is approved, and lines to sign; nothing for a run that must not be published."""
    if summary.get("command") != "anonymize" or not passed(verdict):
        return ""
    manifest = verdict.get("manifest")
    told = [
        ("Dataset", text(summary.get("dataset", ""))),
        ("Run", text(summary.get("run_id", ""))),
        ("SHA-256 of release.json", f"<code>{text(manifest)}</code>" if manifest else ""),
    ]
    rows = [[Cell(who), *(Cell("") for _ in _COLUMNS[1:])] for who in _WHO]
    return section(
        "approval",
        "Approval",
        [
            paragraph(
                "Signed is the release whose <code>release.json</code> has this hash; that file has the "
                "hashes of all others. <code>ppdp verify</code> derives the verdict again from them."
            ),
            facts(told),
            table("Signatures", _COLUMNS, rows),
        ],
    )
