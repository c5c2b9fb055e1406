"""What a board signs: columns with roles and hierarchies, the hash of the manifest, room for signatures."""

from __future__ import annotations

import re

from ppdp_spark.report import render
from ppdp_spark.report.sections.roles import roles
from ppdp_spark.report.sentences.criteria import state
from support.report import examples
from support.report.reading import Page

DIGEST = "ab12" * 16


def with_columns(**columns):
    summary = examples.passing_summary()
    summary["spec"]["columns"] |= columns
    return summary


def lines(summary):
    """The cells of the table of roles, row by row."""
    body = roles(summary).partition("<tbody>")[2]
    return [re.findall(r">([^<>]+)</t[hd]>", row) for row in body.split("</tr>")[:-1]]


def test_every_column_has_its_role_and_its_hierarchy():
    summary = with_columns(
        identifiers=["ssn"],
        quasi_identifiers={
            "age": {"type": "numeric", "weight": 2.0},
            "zip": {"type": "categorical", "hierarchy": "/home/me/trees/zip.csv"},
        },
        publish_as_is=["year"],
        household={"column": "home"},
    )
    summary["input"]["unassigned"] = ["ward"]
    assert lines(summary) == [
        ["ssn", "identifier", "no", "—"],
        ["home", "household", "no", "tells which rows belong together"],
        ["age", "quasi-identifier", "as a range, or as what a group has in common", "numeric, weight 2"],
        [
            "zip",
            "quasi-identifier",
            "as a range, or as what a group has in common",
            "categorical, hierarchy zip.csv",
        ],
        ["disease", "sensitive", "as it is, not linkable to one person", "—"],
        ["year", "published as it is", "as it is", "not protected"],
        ["ward", "none", "no", "—"],
    ]
    assert "/home/me" not in roles(summary)


def test_names_of_columns_stay_text():
    markup = roles(with_columns(identifiers=[examples.HOSTILE]))
    assert "<script" not in markup and "<img" not in markup


def test_a_release_that_passes_can_be_signed_and_no_other():
    verdict = {**examples.passing_verdict(), "manifest": DIGEST}
    page = Page(render(examples.passing_summary(), verdict)).text
    assert DIGEST in page and "Approved by" in page and page.index("Approval") > page.index("Versions")
    failing = render(examples.failing_summary(), {**examples.failing_verdict(), "manifest": DIGEST})
    assert "Approved by" not in failing
    check = {**examples.passing_summary(), "command": "check"}
    assert "Approved by" not in render(check, verdict) and roles(check) == ""


def test_pass_is_said_of_demands_alone():
    verdict = examples.passing_verdict()
    assert state({"command": "anonymize"}, verdict) == state({"command": "check"}, verdict) == "PASS"
    assert state({"command": "explore"}, verdict) == "EXPLORED"
    assert state({"command": "explore"}, examples.failing_verdict()) == "FAIL"
    measured = {**verdict, "criteria": [verdict["criteria"][-1]]}
    assert state({"command": "check"}, measured) == "MEASURED"


def test_pages_of_attacks_have_no_jargon():
    markup = render(examples.attack_summary(), examples.attack_verdict())
    assert not re.search(r"\bnats\b|[Nn]ot implied|Newton|[Dd]uality", markup.partition("<script>")[0])
