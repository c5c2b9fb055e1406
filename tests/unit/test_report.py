"""The report: sentences that promise what was verified, numbers that equal the JSON, text that stays text."""

from __future__ import annotations

import ast
import copy
import json
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import report_examples as examples
from hypothesis import given, settings
from hypothesis import strategies as st
from report_reading import Page, agrees, leaves

import ppdp_spark.report
from ppdp_spark.core import criteria as K
from ppdp_spark.core.criteria.base import LocalCriterion
from ppdp_spark.core.criteria.families import families
from ppdp_spark.core.criteria.skyline.points import LARGEST_KNOWLEDGE, Point, Target
from ppdp_spark.report import guarantees, outcome, passed, render
from ppdp_spark.report.format.numbers import apart, number, percent, room
from ppdp_spark.report.format.quoted_names import printable
from ppdp_spark.report.sections.surfaces import script_json, surfaces
from ppdp_spark.report.sentences.criteria import SENTENCES, TOLD_TOGETHER
from ppdp_spark.report.sentences.guarantee import Setting
from ppdp_spark.report.sentences.skyline import knowledge

COMMANDS = ("anonymize", "check", "explore", "suppress", "attack")


@pytest.fixture(scope="module")
def whole() -> Page:
    return Page(render(examples.passing_summary(), examples.passing_verdict()))


@pytest.fixture(scope="module")
def markup() -> str:
    return render(examples.passing_summary(), examples.passing_verdict())


def numbers_in(text: str) -> list[float]:
    return [float(found.replace(",", "")) for found in re.findall(r"\d[\d,]*(?:\.\d+)?(?:e-?\d+)?", text)]


def only(row: dict[str, Any], **summary: Any) -> Any:
    told = guarantees(summary, {"status": "pass", "publishable": True, "criteria": [row]})
    assert len(told) == 1
    return told[0]


# --- numbers -----------------------------------------------------------------------------------------------


def test_every_figure_shown_is_a_number_of_the_json(whole: Page) -> None:
    summary, verdict = examples.passing_summary(), examples.passing_verdict()
    known = {str(leaf) for leaf in [*leaves(summary), *leaves(verdict)]}
    points = {str(part) for row in verdict["criteria"] if (p := knowledge(row)) for part in p.point[:3]}
    given_figures = [(exact, shown) for exact, shown, derived in whole.figures if not derived]
    assert len(given_figures) > 150
    for exact, shown in given_figures:
        assert exact in known or exact in points
        assert agrees(shown, float(exact))


def test_derived_figures_are_margins_and_ranks(whole: Page) -> None:
    verdict, summary = examples.passing_verdict(), examples.passing_summary()
    rows = [row for row in verdict["criteria"] if row["status"] != "measured"]
    margins = [room(row["value"], row["threshold"], row["relation"]) for row in rows]
    robust = [margin for row, margin in zip(rows, margins, strict=True) if row["criterion"] == "robustness"]
    ranks = range(1, 1 + len(summary["suppression"]["before"]))
    derived = [float(exact) for exact, _, derived in whole.figures if derived]
    assert derived == [*margins, *robust, *map(float, ranks)]


def test_no_other_digit_is_shown_than_those_of_names(whole: Page) -> None:
    texts = [
        leaf
        for leaf in [*leaves(examples.passing_summary()), *leaves(examples.passing_verdict())]
        if isinstance(leaf, str)
    ]
    allowed = {found for text in texts for found in re.findall(r"\d+", text)} | {"0", "1", "3"}
    for loose in whole.loose:
        assert set(re.findall(r"\d+", loose)) <= allowed, loose


def test_every_aggregate_is_on_the_page(whole: Page) -> None:
    summary = examples.passing_summary()
    shown = {exact for exact, _, _ in whole.figures}
    for part in ("input", "release", "sensitive", "metrics", "stages", "suppression"):
        figures = [leaf for leaf in leaves(summary[part]) if isinstance(leaf, int | float) and leaf != 0]
        assert {str(figure) for figure in figures} <= shown, part
    for row in examples.passing_verdict()["criteria"]:
        assert str(row["value"]) in shown


