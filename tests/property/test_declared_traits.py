"""Attempts to refute what families of criteria declare: unions, least sizes, what they look at."""

from __future__ import annotations

import sys
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from ppdp_spark.core.criteria.base import Criterion
from ppdp_spark.core.criteria.families import families, family_of
from ppdp_spark.core.criteria.family import EVERY_CASE, REQUIRED, Family, Parameter
from ppdp_spark.core.data.groups import GroupSummaries, PriorExtrema
from ppdp_spark.core.data.value_names import Sensitivity, ValueDomain

WIDTH = 4
LABELS = ("10", "20", "35", "80")


def added() -> Family:
    """The criterion of the package that the documentation walks through."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "plugins" / "ke_anonymity"))
    try:
        from ppdp_ke_anonymity import KE_ANONYMITY
    finally:
        sys.path.pop(0)
    return KE_ANONYMITY


ALL = (*families(), added())
ON_COUNTS = [family for family in ALL if not family.traits.priors]


def named(family: Family) -> str:
    return family.field


def numbers(parameter: Parameter) -> st.SearchStrategy[Any]:
    """Values within the limits of a parameter, small ones above all."""
    if parameter.choices:
        return st.sampled_from(parameter.choices)
    if parameter.kind == "whole":
        assert parameter.least is not None
        return st.integers(parameter.least, parameter.least + 4)
    above, most = parameter.above or 0, parameter.most or 50
    fractions = st.sampled_from([above + x for x in (0.05, 0.2, 1 / 3, 0.5, 0.9, 1, 1.5, 4, 30)])
    real = fractions.filter(lambda x: x <= most)
    return real | st.integers(above + 1, above + 3) if parameter.kind != "number" else real


@st.composite
def parameters(draw: st.DrawFn, family: Family) -> dict[str, Any]:
    """Parameters as a spec may state them."""
    if family.field == "skyline":
        amount = st.integers(0, 3)
        point = st.fixed_dictionaries(
            {"l": amount, "k": amount, "m": amount, "c": st.sampled_from([0.3, 0.5, 0.8, 1.0])}
        )
        return {"default": draw(st.lists(point, min_size=1, max_size=2)), "values": {}}
    if family.field == "robustness":
        r, model = st.sampled_from([1.1, 1.5, 2.0, 2.5, 3.0]), st.sampled_from(["joint", "binary"])
        return {"r": draw(r), "model": draw(model), "priors": [{"attributes": ["sex"]}]}
    stated = {}
    for parameter in family.parameters or ():
        optional = parameter.default is not REQUIRED and draw(st.booleans())
        stated[parameter.name] = parameter.default if optional else draw(numbers(parameter))
    assume(not list(family.rules(stated)))
    return stated


@st.composite
def groups(draw: st.DrawFn, case: str = "svpi", least: int = 1) -> GroupSummaries:
    """Groups that people with one value, a set or a multiset of values may form."""
    count = st.integers(0, 5) | st.sampled_from([0, 1, 12])
    rows = draw(st.lists(st.tuples(*[count] * WIDTH), min_size=least, max_size=5))
    counts = np.array(rows, dtype=np.int64).reshape(-1, WIDTH)
    sizes = counts.sum(axis=1)
    if case != "svpi":
        fewest = counts.max(axis=1) if case == "mvpi-set" else np.ones(len(counts), np.int64)
        sizes = np.maximum(fewest, 1) + draw(st.integers(0, 3))
    kept = sizes > 0
    assume(np.count_nonzero(kept) >= least)
    weights = draw(st.lists(st.integers(1, 4_000_000), min_size=len(counts), max_size=len(counts)))
    return GroupSummaries(sizes[kept], counts[kept], population=np.array(weights, np.int64)[kept])


def domain(
    counts: tuple[int, ...] = (9, 6, 5, 2), case: str = "svpi", about: Sensitivity | None = None
) -> ValueDomain:
    return ValueDomain(LABELS, counts, case, "int", about)


SENSITIVITIES = st.builds(
    Sensitivity,
    st.lists(st.sampled_from(LABELS), min_size=1, max_size=3, unique=True).map(tuple),
    st.booleans(),
)
"""Some values need protection and others do not."""


def holds(criterion: Criterion[Any], some: GroupSummaries) -> bool:
    return all(row.ok for row in criterion.decide(criterion.summarise(some, np.arange(1, len(some) + 1))))


def examples(number: int) -> settings:
    checks = [HealthCheck.too_slow, HealthCheck.filter_too_much]
    return settings(max_examples=number, deadline=None, suppress_health_check=checks)


def built(family: Family, stated: dict[str, Any], about: ValueDomain) -> Criterion[Any]:
    criterion = family.criterion(stated, about)
    assert criterion is not None and criterion.name in family.names
    return criterion


CLOSED = [
    (family, case) for family in ON_COUNTS for case in sorted(family.traits.unions & family.traits.cases)
]


@pytest.mark.parametrize(("family", "case"), CLOSED, ids=lambda x: getattr(x, "field", x))
@examples(80)
@given(data=st.data())
def test_unions_of_groups_that_satisfy_it_satisfy_it(family: Family, case: str, data: st.DataObject) -> None:
    """Of single groups: what looks at several groups together must keep its promise for each alone, too."""
    criterion = built(family, data.draw(parameters(family)), domain(case=case))
    some = data.draw(groups(case, least=2))
    safe = [g for g in range(len(some)) if holds(criterion, some.rows([g]))]
    for one, other in combinations(safe, 2):
        size, counts = some.sizes[[one, other]].sum(), some.counts[[one, other]].sum(axis=0)
        people = some.population[[one, other]].sum(keepdims=True)
        union = GroupSummaries(np.array([size]), counts[None], population=people)
        assert holds(criterion, union), (criterion, some.counts[one], some.counts[other])


def defined(family: Family, data: st.DataObject) -> dict[str, Any]:
    """Parameters for which the family is defined where some values need no protection."""
    stated = data.draw(parameters(family))
    assume(not family.undefined_for_some(stated))
    return stated


OF_SOME = [(family, case) for family, case in CLOSED if family.of_some is not None]


@pytest.mark.parametrize(("family", "case"), OF_SOME, ids=lambda x: getattr(x, "field", x))
@examples(30)
@given(data=st.data(), about=SENSITIVITIES)
def test_unions_keep_it_where_some_values_need_no_protection(
    family: Family, case: str, data: st.DataObject, about: Sensitivity
) -> None:
    criterion = built(family, defined(family, data), domain(case=case, about=about))
    assert criterion.union_closed == family.traits.closed(case)
    some = data.draw(groups(case, least=2))
    safe = [g for g in range(len(some)) if holds(criterion, some.rows([g]))]
    for one, other in combinations(safe, 2):
        size, counts = some.sizes[[one, other]].sum(), some.counts[[one, other]].sum(axis=0)
        union = GroupSummaries(np.array([size]), counts[None])
        assert holds(criterion, union), (criterion, some.counts[one], some.counts[other])


@pytest.mark.parametrize("family", [f for f in ALL if f.of_some is not None], ids=named)
@examples(30)
@given(data=st.data(), about=SENSITIVITIES)
def test_no_smaller_group_satisfies_it_for_some_values(
    family: Family, data: st.DataObject, about: Sensitivity
) -> None:
    stated, some = defined(family, data), data.draw(groups())
    if family.traits.priors:
        alike = np.full(some.counts.shape, 1 / WIDTH)
        some = GroupSummaries(some.sizes, some.counts, (PriorExtrema(alike, alike),))
    criterion, least = built(family, stated, domain(about=about)), family.traits.least_of_some(stated)
    assert least <= family.traits.least_size(stated)
    for g in np.flatnonzero(some.sizes < least):
        assert not holds(criterion, some.rows([int(g)])), (criterion, some.counts[g])


@pytest.mark.parametrize("family", [f for f in families() if f.traits.sensitive], ids=named)
def test_every_family_of_ours_says_what_it_means_for_some_values(family: Family) -> None:
    assert family.of_some is not None
    assert added().undefined_for_some({"k": 2, "e": 1000.0}).startswith("does not say")


@pytest.mark.parametrize("family", ALL, ids=named)
@examples(120)
@given(data=st.data())
def test_no_smaller_group_satisfies_it(family: Family, data: st.DataObject) -> None:
    stated = data.draw(parameters(family))
    some = data.draw(groups())
    if family.traits.priors:
        alike = np.full(some.counts.shape, 1 / WIDTH)
        some = replace(some, priors=(PriorExtrema(alike, alike),))
    criterion = built(family, stated, domain())
    least = family.traits.least_size(stated)
    for g in np.flatnonzero(some.sizes < least):
        assert not holds(criterion, some.rows([int(g)])), (criterion, some.counts[g])


@pytest.mark.parametrize("family", [f for f in ON_COUNTS if not f.traits.table], ids=named)
@examples(60)
@given(data=st.data())
def test_it_compares_with_the_whole_table_only_if_it_says_so(family: Family, data: st.DataObject) -> None:
    stated, some = data.draw(parameters(family)), data.draw(groups())
    one, other = (built(family, stated, domain(counts)) for counts in ((9, 6, 5, 2), (1, 1, 40, 3)))
    for g in range(len(some)):
        assert holds(one, some.rows([g])) == holds(other, some.rows([g]))


@pytest.mark.parametrize("family", ON_COUNTS, ids=named)
@examples(60)
@given(data=st.data())
def test_groups_are_judged_apart_unless_it_couples_them(family: Family, data: st.DataObject) -> None:
    stated, some = data.draw(parameters(family)), data.draw(groups(least=2))
    assume(not family.traits.couples(stated))
    criterion = built(family, stated, domain())
    assert holds(criterion, some) == all(holds(criterion, some.rows([g])) for g in range(len(some)))


@pytest.mark.parametrize("family", [f for f in ALL if not f.traits.sensitive], ids=named)
@examples(40)
@given(data=st.data())
def test_without_a_sensitive_attribute_counts_do_not_matter(family: Family, data: st.DataObject) -> None:
    stated, some = data.draw(parameters(family)), data.draw(groups())
    nothing = replace(some, counts=np.zeros_like(some.counts))
    criterion = built(family, stated, domain())
    assert not criterion.needs_counts and holds(criterion, some) == holds(criterion, nothing)


def test_every_family_that_compares_with_the_table_is_seen_to_do_so() -> None:
    """The trait forbids combinations, so it must not be declared in vain either."""
    stated = {"t_closeness": {"t": 0.2, "distance": "equal"}, "delta_disclosure": {"delta": 1}}
    stated |= {"beta_likeness": {"beta": 0.5, "kind": "basic"}}
    assert set(stated) == {family.field for family in ALL if family.traits.table}
    group = GroupSummaries(np.array([22]), np.array([[9, 6, 5, 2]]))
    for field, given_ in stated.items():
        one, other = (built(family_of(field), given_, domain(c)) for c in ((9, 6, 5, 2), (1, 1, 40, 3)))
        assert holds(one, group) and not holds(other, group)


@pytest.mark.parametrize("family", ALL, ids=named)
def test_traits_agree_with_the_criterion_that_is_built(family: Family) -> None:
    examples_: dict[str, Any] = {"skyline": {"default": [{"l": 1, "k": 1, "m": 0, "c": 0.5}], "values": {}}}
    examples_["robustness"] = {"r": 2, "model": "joint", "priors": [{"attributes": ["sex"]}]}
    stated = examples_.get(family.field) or {
        parameter.name: parameter.default if parameter.default is not REQUIRED else parameter.example
        for parameter in family.parameters or ()
    }
    if family.field == "l_diversity":
        stated["c"] = 3
    for case in sorted(family.traits.cases):
        criterion = built(family, stated, domain(case=case))
        assert criterion.union_closed == family.traits.closed(case)
        assert criterion.needs_priors == family.traits.priors
        assert criterion.needs_weights == family.traits.weights
    assert family.traits.cases <= EVERY_CASE and not family.traits.unions & family.traits.cut_anyway
