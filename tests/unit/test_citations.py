"""Every citation in package, scripts, jobs and documentation has its entry and place in the bibliography."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from support.places import ROOT

BIBLIOGRAPHY = ROOT / "docs" / "theory" / "bibliography.md"
SEARCHED = ("ppdp_spark", "scripts", "jobs", "docs", "README.md", "CONTRIBUTING.md", "SECURITY.md")
BINARY = {".png", ".pyc", ".nbi", ".nbc", ".parquet"}


def _grammar() -> ModuleType:
    """The grammar that the documentation site uses; it lies outside of every package."""
    path = ROOT / "scripts" / "documentation" / "citations.py"
    spec = importlib.util.spec_from_file_location("citations", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


GRAMMAR = _grammar()


def _texts() -> Iterator[tuple[Path, str]]:
    for name in SEARCHED:
        place = ROOT / name
        for path in [place] if place.is_file() else sorted(place.rglob("*")):
            if path.is_file() and path.suffix not in BINARY and "__pycache__" not in path.parts:
                yield path, path.read_text(encoding="utf-8")


def _unresolved(text: str, known: set[str]) -> list[str]:
    return [
        f"[{citation.text}]"
        for citation in GRAMMAR.citations(text)
        if citation.unread or not set(citation.anchors) <= known
    ]


def test_every_citation_resolves() -> None:
    known = GRAMMAR.anchors_of(BIBLIOGRAPHY.read_text(encoding="utf-8"))
    texts = list(_texts())
    missing = [
        f"{path.relative_to(ROOT)}: {cited}" for path, text in texts for cited in _unresolved(text, known)
    ]
    assert sum(1 for _, text in texts for _ in GRAMMAR.citations(text)) > 100, (
        "citations are not found any more"
    )
    assert not missing, "no entry or place in docs/theory/bibliography.md:\n" + "\n".join(missing)


def test_every_anchor_is_defined_once() -> None:
    text = BIBLIOGRAPHY.read_text(encoding="utf-8")
    anchors = GRAMMAR.anchors_of(text)
    assert all(text.count(f'id="{anchor}"') + text.count(f"#{anchor} }}") == 1 for anchor in anchors)


@pytest.mark.parametrize(
    ("text", "anchors"),
    [
        ("[Skyline]", ("skyline",)),
        ("[Skyline, Sec 5.1]", ("skyline", "skyline-sec-5-1")),
        ("[Skyline, Thm 4 and Corollary]", ("skyline", "skyline-thm-4", "skyline-corollary")),
        ("[MaxEnt, Sections 4.1 and 6]", ("maxent", "maxent-sec-4-1", "maxent-sec-6")),
        ("[Robust, Eqs 1-3]", ("robust", "robust-eq-1", "robust-eq-2", "robust-eq-3")),
        ("[Robust, ART]", ("robust", "art")),
        ("[ART, Section V]", ("art", "art-sec-v")),
        ("[Skewed, Fig 2 and 3]", ("skewed", "skewed-fig-2", "skewed-fig-3")),
        ("[Skewed,\n    Def 1]", ("skewed", "skewed-def-1")),
        ("[Li, Li & Venkatasubramanian, ICDE 2007]", ("li-2007",)),
        ("[Xiao, Tao: Anatomy, VLDB 2006]", ("xiao-2006",)),
        ("[LeFevre, DeWitt, Ramakrishnan 2006, Fig. 3]", ("lefevre-2006", "lefevre-2006-fig-3")),
    ],
)
def test_citations_are_read(text: str, anchors: tuple[str, ...]) -> None:
    (found,) = GRAMMAR.citations(text)
    assert found.anchors == anchors and not found.unread


@pytest.mark.parametrize(
    "text", ["list[SkylinePoint]", "[FIRST, dt.date(1970, 1, 1)]", "[ARTIFACT]", "[1970, 1]"]
)
def test_code_is_not_a_citation(text: str) -> None:
    assert not list(GRAMMAR.citations(text))


@pytest.mark.parametrize("text", ["[Skyline, Thm 99]", "[Skyline, somewhere]", "[Nobody et al. 2001]"])
def test_what_has_no_entry_is_found(text: str) -> None:
    known = GRAMMAR.anchors_of(BIBLIOGRAPHY.read_text(encoding="utf-8"))
    assert _unresolved(f"see {text}", known) == [text]