def test_surfaces_in_the_script_equal_the_summary(markup: str) -> None:
    found = json.loads(Page(markup).scripts["knowledge-data"])
    for drawn, entry in zip(found, examples.knowledge(), strict=True):
        expected = [[k if k >= 0 else None for k in line] for line in entry["surface"]]
        assert drawn["surface"] == expected
        assert drawn["value"] == entry["value"] and drawn["confidence"] == percent(entry["c"])
        assert [(p["l"], p["k"], p["m"]) for p in drawn["points"]] == [
            (p["l"], p["k"], p["m"]) for p in entry["points"]
        ]
    demanded = {(d["value"], d["confidence"]): d["demanded"] for d in found}
    assert demanded["Flu", "50 %"] == [{"l": 3, "k": 20, "m": 2}]
    assert demanded["HIV", "30 %"] == [{"l": 3, "k": 12, "m": 2}]
    assert demanded["HIV", "50 %"] == demanded["Flu", "75 %"] == []


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0, "0"),
        (12.0, "12"),
        (1234567, "1,234,567"),
        (-3.5, "−3.5"),
        (0.123456, "0.1235"),
        (45222.37, "45,222.4"),
        (1e-8, "1e−8"),
        (1.25e-9, "1.25e−9"),
        ("inf", "∞"),
        (None, "—"),
        (True, "—"),
        (float("nan"), "—"),
        (2**63, "9.223e18"),
    ],
)
def test_numbers_are_short(value: Any, shown: str) -> None:
    assert number(value) == shown


@given(st.floats(0, 1), st.floats(0, 1), st.booleans())
@settings(max_examples=200)
def test_numbers_that_differ_look_different(value: float, limit: float, share: bool) -> None:
    shown, bound = apart(value, limit, share=share)
    assert (shown == bound) == (value == limit)


@given(st.floats(-1e12, 1e12))
@settings(max_examples=200)
def test_rounding_keeps_four_digits(value: float) -> None:
    shown = float(number(value).replace(",", "").replace("−", "-"))
    assert abs(shown - value) <= 5.0001e-4 * abs(value)


def test_room_is_on_the_safe_side_and_exact() -> None:
    assert room(12, 10, ">=") == 2 and room(4, 10, ">=") == -6
    assert room(0.3, 0.1 + 0.2, "<=") == 4e-17
    assert room(0.1, 0.3, "<") == 0.2
    assert room("inf", 0.3, "<") is None and room(None, 1, "<") is None


# --- sentences ---------------------------------------------------------------------------------------------


def criteria_of_core() -> list[LocalCriterion]:
    distribution = (5, 4, 3)
    arguments: dict[str, tuple[Any, ...]] = {
        "k_anonymity": (7,),
        "alpha_k_anonymity": (0.4, 7),
        "distinct_l_diversity": (4,),
        "entropy_l_diversity": (3.5,),
        "recursive_l_diversity": (2, 5),
        "t_closeness": (0.25, distribution, True),
        "basic_beta_likeness": (1.75, distribution),
        "enhanced_beta_likeness": (1.75, distribution),
        "delta_disclosure": (0.625, distribution),
    }
    kinds: dict[str, type[LocalCriterion]] = {kind.name: kind for kind in vars(K).values() if _is_local(kind)}
    return [kinds[name](*given_arguments) for name, given_arguments in arguments.items()]


def _is_local(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, LocalCriterion) and kind is not LocalCriterion


def test_every_criterion_has_a_sentence() -> None:
    named = {name for family in families() for name in family.names}
    worded = {*SENTENCES, *TOLD_TOGETHER, *(name for family in families() for name in family.words)}
    assert named <= worded
    assert {criterion.name for criterion in criteria_of_core()} == named - {"skyline", "robustness"}


