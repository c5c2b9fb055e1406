"""The report in a real browser: no request, no error, controls that work; fails where Chromium is missing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ppdp_spark.report import render
from support.report import examples
from support.report.browsing import Opened, Visit

pytestmark = pytest.mark.browser

GRID = "#knowledge-tables table >> nth=0"

Open = Callable[..., Opened]


@pytest.fixture
def opened(visit: Visit) -> Open:
    def open_page(summary: dict[str, Any], verdict: dict[str, Any], **options: Any) -> Opened:
        return visit(render(summary, verdict), **options)

    return open_page


@pytest.fixture
def passing(opened: Open) -> Opened:
    return opened(examples.passing_summary(), examples.passing_verdict())


def column(page: Opened, table: str, place: int) -> list[str]:
    return page.tab.locator(f"{table} tbody tr > :nth-child({place})").all_inner_texts()


def test_no_request_no_error_and_no_script_from_names(passing: Opened) -> None:
    for fold in passing.tab.locator("details").all():
        fold.evaluate("fold => { fold.open = true; }")
    assert passing.requests == [passing.address]
    assert passing.complaints == []
    assert passing.tab.title() == "hospital-stays: PASS"
    assert passing.tab.locator("img").count() == 0
    assert examples.HOSTILE in passing.tab.locator("#criteria").inner_text()


def test_a_script_that_is_not_the_pages_own_is_refused(passing: Opened) -> None:
    passing.tab.evaluate(
        "() => { const s = document.createElement('script'); s.textContent = 'window.owned = 1';"
        " document.body.append(s); }"
    )
    assert passing.tab.evaluate("() => window.owned") is None
    assert any("Content Security Policy" in complaint for complaint in passing.complaints)


def test_the_verdict_is_in_words(passing: Opened, opened: Open) -> None:
    assert "PASS" in passing.tab.locator("#verdict").inner_text()
    failed = opened(examples.failing_summary(), examples.failing_verdict())
    assert "FAIL" in failed.tab.locator("#verdict").inner_text()
    assert "PASS" not in failed.tab.locator("body").inner_text()
    assert failed.complaints == [] and failed.requests == [failed.address]


def test_tables_sort_by_mouse_and_keyboard(passing: Opened) -> None:
    table, ncp = "#criteria table", [0.1234567, 0.4567891, 0.0]
    heading = passing.tab.locator(f"{table} thead th").nth(2)
    heading.get_by_role("button").click()
    found = [float(x) for x in column(passing, table, 3)]
    assert found == sorted(found) and len(found) == 13
    assert heading.get_attribute("aria-sort") == "ascending"
    heading.get_by_role("button").focus()
    passing.tab.keyboard.press("Enter")
    assert [float(x) for x in column(passing, table, 3)] == sorted(found, reverse=True)
    assert heading.get_attribute("aria-sort") == "descending"
    passing.tab.locator(f"{table} thead th").nth(0).get_by_role("button").press("Space")
    names = column(passing, table, 1)
    assert names == sorted(names) and heading.get_attribute("aria-sort") is None
    passing.tab.get_by_role("button", name="NCP").click()
    shown = [float(x) for x in column(passing, "#utility > .scroll > table.sortable", 2)]
    assert shown == [round(x, 4) for x in sorted(ncp)]


def test_numbers_sort_as_numbers_and_infinity_last(opened: Open) -> None:
    verdict = examples.passing_verdict()
    values = [9.0, 1000.0, 11.0, "inf", 2.0]
    verdict["criteria"] = [examples.row("k_anonymity", "k = 2", value, 2.0, ">=") for value in values]
    page = opened(examples.failing_summary(), verdict)
    page.tab.locator("#criteria thead th").nth(2).get_by_role("button").click()
    assert column(page, "#criteria table", 3) == ["2", "9", "11", "1,000", "∞"]


def test_controls_change_table_and_sentence(passing: Opened) -> None:
    tab, entries = passing.tab, examples.knowledge()
    surfaces = {(entry["value"], entry["c"]): entry["surface"] for entry in entries}

    def check(value: str, c: float) -> None:
        expected = [[None if k < 0 else k for k in line] for line in surfaces[value, c]]
        rows = tab.locator(GRID).locator("tbody tr").all()
        shown = [[cell.split("★")[0].strip() for cell in row.locator("td").all_inner_texts()] for row in rows]
        assert shown == [["not safe" if k is None else str(k) for k in line] for line in expected]
        assert value in tab.locator("#knowledge-sentence").inner_text()

    check("Flu", 0.5)
    tab.select_option("#knowledge-confidence", label="75 %")
    check("Flu", 0.75)
    tab.select_option("#knowledge-value", label="HIV")
    check("HIV", 0.75)
    tab.select_option("#knowledge-confidence", label="30 %")
    check("HIV", 0.3)
    assert "★ demanded 12" in tab.locator("td.demanded").inner_text()
    assert passing.complaints == []


def test_hostile_value_can_be_chosen(passing: Opened) -> None:
    before = passing.tab.locator(GRID).inner_text()
    passing.tab.select_option("#knowledge-value", index=3)
    assert passing.tab.locator(GRID).inner_text() != before
    captions = passing.tab.locator("#knowledge-tables caption").all_inner_texts()
    assert all(examples.HOSTILE in caption for caption in captions)
    assert passing.complaints == [] and passing.tab.title() == "hospital-stays: PASS"


def test_cells_are_deeper_where_more_may_be_known(passing: Opened) -> None:
    depth = "cells => cells.map(cell => parseInt(cell.style.getPropertyValue('--depth')))"
    first = passing.tab.locator(GRID).locator("tbody tr").first.locator("td").evaluate_all(depth)
    assert first == sorted(first, reverse=True) and first[0] == 40 and first[-1] < 40
    paint = "cell => getComputedStyle(cell).backgroundColor"
    cells = passing.tab.locator(GRID).locator("tbody tr").first.locator("td")
    assert cells.first.evaluate(paint) != cells.last.evaluate(paint)


def test_breaches_are_sentences(passing: Opened) -> None:
    told = passing.tab.locator("#knowledge-tables td.told").first.inner_text()
    assert "Somebody who knows 1 value that the person does not have (“HIV”)" in told
    assert "is 78.12 % sure that a person in group 1414 has it; 3 of the 31 people there do." in told


def test_an_exploration_has_no_green_pass(opened: Open) -> None:
    summary = {**examples.passing_summary(), "command": "explore"}
    page = opened(summary, examples.passing_verdict())
    assert "EXPLORED" in page.tab.locator("#verdict").inner_text()
    assert "PASS" not in page.tab.locator("header").inner_text()


@pytest.mark.parametrize("width", [360, 768, 1280])
def test_nothing_sticks_out_of_the_window(opened: Open, width: int) -> None:
    size = {"width": width, "height": 800}
    page = opened(examples.passing_summary(), examples.passing_verdict(), viewport=size)
    assert page.tab.evaluate("() => document.documentElement.scrollWidth") <= width


def test_dark_and_light_have_enough_contrast(opened: Open) -> None:
    colours = {}
    for scheme in ("light", "dark"):
        page = opened(examples.failing_summary(), examples.failing_verdict(), color_scheme=scheme)
        ink = "e => { const s = getComputedStyle(e); return [s.color, s.backgroundColor]; }"
        paper = page.tab.locator("body").evaluate(ink)[1]
        colours[scheme] = paper
        for place in ("body", ".verdict.fail strong", "li.pass > .status", "caption", "dt"):
            assert contrast(page.tab.locator(place).first.evaluate(ink)[0], paper) >= 4.5, (scheme, place)
    assert colours["light"] != colours["dark"]


def contrast(first: str, second: str) -> float:
    """The contrast ratio of two `rgb(…)` colours (WCAG 2)."""
    bright, dim = sorted((luminance(first), luminance(second)), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


def luminance(colour: str) -> float:
    parts = [int(part) / 255 for part in colour.removeprefix("rgb(").removesuffix(")").split(",")]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_print_opens_what_is_folded(passing: Opened) -> None:
    closed = "() => document.querySelectorAll('details:not([open])').length"
    before = passing.tab.evaluate(closed)
    assert before > 0
    passing.tab.evaluate("() => window.dispatchEvent(new Event('beforeprint'))")
    assert passing.tab.evaluate(closed) == 0
    passing.tab.evaluate("() => window.dispatchEvent(new Event('afterprint'))")
    assert passing.tab.evaluate(closed) == before
    assert passing.tab.pdf().startswith(b"%PDF")


def test_nothing_sticks_out_of_the_paper(opened: Open) -> None:
    paper = {"width": 688, "height": 1000}
    page = opened(examples.passing_summary(), examples.passing_verdict(), viewport=paper)
    page.tab.emulate_media(media="print")
    page.tab.evaluate("() => window.dispatchEvent(new Event('beforeprint'))")
    assert page.tab.evaluate("() => document.documentElement.scrollWidth") <= 688


def test_without_javascript_everything_but_the_choices_is_there(opened: Open) -> None:
    page = opened(examples.passing_summary(), examples.passing_verdict(), java_script_enabled=False)
    text = page.tab.locator("body").inner_text()
    assert "PASS" in text and "This part needs JavaScript" in text and "Group sizes" in text
    assert page.tab.locator("th button").count() == 0
