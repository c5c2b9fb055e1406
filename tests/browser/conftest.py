"""One Chromium for all tests of pages; they fail where it is missing."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, sync_playwright

from support.report.browsing import ARGUMENTS, Opened, Visit


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = shutil.which("chromium")
    assert path, "chromium is missing: run `sh scripts/chromium`"
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield launched
        launched.close()


@pytest.fixture
def visit(browser: Browser, tmp_path: Path) -> Iterator[Visit]:
    """Opens a page from its markup; options are those of a browser context."""
    contexts = []

    def open_page(markup: str, **options: Any) -> Opened:
        file = tmp_path / "page.html"
        file.write_text(markup, encoding="utf-8")
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        contexts.append(context)
        page = Opened(context.new_page(), file.as_uri())
        page.tab.on("request", lambda request: page.requests.append(request.url))
        page.tab.on("console", page.hear)
        page.tab.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.tab.goto(page.address)
        return page

    yield open_page
    for context in contexts:
        context.close()
