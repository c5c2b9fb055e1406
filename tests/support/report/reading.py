"""A page of the report read back: its text, its figures, its tags."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any


class Page(HTMLParser):
    """What a page shows: its visible text, `data` elements, tags, and the content of scripts by id."""

    def __init__(self, markup: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.figures: list[tuple[str, str, bool]] = []
        self.loose: list[str] = []
        self.scripts: dict[str, str] = {}
        self.text = ""
        self._open: list[str] = []
        self._inside: list[tuple[str, dict[str, str | None]]] = []
        self.feed(markup)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "link", "rect", "line"):
            self._inside.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        while self._inside and self._inside.pop()[0] != tag:
            pass

    def handle_data(self, content: str) -> None:
        tags = [tag for tag, _ in self._inside]
        if "script" in tags or "style" in tags:
            self.scripts[str(self._inside[-1][1].get("id"))] = content
            return
        self.text += content
        if "data" in tags:
            attributes = self._inside[-1][1]
            self.figures.append((str(attributes["value"]), content, attributes.get("class") == "derived"))
        elif "pre" not in tags and not any(a.get("class") == "guarantees" for _, a in self._inside):
            self.loose.append(content)


def leaves(content: Any) -> Iterator[Any]:
    if isinstance(content, dict):
        for key, value in content.items():
            yield key
            yield from leaves(value)
    elif isinstance(content, list):
        for value in content:
            yield from leaves(value)
    else:
        yield content


def agrees(shown: str, exact: float) -> bool:
    """Whether a shown number is `exact`, rounded to at least four significant digits."""
    if shown == "∞":
        return exact == float("inf")
    factor = 100 if shown.endswith(" %") else 1
    value = float(shown.removesuffix(" %").replace(",", "").replace("−", "-"))
    return abs(value - exact * factor) <= 5e-4 * abs(exact * factor) + 1e-15
