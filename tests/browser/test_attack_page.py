"""The page of an attack in a real browser."""

from __future__ import annotations

import pytest

from ppdp_spark.report import render
from support.report import examples
from support.report.browsing import Opened, Visit

pytestmark = pytest.mark.browser


@pytest.fixture
def attack(visit: Visit) -> Opened:
    return visit(render(examples.attack_summary(), examples.attack_verdict()))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_request_and_no_error(visit: Visit, scheme: str) -> None:
    page = visit(render(examples.attack_summary(), examples.attack_verdict()), color_scheme=scheme)
    assert page.requests == [page.address] and page.complaints == []
    assert page.tab.locator("img").count() == 0 and page.tab.title() == "hospital-stays: PASS"
    known = page.tab.locator("#attack-knowledge li").all_inner_texts()
    assert known == examples.STATED
    assert page.tab.pdf().startswith(b"%PDF")


@pytest.mark.parametrize("width", [360, 768, 1280])
def test_nothing_sticks_out_of_the_window(visit: Visit, width: int) -> None:
    markup = render(examples.attack_summary(), examples.attack_verdict())
    page = visit(markup, viewport={"width": width, "height": 800})
    assert page.tab.evaluate("() => document.documentElement.scrollWidth") <= width


def test_the_worst_linkages_sort(attack: Opened) -> None:
    def values() -> list[str]:
        return attack.tab.locator("#attack-worst tbody tr > :nth-child(4)").all_inner_texts()

    heading = attack.tab.locator("#attack-worst thead th").nth(3)
    assert values() == ["79.69 %", "78.12 %", "76.56 %"]
    heading.get_by_role("button").click()
    assert values() == ["76.56 %", "78.12 %", "79.69 %"]
    attack.tab.locator("#attack-worst thead th").nth(1).get_by_role("button").click()
    names = attack.tab.locator("#attack-worst tbody tr > :nth-child(2)").all_inner_texts()
    assert names.index("Flu") < names.index("HIV") and len(names) == 3


def test_curves_rise_and_the_limit_lies_above_them(attack: Opened) -> None:
    drawings = attack.tab.locator("#attack-curves figure > svg")
    assert drawings.count() == 3
    largest = drawings.first
    places = [box for box in (p.bounding_box() for p in largest.locator("path.point").all()) if box]
    assert [p["x"] for p in places] == sorted(p["x"] for p in places) and len(places) == 5
    assert [p["y"] for p in places] == sorted((p["y"] for p in places), reverse=True)
    limit = largest.locator("path.limit").bounding_box()
    assert limit is not None and limit["y"] < min(p["y"] for p in places)


def test_an_attack_that_infers_too_much_says_fail(visit: Visit) -> None:
    page = visit(render(*examples.failing_attack()))
    assert page.requests == [page.address] and page.complaints == []
    assert page.tab.title() == "hospital-stays: FAIL"
    text = page.tab.locator("body").inner_text()
    assert "FAIL" in page.tab.locator("#verdict").inner_text() and "PASS" not in text
    assert "Not met: knowing 2 stated facts" in page.tab.locator("#guarantees").inner_text()
    limit = page.tab.locator("#attack-curves path.limit").first.bounding_box()
    last = page.tab.locator("#attack-curves figure").first.locator("path.point").last.bounding_box()
    assert limit is not None and last is not None and last["y"] < limit["y"]


def test_robustness_sorts_by_margin(visit: Visit) -> None:
    verdict = examples.passing_verdict()
    found = [("sex", 0.3125), ("age, sex", 0.328125), ("zip", 0.25)]
    verdict["criteria"] = [examples.robust_row(names, value) for names, value in found]
    page = visit(render(examples.passing_summary(), verdict))
    page.tab.locator("#robustness thead th").nth(4).get_by_role("button").click()
    assert page.tab.locator("#robustness tbody th").all_inner_texts() == ["age, sex", "sex", "zip"]
