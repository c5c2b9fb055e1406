"""The pages of a comparison and of a sweep in a real browser."""

from __future__ import annotations

import pytest

from ppdp_spark.report import Choice, Compared, render_comparison, render_sweep
from support.report import examples
from support.report.browsing import Visit

pytestmark = pytest.mark.browser

A4 = 688
"""Pixels between the margins of a sheet."""

VARIED = [(k, form) for k in (5, 20, 100) for form in ("generalized", "bucketized")]


def run(name: str, error: float) -> Compared:
    summary = examples.passing_summary()
    summary["metrics"]["queries"]["median"] = error
    return Compared(name, summary, examples.passing_verdict())


def comparison() -> str:
    failed = Compared("failed", examples.failing_summary(), examples.failing_verdict())
    return render_comparison([run("small", 0.125), run(examples.HOSTILE, 0.25), failed])


def swept() -> str:
    choices = [
        Choice(f"v{i}", {"privacy.k_anonymity": k, "output.form": form}, run(f"v{i}", 0.5 / (1 + i)))
        for i, (k, form) in enumerate(VARIED)
    ]
    changes = {"privacy.k_anonymity": 5000, "output.form": "generalized"}
    return render_sweep(examples.HOSTILE, (*choices, Choice("none", changes, None, examples.HOSTILE)))


@pytest.mark.parametrize("markup", [comparison(), swept()], ids=["compare", "sweep"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_request_and_no_error(visit: Visit, markup: str, scheme: str) -> None:
    page = visit(markup, color_scheme=scheme)
    assert page.requests == [page.address] and page.complaints == []
    assert page.tab.locator("img").count() == 0 and page.tab.title() != "owned"
    assert examples.HOSTILE in page.tab.locator("body").inner_text()
    assert page.tab.pdf().startswith(b"%PDF")


@pytest.mark.parametrize("markup", [comparison(), swept()], ids=["compare", "sweep"])
@pytest.mark.parametrize("width", [360, 1280])
def test_nothing_sticks_out_of_the_window(visit: Visit, markup: str, width: int) -> None:
    page = visit(markup, viewport={"width": width, "height": 800})
    assert page.tab.evaluate("() => document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("markup", [comparison(), swept()], ids=["compare", "sweep"])
def test_nothing_sticks_out_of_the_paper(visit: Visit, markup: str) -> None:
    page = visit(markup, viewport={"width": A4, "height": 1000})
    page.tab.emulate_media(media="print")
    assert page.tab.evaluate("() => document.documentElement.scrollWidth") <= A4


def test_the_best_of_a_line_is_bold_and_a_failure_is_in_words(visit: Visit) -> None:
    page = visit(comparison())
    line = page.tab.locator("tr", has=page.tab.locator("th", has_text="all, median"))
    assert line.locator("strong").all_inner_texts() == ["12.5 %"]
    assert "✗ FAIL" in page.tab.locator("#part-0").inner_text()


def test_the_frontier_has_a_point_for_each_variant(visit: Visit) -> None:
    page = visit(swept())
    drawings = page.tab.locator("#frontier figure > svg").all()
    assert len(drawings) == 3  # the median and the mean query error, and the width of what is published
    for drawing in drawings:
        assert drawing.locator("path.point").count() == len(VARIED)
        assert drawing.locator("path.cross").count() == 1
    forms = ["form generalized", "form bucketized"]
    assert page.tab.locator("#frontier .legend li").all_inner_texts() == forms * len(drawings)
    drawing = drawings[0]
    across = [box["x"] for box in (p.bounding_box() for p in drawing.locator("g.s0 path.point").all()) if box]
    assert across == sorted(across) and len(across) == 3
    held = page.tab.locator("#variants tbody tr > :nth-child(5)").all_inner_texts()
    assert held == ["no"] * 4 + ["● yes"] * 2 + ["no"]


def test_variants_sort(visit: Visit) -> None:
    page = visit(swept())
    page.tab.get_by_role("button", name="Median query error").click()
    found = page.tab.locator("#variants tbody tr > :nth-child(6)").all_inner_texts()
    shares = [float(text.removesuffix(" %")) for text in found[:-1]]
    assert shares == sorted(shares) and found[-1] == "—"
