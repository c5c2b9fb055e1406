"""Parameters of criteria: checked once, then exact."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from numbers import Rational, Real
from typing import Any

from ppdp_spark.errors import SpecError

Number = int | float | Decimal | Fraction
LONGEST_DENOMINATOR = 10**30


def whole_number(field: str, value: Any, *, least: int) -> int:
    """`value` as an int of at least `least`; a bool or a float is not a whole number."""
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool):
        raise SpecError(f"`{field}` ({value!s}) must be a whole number, not {type(value).__name__}")
    if number < least:
        raise SpecError(f"`{field}` ({value!s}) must be at least {least}")
    return number


def rational(field: str, value: Number) -> Fraction:
    """`value` as the fraction its decimal text says: 0.1 is 1/10, not the binary float nearest to it.

    A third must be given as `Fraction(1, 3)`: the float 1/3 is the decimal 0.3333333333333333, which is less.
    """
    if isinstance(value, bool) or not isinstance(value, Real | Decimal):
        raise SpecError(f"`{field}` ({value!s}) must be a number, not {type(value).__name__}")
    if not isinstance(value, Rational) and not math.isfinite(value):
        raise SpecError(f"`{field}` ({value!s}) must be finite")
    if isinstance(value, Rational):
        exact = Fraction(int(value.numerator), int(value.denominator))
    else:
        exact = Fraction(str(value))
    if exact.denominator > LONGEST_DENOMINATOR or abs(exact) > LONGEST_DENOMINATOR:
        raise SpecError(f"`{field}` ({value!s}) must be below 10^30 and have at most 30 decimal places")
    return exact


def positive(field: str, value: Number) -> Fraction:
    """`value` as an exact fraction above 0."""
    exact = rational(field, value)
    if exact <= 0:
        raise SpecError(f"`{field}` ({value!s}) must be above 0")
    return exact


def value_counts(field: str, value: Iterable[Any]) -> tuple[int, ...]:
    """How often each sensitive value occurs in the whole table, in code order."""
    try:
        counts = tuple(operator.index(count) for count in value)
    except TypeError:
        raise SpecError(f"`{field}` must hold one whole count for each sensitive value") from None
    if min(counts, default=0) < 0 or sum(counts) == 0:
        raise SpecError(f"`{field}` ({len(counts)} counts) must hold no negative count and a positive one")
    if sum(counts) >= 2**62:
        raise SpecError(f"`{field}` ({len(counts)} counts) must sum to less than 2^62")
    return counts
