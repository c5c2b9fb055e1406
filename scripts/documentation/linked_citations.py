"""MkDocs hook: citations on a page become links to the bibliography; one without an entry is a warning."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from citations import Citation, anchors_of, citations
from mkdocs.plugins import get_plugin_logger
from mkdocs.utils import get_relative_url

log = get_plugin_logger("citations")

BIBLIOGRAPHY = "theory/bibliography"
_TAGS = re.compile(r"(<(?:pre|code|a|svg|h1|math)\b.*?</(?:pre|code|a|svg|h1|math)>|<[^>]+>)", re.DOTALL)
_known: set[str] = set()


def on_files(files: Any, config: Any) -> None:
    """Read which anchors the bibliography has."""
    page = Path(config["docs_dir"]) / f"{BIBLIOGRAPHY}.md"
    _known.clear()
    _known.update(anchors_of(page.read_text(encoding="utf-8")))


def on_page_content(html: str, page: Any, config: Any, files: Any) -> str:
    """Link the citations in the text of a page, but for code and for what is a link already."""
    target = files.get_file_from_path(f"{BIBLIOGRAPHY}.md")
    place = get_relative_url(target.url, page.url)
    parts = _TAGS.split(html)
    return "".join(
        part if part.startswith("<") else _linked(part, place, page.file.src_uri) for part in parts
    )


def _linked(text: str, place: str, source: str) -> str:
    done, out = 0, []
    for citation in citations(text.replace("&amp;", "&")):
        missing = [anchor for anchor in citation.anchors if anchor not in _known]
        if missing or citation.unread:
            log.warning("%s: [%s] is not in the bibliography", source, citation.text)
        out += [text[done : citation.start], _link(citation, place)]
        done = citation.end
    return "".join(out) + text[done:] if done else text


def _link(citation: Citation, place: str) -> str:
    anchor = citation.anchors[1] if len(citation.anchors) > 1 else citation.anchors[0]
    return f'<a class="citation" href="{place}#{anchor}">[{citation.text.replace("&", "&amp;")}]</a>'
