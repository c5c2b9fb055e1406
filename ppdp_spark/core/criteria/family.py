"""What a criterion tells the rest of the program about itself, as plain data in its own file.

A family is a field of `privacy` in a spec and the criteria that this field can ask for: the parameters and
their limits, how to build the criterion, its traits, and what a check measures unasked.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from ppdp_spark.core.criteria.base import Criterion, LocalCriterion
from ppdp_spark.core.data.groups import GroupSummaries
from ppdp_spark.core.data.value_names import ValueDomain
from ppdp_spark.errors import SpecError

Parameters: TypeAlias = Mapping[str, Any]
Problem: TypeAlias = tuple[tuple[int | str, ...], str]
Kind: TypeAlias = Literal["whole", "number", "whole or number", "choice"]
Build: TypeAlias = Callable[[Parameters, ValueDomain], Criterion[Any] | None]
BuildLocal: TypeAlias = Callable[[Parameters, ValueDomain], LocalCriterion | None]
BuildFloors: TypeAlias = Callable[[Parameters, ValueDomain, GroupSummaries], LocalCriterion | None]

LARGEST_L = 10**6
LARGEST_COUNT = 10**12
"""Bounds that keep products of counts and levels inside 64-bit integers."""

ONE_VALUE = frozenset({"svpi"})
"""Defined for one value per person only."""

EVERY_CASE = frozenset({"svpi", "mvpi-set", "mvpi-multiset"})
"""Defined for one value, a set or a multiset of values per person."""

REQUIRED: Any = object()
"""The default of a parameter that has none."""


@dataclass(frozen=True)
class Parameter:
    """One parameter of a criterion as a spec states it; `whole`, `number`, `share` and `choice` make them.

    where
        kind       `whole`, `number`, `whole or number` or `choice`
        above      the number must be greater than this
        least      … at least this
        most       … at most this
        choices    the words that a `choice` may be
        default    what it is when left out: None for nothing, REQUIRED if it must be there
        example    a good value, for messages and editors
    """

    name: str
    kind: Kind
    above: int | None = None
    least: int | None = None
    most: int | None = None
    choices: tuple[str, ...] = ()
    default: Any = REQUIRED
    example: Any = None
    description: str | None = None


def whole(name: str, *, least: int, most: int = LARGEST_COUNT, **told: Any) -> Parameter:
    """A whole number from `least` to `most`."""
    return Parameter(name, "whole", least=least, most=most, **told)


def number(name: str, *, above: int = 0, most: int | None = None, **told: Any) -> Parameter:
    """A number greater than `above`."""
    return Parameter(name, "number", above=above, most=most, **told)


def share(name: str, **told: Any) -> Parameter:
    """A number above 0 and at most 1."""
    return number(name, most=1, **told)


def choice(name: str, *choices: str, **told: Any) -> Parameter:
    """One of some words."""
    return Parameter(name, "choice", choices=choices, **told)


@dataclass(frozen=True)
class Unasked:
    """What a check measures although nobody asked: the criterion at these parameters, without a threshold.

    `any_case` says that the value means something with several values per person, too.
    """

    label: str
    parameters: Parameters
    any_case: bool = False


@dataclass(frozen=True)
class CriterionWords:
    """A criterion in words for the report, for families whose words are not in `report/sentences`.

    `{sensitive}` stands for the sensitive column, `{groups}` for `3 of 120 groups`, and the name of a
    parameter in braces for its value.

    where
        title    name of the criterion with its parameters
        claim    the guarantee in one sentence, as somebody who signs it reads it
        broken   the same where it does not hold: `{groups} have fewer than {k} people.`
        against  the adversary it holds against
        limits   what it does not protect from
        margin   what the achieved value is: `Smallest group`
        share    whether that value is a share, to be shown in percent
    """

    title: str
    claim: str
    broken: str
    against: str
    limits: str
    margin: str = "Worst value found"
    share: bool = False


def _never(parameters: Parameters) -> bool:
    return False


def _one(parameters: Parameters) -> int:
    return 1


def _no_reason(parameters: Parameters) -> str:
    return ""


def _as_given(data: Any) -> Any:
    return data


def _no_rules(data: Parameters) -> Iterator[Problem]:
    return iter(())


@dataclass(frozen=True)
class Traits:
    """What a criterion needs and what it keeps; requirements and partitioners read them, tests refute them.

    where
        sensitive   it looks at a sensitive attribute
        cases       what a person may have: one value (`svpi`), a set, a multiset
        priors      it looks at priors of people, not at counts alone; people may be left without a place
        weights     it looks at survey weights of people, and at nothing else of them
        unions      cases in which a union of two groups that satisfy it satisfies it. Only then does
                    cutting from the top down miss no cut, and only then does a reader who confuses two
                    groups with equal labels learn no more than the criterion allows
        cut_anyway  cases in which it is not so, and groups are cut from the top down all the same: every
                    one is judged by itself, but a cut behind one that is refused is never found
        table       it compares with the distribution in the whole table, which must not change later
        couples     whether it looks at several groups together, given its parameters
        coupling    in words, for messages: when it does so, and what to do instead
        least_size  the fewest people of a group that can satisfy it, given its parameters
        least_of_some  the same where some values need no protection: a group may have no protected value
    """

    sensitive: bool = True
    cases: frozenset[str] = ONE_VALUE
    priors: bool = False
    weights: bool = False
    unions: frozenset[str] = EVERY_CASE
    cut_anyway: frozenset[str] = frozenset()
    table: bool = False
    couples: Callable[[Parameters], bool] = _never
    coupling: tuple[str, str] = ("", "remove one of them")
    least_size: Callable[[Parameters], int] = _one
    least_of_some: Callable[[Parameters], int] = _one

    def closed(self, case: str) -> bool:
        """Whether unions keep it, in a case of the spec, for whole records (`mvpi-records`) or their rows."""
        several = dict.fromkeys(("mvpi-records", "mvpi-rows"), EVERY_CASE - ONE_VALUE)
        return several.get(case, {case}) <= self.unions


@dataclass(frozen=True)
class Family:
    """A field of `privacy`, and the criteria it can ask for.

    where
        field        the key in the spec: `l_diversity`
        names        names of its criteria as verdicts have them: `distinct_l_diversity`, …
        summary      one sentence for editors and the reference
        parameters   as a spec states them; None where the model of the spec is written by hand
        build        the criterion that the verdict is about; None if it applies to no value of the table
        local        the part that each group meets by itself, if `build` gives something else
        floors       where it couples groups: what each group of a table can meet by itself so that any such
                     groups satisfy it together; None if there is no such thing
        of_some      the criterion where some values need no protection, which the domain tells; None if it is
                     not defined there
        whole_only   why it is not defined there for these parameters; empty if it is
        bare         the field is its only parameter itself: `k_anonymity: 10`
        shorthand    the parameter that a bare number stands for: `delta_disclosure: 1.5`
        written_out  what a spec says, with abbreviations written out
        rules        what no parameter gets wrong by itself, as (place, text)
        public       the parameters as the public manifest shows them
        measures     what a check measures unasked
        cost         cheap criteria are asked first: 0 looks at sizes, 1 at one count, 2 at all, …
        words        by name of a criterion; those of this package are in `report/sentences`
    """

    field: str
    names: tuple[str, ...]
    summary: str
    parameters: tuple[Parameter, ...] | None
    build: Build
    traits: Traits
    local: BuildLocal | None = None
    floors: BuildFloors | None = None
    of_some: Build | None = None
    whole_only: Callable[[Parameters], str] = _no_reason
    bare: bool = False
    shorthand: str | None = None
    written_out: Callable[[Any], Any] = _as_given
    rules: Callable[[Parameters], Iterator[Problem]] = _no_rules
    public: Callable[[dict[str, Any]], dict[str, Any]] = _as_given
    measures: tuple[Unasked, ...] = ()
    cost: int = 2
    words: Mapping[str, CriterionWords] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        problems = list(_contradictions(self))
        if problems:
            raise SpecError(problems)

    def undefined_for_some(self, given: Parameters) -> str:
        """Why it is not defined where some values need no protection; empty if it is."""
        if self.traits.sensitive and self.of_some is None:
            return "does not say what it means"
        return self.whole_only(given)

    def criterion(
        self, given: Parameters, domain: ValueDomain, *, local: bool = False
    ) -> Criterion[Any] | None:
        """The criterion over these values, or the part that each group meets by itself.

        It is about the values that need protection. None if it applies to no value.
        """
        if local and self.local is not None:
            return self.local(given, domain)
        if not self.traits.sensitive or domain.protected is None:
            return self.build(given, domain)
        reason = self.undefined_for_some(given)
        if reason or self.of_some is None:
            raise SpecError(f"`privacy.{self.field}` {reason} where some values need no protection")
        return self.of_some(given, domain)


def _contradictions(family: Family) -> Iterator[str]:
    """What a declaration gets wrong, told to its author."""
    if not re.fullmatch(r"[a-z][a-z0-9_]*", family.field):
        yield f"`field` ({family.field}) must be lower-case letters, digits and underscores"
    if not family.names:
        yield "`names` is empty: name the criteria as their verdict rows do"
    known = [parameter.name for parameter in family.parameters or ()]
    if family.bare and len(known) != 1:
        yield f"`bare` needs exactly one parameter, not {len(known)}"
    if family.shorthand is not None and family.shorthand not in known:
        yield f"`shorthand` ({family.shorthand}) is not a parameter"
    for name in sorted({name for name in known if known.count(name) > 1}):
        yield f"`parameters` has `{name}` twice"
    for parameter in family.parameters or ():
        if not parameter.name.isidentifier():
            yield f"`parameters`: `{parameter.name}` is not a name"
        if (parameter.kind == "choice") != bool(parameter.choices):
            yield f"`parameters`: `{parameter.name}` needs choices exactly if it is a choice"
    if not family.traits.cases or family.traits.cases - EVERY_CASE:
        yield f"`cases` must be some of {', '.join(sorted(EVERY_CASE))}"
    for name in family.words:
        if name not in family.names:
            yield f"`words` are of `{name}`, which is not among `names`"
