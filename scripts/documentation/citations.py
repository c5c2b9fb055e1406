"""Citations such as `[Skyline, Sec 5.1]` or `[Li et al. 2007]`, and the anchors in the bibliography.

One grammar for the documentation site, which turns citations into links, and for the test that finds a
citation without an entry.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

PAPERS = ("Skyline", "Robust", "ART", "Skewed", "MaxEnt")
"""Keys of the papers whose systems this package implements; all others are cited by author and year."""

_KINDS = {
    "app": "app",
    "appendix": "app",
    "corollary": "corollary",
    "def": "def",
    "definition": "def",
    "eq": "eq",
    "equation": "eq",
    "ex": "ex",
    "example": "ex",
    "fig": "fig",
    "figure": "fig",
    "fn": "fn",
    "footnote": "fn",
    "lemma": "lemma",
    "prop": "prop",
    "property": "property",
    "proposition": "prop",
    "sec": "sec",
    "section": "sec",
    "step": "step",
    "table": "table",
    "theorem": "thm",
    "thm": "thm",
}
_KEYED = rf"(?:{'|'.join(PAPERS)})(?:,[^\[\]]*)?"
_DATED = r"[A-Z][A-Za-zÀ-ž ,&.:'’–\s-]*?\b(?:19|20)\d{2}(?:,[^\[\]]*)?"
_CITATION = re.compile(rf"\[({_KEYED}|{_DATED})\]")
_YEAR = re.compile(r"\b(?:19|20)\d{2}\b")
_WORD = re.compile(r"[A-Za-zÀ-ž]+|\d+(?:\.\d+)*(?:\s*[-–]\s*\d+)?|[^\sA-Za-z\d]")


@dataclass(frozen=True)
class Citation:
    """One citation in a text.

    where
        text     what stands between the brackets, on one line
        anchors  places in the bibliography that it means: the entry first, then the places within it
        unread   words that the grammar does not know
        start    where the opening bracket is
        end      the end of the closing bracket
    """

    text: str
    anchors: tuple[str, ...]
    unread: tuple[str, ...]
    start: int
    end: int


def citations(text: str) -> Iterator[Citation]:
    """Every citation in a text, in order; one may run over the end of a line."""
    for match in _CITATION.finditer(text):
        inner = " ".join(re.sub(r"\n[\s#>*]*", " ", match.group(1)).split())
        key, rest = _key_and_rest(inner)
        places, unread = _places(key, rest)
        yield Citation(inner, (key, *places), unread, match.start(), match.end())


def anchors_of(bibliography: str) -> set[str]:
    """The anchors that a Markdown page defines, as `{ #name }` of a heading or as `<a id="name">`."""
    return {*re.findall(r"\{ ?#([\w-]+) ?\}", bibliography), *re.findall(r'id="([\w-]+)"', bibliography)}


def _key_and_rest(inner: str) -> tuple[str, str]:
    """The anchor of the entry, and the text that names places within it."""
    first, _, rest = inner.partition(",")
    if first in PAPERS:
        return first.lower(), rest
    year = _YEAR.search(inner)
    assert year is not None, inner
    author = re.match(r"[\w’'-]+", inner)
    assert author is not None, inner
    return f"{author.group(0).lower()}-{year.group(0)}", inner[year.end() :]


def _places(key: str, rest: str) -> tuple[list[str], tuple[str, ...]]:
    """`Secs 4.1 and 6` -> two anchors; a corollary needs no number; a paper's key stands for the paper."""
    found: list[str] = []
    unread: list[str] = []
    kind: str | None = None
    for word in _WORD.findall(rest):
        name = _kind(word)
        if name is not None:
            kind = name
            found += [f"{key}-{kind}"] if kind == "corollary" else []
        elif word in PAPERS:
            found.append(word.lower())
        elif kind is not None and re.fullmatch(r"\d[\d.]*(\s*[-–]\s*\d+)?|[IVX]+", word):
            found += [f"{key}-{kind}-{number}" for number in _numbers(word)]
        elif word not in {",", ".", "and", "&"}:
            unread.append(word)
    return found, tuple(unread)


def _kind(word: str) -> str | None:
    lowered = word.lower()
    return _KINDS.get(lowered) or _KINDS.get(lowered.removesuffix("s"))


def _numbers(word: str) -> list[str]:
    ends = re.split(r"\s*[-–]\s*", word)
    if len(ends) == 2:
        return [str(number) for number in range(int(ends[0]), int(ends[1]) + 1)]
    return [word.replace(".", "-").lower()]
