"""Numbers as people read them: short, never rounded across the limit they are compared with."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction
from typing import Any

ABSENT = "—"
DIGITS = 4
_MOST_DIGITS = 17
_INFINITIES = {"inf": math.inf, "-inf": -math.inf}


def mapping(content: Any, *path: str) -> Mapping[str, Any]:
    """The mapping at `path` inside `content`; an empty one where there is none."""
    for key in path:
        content = content.get(key) if isinstance(content, Mapping) else None
    return content if isinstance(content, Mapping) else {}


def listing(content: Any, key: str) -> list[Any]:
    """The list at `key` inside `content`; an empty one where there is none."""
    found = content.get(key) if isinstance(content, Mapping) else None
    return list(found) if isinstance(found, list | tuple) else []


def as_number(value: Any) -> int | float | None:
    """The number in a JSON value; infinities are written there as text. None if it is not one."""
    if isinstance(value, str):
        return _INFINITIES.get(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        return None
    return value


def number(value: Any, digits: int = DIGITS) -> str:
    """`value` with thousands apart; a fraction to `digits` significant digits, at least one decimal."""
    found = as_number(value)
    if found is None:
        return ABSENT
    if math.isinf(found):
        return "∞" if found > 0 else "−∞"
    exact = Decimal(repr(found)) if isinstance(found, float) else Decimal(found)
    return _shown(exact, digits)


def percent(share: Any, digits: int = DIGITS) -> str:
    """A share as a percentage: 0.5 is `50 %`."""
    found = as_number(share)
    if found is None or math.isinf(found):
        return number(found)
    return _shown(Decimal(repr(found)) * 100, digits) + " %"


def ceiling_percent(share: Fraction) -> str:
    """A bound as a percentage, rounded up: to say `below 66.67 %` of what is below 2/3 stays true."""
    hundredths = Decimal(-((-share.numerator * 10_000) // share.denominator)) / 100
    return _shown(hundredths, _MOST_DIGITS) + " %"


def apart(value: Any, limit: Any, *, share: bool = False) -> tuple[str, str]:
    """Both numbers with as many digits as it takes to see that they differ, if they do."""
    form = percent if share else number
    if as_number(value) == as_number(limit):
        return form(value), form(limit)
    texts = ((form(value, digits), form(limit, digits)) for digits in range(DIGITS, _MOST_DIGITS + 1))
    return next((pair for pair in texts if pair[0] != pair[1]), (repr(value), repr(limit)))


def difference(left: Any, right: Any) -> float | None:
    """left − right of the decimal numbers as they are written; None if either is missing or infinite."""
    found = [as_number(left), as_number(right)]
    if any(x is None or math.isinf(x) for x in found):
        return None
    first, second = (Decimal(repr(x)) for x in found)
    return float(first - second)


def room(value: Any, threshold: Any, relation: str) -> float | None:
    """How far `value` is on the safe side of `threshold`; negative where it is on the other side."""
    if relation in (">=", ">"):
        return difference(value, threshold)
    return difference(threshold, value) if relation in ("<=", "<") else None


def _shown(exact: Decimal, digits: int) -> str:
    if exact == exact.to_integral_value() and abs(exact) < 10**18:
        return f"{int(exact):,}".replace("-", "−")
    magnitude = exact.adjusted()
    if magnitude < -6 or magnitude >= 18:
        mantissa, power = f"{exact:.{digits - 1}e}".split("e")
        return f"{mantissa.rstrip('0').rstrip('.')}e{int(power)}".replace("-", "−")
    decimals = max(1, digits - 1 - magnitude)
    rounded = exact.quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_HALF_EVEN)
    text = f"{rounded:,f}".rstrip("0").rstrip(".") if "." in f"{rounded:f}" else f"{rounded:,f}"
    return text.replace("-", "−")
