"""The report: its figures are those of the JSON, rounded to the safe side."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ppdp_spark.report.format.numbers import apart, number, percent, room
from ppdp_spark.report.sentences.skyline import knowledge
from support.report import examples
from support.report.reading import Page, agrees, leaves

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