@pytest.mark.parametrize("criterion", criteria_of_core(), ids=lambda criterion: criterion.name)
@pytest.mark.parametrize("status", ["pass", "fail"])
def test_sentences_take_their_numbers_from_the_row(criterion: LocalCriterion, status: str) -> None:
    violations = 0 if status == "pass" else 13
    row = examples.row(
        criterion.name,
        criterion.level,
        2.0625,
        criterion.threshold,
        criterion.relation,
        parameters=criterion.parameters,
    )
    row |= {"status": status, "violations": violations, "groups": 97}
    told = only(row)
    assert told.status == status and told.claim.startswith("Not met") == (status == "fail")
    limit = criterion.threshold
    allowed = {limit, 100 * limit, 2.0625, 206.25, abs(limit - 2.0625), abs(limit - 2.0625) * 100}
    allowed |= (
        {7.0, 5.0, 2.0, 66.67, 3.0} if "k" in criterion.name or "recursive" in criterion.name else set()
    )
    if status == "fail":
        allowed |= {13.0, 97.0}
    for text in (told.title, told.claim, told.margin):
        assert all(any(abs(x - a) <= 1e-3 * a for a in allowed) for x in numbers_in(text)), text
    assert told.holds and told.limits


def test_recursive_diversity_is_worded_as_its_skyline_point() -> None:
    told = only(
        examples.row("recursive_l_diversity", "c = 3, ℓ = 6", 2.5, 3.0, "<", parameters={"c": 3, "l": 6})
    )
    assert told.claim == (
        "Nobody who can rule out 4 values of the sensitive column for a person and knows no more can be "
        "75 % sure of the person's value."
    )
    least = only(
        examples.row("recursive_l_diversity", "c = 2, ℓ = 2", 1.5, 2.0, "<", parameters={"c": 2, "l": 2})
    )
    assert "who knows no more than the group can be 66.67 % sure" in least.claim


def test_k_anonymity_of_a_bucketized_release_does_not_promise_hidden_presence() -> None:
    row = examples.row("k_anonymity", "k = 10", 12.0, 10.0, ">=")
    bucketized = only(row, release={"form": "bucketized"})
    assert "combination of quasi-identifiers" not in bucketized.claim
    assert "who is in the table is not hidden" in bucketized.limits
    assert "combination of quasi-identifiers" in only(row, release={"form": "generalized"}).claim


@pytest.mark.parametrize("label", ["HIV", "a, (ℓ, k, m) = (9, 9, 9)", "two\nlines", ""])
def test_skyline_levels_are_read_back(label: str) -> None:
    target = Target(0, label, Point(3, 20, 2, 0.5))
    found = knowledge({"parameters": target.parameters, "threshold": target.point.c})
    assert found is not None
    assert (found.value, found.point) == (label, (3, 20, 2, 0.5))


def test_skyline_sentence_names_all_knowledge() -> None:
    row = examples.skyline_row("HIV", (3, 20, 1), 0.49999999, 0.5)
    told = only(row, sensitive={"column": "disease", "case": "svpi"})
    assert told.claim == (
        "Nobody can be 50 % sure that a person has “HIV” by knowing the disease of up to 20 other people, "
        "3 values that the person does not have and 1 relative who has it only if the person has it too."
    )
    assert told.margin.startswith("Largest breach probability: 49.999999 %; it must stay below 50 %")


def test_skyline_sentence_of_sets_of_values() -> None:
    row = examples.skyline_row("HIV", (1, 2, 0), 0.25, 1.0)
    told = only(row, sensitive={"column": "disease", "case": "mvpi-set"})
    assert told.claim == (
        "Nobody can be certain that a person has “HIV” by knowing up to 2 other people who do not have it "
        "and 1 value that the person can have only along with it."
    )
    nothing = only(examples.skyline_row("HIV", (0, 0, 0), 0.25, 0.5))
    assert nothing.claim.endswith("by knowing nothing but the groups.")


