"""The page of the report: names stay text, parts may be missing, nothing points outside."""

from __future__ import annotations

import ast
import copy
import json
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ppdp_spark.report
from ppdp_spark.core.criteria.skyline.points import LARGEST_KNOWLEDGE
from ppdp_spark.report import outcome, passed, render
from ppdp_spark.report.sections.surfaces import script_json, surfaces
from ppdp_spark.report.sentences.guarantee import Setting
from support.report import examples
from support.report.reading import Page

COMMANDS = ("anonymize", "check", "explore", "suppress", "attack")


# --- verdicts ----------------------------------------------------------------------------------------------


def test_a_pass_needs_every_part() -> None:
    verdict = examples.passing_verdict()
    assert passed(verdict) and outcome(verdict) == "Every criterion that was demanded holds."
    contradicting = copy.deepcopy(verdict)
    contradicting["criteria"][2]["status"] = "fail"
    for broken in (
        contradicting,
        {**verdict, "publishable": False},
        {**verdict, "status": "fail"},
        {key: value for key, value in verdict.items() if key != "status"},
        {key: value for key, value in verdict.items() if key != "publishable"},
        {},
    ):
        assert not passed(broken)
        assert "must not be published" in outcome(broken)
        assert "✗ </span>FAIL</strong>" in render(examples.failing_summary(), broken)


def test_a_failed_page_says_so_and_nothing_says_pass() -> None:
    page = Page(render(examples.failing_summary(), examples.failing_verdict()))
    assert "FAIL" in page.text and "PASS" not in page.text
    assert "2 of 13 criteria do not hold: this must not be published. No release was written." in page.text
    assert page.text.count("✗ fails") == 2


def test_nothing_demanded_promises_nothing() -> None:
    verdict = {
        "status": "pass",
        "publishable": True,
        "criteria": [examples.passing_verdict()["criteria"][-1]],
    }
    assert outcome(verdict) == "No criterion was demanded: this promises nothing."
    assert "Measured, not demanded" in render(examples.failing_summary(), verdict)


# --- the page ----------------------------------------------------------------------------------------------


def test_hostile_names_stay_text(whole: Page, markup: str) -> None:
    assert "<img" not in markup and "<script>document.title" not in markup
    assert [attributes for tag, attributes in whole.tags if tag == "script"] == [
        {"type": "application/json", "id": "knowledge-data"},
        {},
    ]
    assert not any(name.startswith("on") for _, attributes in whole.tags for name in attributes)
    assert whole.text.count(examples.HOSTILE) >= 6
    assert json.loads(script_json({"a": examples.HOSTILE + "\u2028"})) == {"a": examples.HOSTILE + "\u2028"}


HOSTILE_TEXT = st.text(alphabet="<>/\"'&;!-$ script\u2028\n", min_size=1, max_size=30)


def page_named(name: str, other: str) -> Page:
    """A page with two names in every place that takes one."""
    summary, verdict = examples.failing_summary(), examples.passing_verdict()
    summary |= {"dataset": name, "warnings": [other], "run_id": name, "spec": {"k": other}}
    summary["input"]["unassigned"] = [name, other]
    summary["sensitive"] = {"column": other, "values": [{"value": name, "count": 3}]}
    summary["stages"] = [{"name": name, "seconds": 1.5}]
    summary["versions"] = {"x": other}
    verdict["criteria"][9] = examples.skyline_row(name, (3, 20, 2), 0.25, 0.5)
    return Page(render(summary, verdict))


@pytest.fixture(scope="module")
def plain_tags() -> list[str]:
    return [tag for tag, _ in page_named("a", "b").tags]


@given(name=HOSTILE_TEXT, other=HOSTILE_TEXT)
@settings(max_examples=30, deadline=None)
def test_no_name_adds_a_tag(plain_tags: list[str], name: str, other: str) -> None:
    assert [tag for tag, _ in page_named(name, other).tags] == plain_tags


def test_a_page_with_knowledge_skylines_is_small(markup: str) -> None:
    assert len(markup.encode()) < 300_000


