"""MkDocs hook: formulas become MathML, which browsers draw by themselves; no script is loaded."""

from __future__ import annotations

import html as escapes
import re
from typing import Any

from latex2mathml.converter import convert

_INLINE = re.compile(r'<span class="arithmatex">\\\((.*?)\\\)</span>', re.DOTALL)
_BLOCK = re.compile(r'<div class="arithmatex">\s*\\\[(.*?)\\\]\s*</div>', re.DOTALL)


def on_page_content(html: str, page: Any, config: Any, files: Any) -> str:
    """Convert what `pymdownx.arithmatex` has marked as LaTeX."""
    html = _INLINE.sub(lambda found: _mathml(found.group(1), "inline"), html)
    return _BLOCK.sub(lambda found: f'<div class="formula">{_mathml(found.group(1), "block")}</div>', html)


def _mathml(latex: str, display: str) -> str:
    return str(convert(escapes.unescape(latex).strip(), display=display))
