"""What an adversary may know, as small frozen objects: linear statements on P(s | Q_v) and on people.

P(s | Q_v) for a subset Q_v of the quasi-identifiers, by values, sets and numeric ranges, and P(s | Q ∧ ¬Q')
with what people do not have; sums over sensitive values; =, <=, >= and p ± ε; comparisons of two such terms;
people by pseudonym; how many of some people have a value [MaxEnt, Sections 4.1 and 6]. `compiling` turns them
into rows over the variables.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

Value = str | int | float | bool | None
RELATIONS = ("=", "<=", ">=")


@dataclass(frozen=True)
class Between:
    """A numeric range, both ends included; None leaves an end open."""

    low: float | None = None
    high: float | None = None

    def __str__(self) -> str:
        return f"[{'…' if self.low is None else self.low}, {'…' if self.high is None else self.high}]"


Condition = frozenset[Value] | Between


@dataclass(frozen=True)
class Term:
    """P(values | where and not unless), or the share of `people` who have one of the values.

    where
        values  sensitive values, any of which counts
        where   attribute and condition, for each attribute of Q_v; none of them means everybody
        people  pseudonyms; not together with `where` or `unless`
        unless  the same of Q': who meets all of these conditions is left out; none leaves nobody out
    """

    values: frozenset[Value]
    where: tuple[tuple[str, Condition], ...] = ()
    people: tuple[str, ...] = ()
    unless: tuple[tuple[str, Condition], ...] = ()

    @property
    def conditions(self) -> tuple[tuple[str, Condition], ...]:
        """All conditions, negated ones among them."""
        return (*self.where, *self.unless)

    def __str__(self) -> str:
        values = " or ".join(sorted(map(str, self.values)))
        if self.people:
            return f"P({values} | {', '.join(self.people)})"
        given = _listed(self.where)
        if self.unless:
            given += f"{' and ' if given else ''}not ({_listed(self.unless)})"
        return f"P({values} | {given})" if given else f"P({values})"


def term(
    values: Value | Iterable[Value],
    where: Mapping[str, Value | Iterable[Value] | Between] | None = None,
    *,
    people: str | Iterable[str] = (),
    unless: Mapping[str, Value | Iterable[Value] | Between] | None = None,
) -> Term:
    """A term from single values or collections of them."""
    named = (people,) if isinstance(people, str) else tuple(people)
    return Term(_set(values), _conditions(where), named, _conditions(unless))


@dataclass(frozen=True)
class Statement:
    """Σ coefficient · term, related to a bound.

    where
        terms     coefficients and terms
        relation  =, <= or >=
        bound     the right side: a probability, or a number of people
        within    ε of p ± ε, with = only
        counted   the terms count people instead of giving probabilities
        name      how messages call it; by default the formula
    """

    terms: tuple[tuple[float, Term], ...]
    relation: str
    bound: float
    within: float = 0.0
    counted: bool = False
    name: str = field(default="", compare=False)

    def __str__(self) -> str:
        if self.name:
            return self.name
        left = " ".join(_signed(c, t, first=i == 0) for i, (c, t) in enumerate(self.terms))
        if self.counted:
            left = left.replace("P(", "N(")
        return f"{left} {self.relation} {self.bound:g}" + (f" ± {self.within:g}" if self.within else "")


def probability(subject: Term, relation: str, p: float, *, within: float = 0.0, name: str = "") -> Statement:
    """P(s | Q_v) = p, ≤ p, ≥ p or p ± ε."""
    return Statement(((1.0, subject),), relation, p, within=within, name=name)


def comparison(left: Term, relation: str, right: Term, *, margin: float = 0.0, name: str = "") -> Statement:
    """P(left) related to P(right) + margin."""
    return Statement(((1.0, left), (-1.0, right)), relation, margin, name=name)


def people_with(
    people: Iterable[str], values: Value | Iterable[Value], relation: str, number: float, *, name: str = ""
) -> Statement:
    """Exactly, at least or at most `number` of these people have one of the values."""
    return Statement(((1.0, term(values, people=people)),), relation, number, counted=True, name=name)


def _conditions(
    given: Mapping[str, Value | Iterable[Value] | Between] | None,
) -> tuple[tuple[str, Condition], ...]:
    made = ((name, c if isinstance(c, Between) else _set(c)) for name, c in (given or {}).items())
    return tuple(sorted(made, key=lambda pair: pair[0]))


def _listed(conditions: Iterable[tuple[str, Condition]]) -> str:
    return ", ".join(f"{name} in {_shown(condition)}" for name, condition in conditions)


def _set(values: Value | Iterable[Value]) -> frozenset[Value]:
    if values is None or isinstance(values, str | int | float | bool):
        return frozenset([values])
    return frozenset(values)


def _shown(condition: Condition) -> str:
    if isinstance(condition, Between):
        return str(condition)
    return "{" + ", ".join(sorted(map(str, condition))) + "}"


def _signed(coefficient: float, subject: Term, *, first: bool) -> str:
    size = "" if abs(coefficient) == 1 else f"{abs(coefficient):g} "
    sign = "−" if coefficient < 0 else ("" if first else "+")
    return f"{sign}{'' if first else ' '}{size}{subject}"