def test_nothing_points_outside(whole: Page) -> None:
    for _, attributes in whole.tags:
        for name in ("src", "href", "action", "data", "srcset"):
            assert not attributes.get(name) or attributes[name] in ("#main", "data:,")
    (policy,) = (a["content"] for t, a in whole.tags if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None and policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe-eval" not in policy


def test_headings_tables_and_language(whole: Page) -> None:
    tags = [tag for tag, _ in whole.tags]
    levels = [int(tag[1]) for tag in tags if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert tags.count("table") == tags.count("caption") == tags.count("thead") > 8
    assert all(attributes.get("scope") for tag, attributes in whole.tags if tag == "th")
    assert ("html", {"lang": "en"}) in whole.tags
    identities = [attributes["id"] for _, attributes in whole.tags if attributes.get("id")]
    assert len(identities) == len(set(identities))
    labelled = [a["aria-labelledby"] for _, a in whole.tags if a.get("aria-labelledby")]
    assert labelled and set(labelled) <= set(identities)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_bare_summary_makes_a_page(command: str) -> None:
    bare = {"command": command, "dataset": "d", "version": "1", "created": "2026-01-01", "run_id": "r"}
    verdict = {"status": "pass", "publishable": True, "criteria": []}
    word = "EXPLORED" if command == "explore" else "MEASURED"
    assert f"• </span>{word}" in render(bare, verdict) and "PASS" not in render(bare, verdict)
    assert "FAIL" in render({}, {})


def test_any_section_may_be_missing_or_empty() -> None:
    verdict = examples.passing_verdict()
    for key in examples.passing_summary():
        for empty in (None, {}, []):
            summary = examples.failing_summary() | {key: empty}
            assert "Every criterion that was demanded holds" in render(summary, verdict)
    for part in ("input", "release", "sensitive", "metrics", "suppression", "spec"):
        for key in examples.passing_summary()[part]:
            summary = examples.failing_summary() | {"release": examples.passing_summary()["release"]}
            del summary[part][key]
            render(summary, verdict)
    for key in verdict["criteria"][0]:
        rows = [{k: v for k, v in row.items() if k != key} for row in verdict["criteria"]]
        render(examples.failing_summary(), {**verdict, "criteria": rows})


def test_a_page_of_very_many_values_stays_small() -> None:
    summary, verdict = examples.passing_summary(), examples.passing_verdict()
    summary["knowledge"] *= 100
    for place, entry in enumerate(copy.deepcopy(summary["knowledge"])):
        summary["knowledge"][place] = entry | {"value": f"value {place}"}
    summary["knowledge"][-1] = summary["knowledge"][-1] | {"surface": [[-1]]}
    verdict["criteria"] += [examples.skyline_row(f"v{i}", (1, 1, 1), 0.25, 0.5) for i in range(2000)]
    verdict["criteria"][-1] |= {"status": "fail", "value": 0.75}
    summary["sensitive"]["values"] = [{"value": f"v{i}", "count": i} for i in range(2000)]
    markup = render(summary, verdict)
    assert len(markup.encode()) < 6_000_000
    drawn, left_out = surfaces(summary)
    assert len(drawn) + left_out == 1200 and drawn[-1]["surface"] == [[None]]
    page = Page(markup)
    assert f"{left_out:,} safer knowledge skylines are in summary.json" in page.text
    assert "How often each sensitive value occurs (the first 200 of 2,000)" in page.text
    assert "σ = v1999" in page.text and "more criteria, all further from their limits" in page.text


def test_infinite_and_missing_cells_of_a_surface() -> None:
    entry = {"value": "x", "c": 0.5, "surface": [["inf", -1], [None, float("inf")]], "points": []}
    (drawn,), _ = surfaces({"knowledge": [entry]})
    assert drawn["surface"] == [["∞", None], [None, "∞"]]
    assert "any number of other people" in drawn["sentence"]
    (absent,), _ = surfaces({"knowledge": [entry | {"surface": [[LARGEST_KNOWLEDGE]]}]})
    assert absent["surface"] == [["∞"]]
    (unsafe,), _ = surfaces({"knowledge": [entry | {"surface": [[-1]]}]})
    assert "is already 50 % sure of “x”, or more" in unsafe["sentence"]


def test_points_tell_of_every_breach_beyond_them() -> None:
    there = {"group": 5, "group_people": 8, "group_occurrences": 2, "probability": 0.5}
    breaches = [
        {**there, "l": 2, "k": 0, "m": 0, "excluded_values": ["a", "b"]},
        {
            **there,
            "l": 3,
            "k": 1,
            "m": 1,
            "excluded_values": ["a"],
            "known_people_group": 6,
            "family_group": 7,
        },
    ]
    entry = {
        "value": "x",
        "c": 0.5,
        "surface": [[3]],
        "points": [{"l": 0, "k": 3, "m": 0, "breaches": breaches}],
    }
    (drawn,), _ = surfaces({"knowledge": [entry]})
    end = "is 50 % sure that a person in group 5 has it; 2 of the 8 people there do."
    assert drawn["points"][0]["breaches"] == [
        f"Somebody who knows 2 values that the person does not have (“a”, “b”) {end}",
        "Somebody who knows 3 values that the person does not have (“a”, …), the value of 1 other person in "
        f"group 6 and of 1 person in group 7 that they have it only if the person does {end}",
    ]
    (sets,), _ = surfaces({"knowledge": [entry], "sensitive": {"column": "ill", "case": "mvpi-set"}})
    assert "2 values that come only with it (“a”, “b”)" in sets["points"][0]["breaches"][0]
    assert "of 1 other person in group 6 that they do not have it" in sets["points"][0]["breaches"][1]


def test_setting_reads_the_spec_where_the_summary_is_silent() -> None:
    spec = {"columns": {"sensitive": {"column": "my disease", "case": "mvpi-set"}}}
    setting = Setting.of({"spec": spec})
    assert (setting.sensitive, setting.case) == ("“my disease”", "mvpi-set")


def test_report_needs_no_spark() -> None:
    room_of_report = Path(ppdp_spark.report.__file__).parent
    for module in room_of_report.glob("*.py"):
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not any(name.split(".")[0] in ("pyspark", "numpy", "pandas") for name in names)
    program = (
        "import sys, ppdp_spark.report; sys.exit(any(m.split('.')[0] == 'pyspark' for m in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