def test_values_under_one_point_share_a_sentence_and_the_worst_gives_the_margin() -> None:
    rows = [examples.skyline_row(f"v{i}", (1, 1, 1), 0.25 + i / 100, 0.5) for i in range(9)]
    rows[4] |= {"status": "fail", "value": 0.875}
    failing, passing = guarantees({}, {"criteria": rows})
    assert failing.status == "fail" and "87.5 % sure that a person has “v4”" in failing.claim
    assert passing.status == "pass" and "of any single one of 8 values" in passing.claim
    assert "of “v8”: 33 %" in passing.margin


def test_binary_robustness_warns_of_the_joint_model() -> None:
    joint = only(
        examples.row("robustness", "r = 3, joint", 0.3, 1 / 3, "<=", parameters={"r": 3, "model": "joint"})
    )
    binary = only(
        examples.row("robustness", "r = 3, binary", 0.3, 1 / 3, "<=", parameters={"r": 3, "model": "binary"})
    )
    assert "1/3" in joint.claim and "joint model" in joint.holds and "joint" not in joint.limits
    assert "binary model" in binary.holds and "does not imply 1/r there" in binary.limits
    from_spec = only(
        examples.row("robustness", "r = 3", 0.3, 1 / 3, "<=", parameters={"r": 3}),
        spec={"privacy": {"robustness": {"model": "binary", "priors": [{"attributes": ["age", "sex"]}]}}},
    )
    assert "binary model" in from_spec.holds and "alike in (age, sex)" in from_spec.claim


@pytest.mark.parametrize("status", ["fail", "error", "PASS", None, "unknown"])
def test_whatever_is_not_a_plain_pass_is_not_met(status: Any) -> None:
    for row in examples.passing_verdict()["criteria"][:13]:
        told = only({**row, "status": status})
        assert told.status == "fail" and told.claim.startswith("Not met:")


def test_unsafe_suppression_promises_nothing_about_the_most_frequent_value() -> None:
    section = {"method": "unsafe-d", "l": 3, "suppressed": 6, "rate": 0.25}
    (told,) = guarantees({"suppression": section}, {"criteria": []})
    assert told.status == "note" and "is not hidden" in told.claim
    assert guarantees({"suppression": {**section, "suppressed": 0}}, {"criteria": []}) == []


def test_a_criterion_without_words_is_told_all_the_same() -> None:
    told = only(examples.row("novel", "x = 3", 4.5, 5.5, "<="))
    assert told.title == "novel, x = 3" and "4.5" in told.margin and "5.5" in told.margin


def test_terminal_sentences_have_no_control_characters() -> None:
    row = examples.skyline_row("\x1b[31mred\u202e\n", (1, 1, 1), 0.25, 0.5)
    told = only(row, sensitive={"column": "di\x07sease"})
    assert all(text.isprintable() for text in (told.title, told.claim, told.margin, told.holds, told.limits))
    assert "\\x1b[31mred\\u202e\\n" in told.claim


@given(st.text())
def test_printable_is_printable(text: str) -> None:
    assert printable(text).isprintable()
    assert printable(text) == text or not text.isprintable()


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
        {"type": "text/plain", "id": "plot-library"},
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


def test_the_library_is_there_only_for_a_knowledge_skyline(markup: str) -> None:
    without = render(examples.failing_summary(), examples.failing_verdict())
    assert len(without) < 200_000 and "plot-library" not in Page(without).scripts
    assert Page(markup).scripts["plot-library"].startswith("/**\n* plotly.js")
    assert 4_000_000 < len(markup.encode()) < 6_000_000


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
    assert "✓ </span>PASS" in render(bare, verdict)
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
    breaches = [
        {"l": 1, "group": 5, "excluded_values": ["a", "b"]},
        {"l": 2, "group": 1234, "probability": 0.5},
    ]
    entry = {
        "value": "x",
        "c": 0.5,
        "surface": [[3]],
        "points": [{"l": 0, "k": 3, "m": 0, "breaches": breaches}],
    }
    (drawn,), _ = surfaces({"knowledge": [entry]})
    told = "l: 1; group: 5; excluded values: a, b · l: 2; group: 1234; probability: 0.5"
    assert drawn["points"] == [{"l": 0, "k": 3, "m": 0, "witness": told}]


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
