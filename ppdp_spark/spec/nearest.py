"""The known name a mistyped one was probably meant to be."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name most like `name`, or the only one it begins, ignoring case; None if nothing is near."""
    originals = {candidate.casefold(): candidate for candidate in known}
    start = name[:100].casefold()
    matches = get_close_matches(start, originals, n=1, cutoff=0.6)
    if matches:
        return originals[matches[0]]
    longer = [folded for folded in originals if start and folded.startswith(start)]
    return originals[longer[0]] if len(longer) == 1 else None


def suggestion(name: object, known: Iterable[str]) -> str:
    """`did you mean ...?`, or the list of what there is."""
    names = list(known)
    near = nearest(name, names) if isinstance(name, str) else None
    if near is not None:
        return f"did you mean `{near}`?"
    return "known are " + ", ".join(f"`{candidate}`" for candidate in names)
