"""Campaigns of random examples: their sizes, odd names, and the errors that bad input may end in."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, Phase, settings


def campaign(name: str, size: int, *, derandomize: bool = True) -> settings:
    """So many examples, the same ones every time; others if the environment asks for another number."""
    given_size = os.environ.get(name)
    return settings(
        max_examples=int(given_size or size),
        derandomize=derandomize and given_size is None,
        phases=[Phase.explicit, Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        print_blob=True,
    )


ODD_NAMES = [
    "", " ", "a.b", "`", "a`b", 'a"b', "it's", "a\nb", "\0", "../../etc", "/", "group_id", "count", "q0",
    "age_min", "AGE", "ﬀ", "İ", "🙂", "x" * 3000, "<script>alert(1)</script>", "${user}", "NO",
    "010", "a,b", "-", "=", "\u202egnp", "a;b", "%s", "{x}", "[x]", "__class__",
]  # fmt: skip
