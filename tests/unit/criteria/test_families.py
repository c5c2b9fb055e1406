"""Families of criteria: what they declare is what specs, guarantees and requirements go by."""

from __future__ import annotations

import ast
import inspect
from dataclasses import replace
from importlib.metadata import EntryPoint
from typing import Any

import numpy as np
import pytest

from ppdp_spark.core.criteria import KAnonymity
from ppdp_spark.core.criteria.families import BUILT_IN, families, family_of, loaded
from ppdp_spark.core.criteria.family import (
    EVERY_CASE,
    ONE_VALUE,
    CriterionWords,
    Family,
    Traits,
    share,
    whole,
)
from ppdp_spark.core.data.groups import GroupSummaries, PriorExtrema
from ppdp_spark.core.data.value_names import ValueDomain
from ppdp_spark.errors import DataError, SpecError
from ppdp_spark.run.criteria import guarantees
from ppdp_spark.run.criteria.knowledge import robust_criterion
from ppdp_spark.run.criteria.population import population_criteria
from ppdp_spark.spec import PrivacySpec, ReleaseSpec, privacy
from ppdp_spark.spec.requirements import combination_problems

DOMAIN = ValueDomain(("1", "20", "300"), (6, 4, 2), kind="int")
GROUPS = GroupSummaries(np.array([6, 6]), np.array([[3, 2, 1], [3, 2, 1]]))

STATED: dict[str, Any] = {
    "k_anonymity": 3,
    "l_diversity": {"kind": "recursive", "c": 3, "l": 2},
    "t_closeness": {"t": 0.5},
    "beta_likeness": {"beta": 2},
    "delta_disclosure": 1.5,
    "alpha_k": {"alpha": 0.5, "k": 3},
    "proximity": {"within": 5, "share": 0.5},
    "skyline": {"default": [{"l": 1, "k": 2, "m": 0, "c": 0.9}]},
    "robustness": {"r": 1.5, "priors": [{"attributes": ["sex"]}]},
    "estimated_population": 50,
}


def demanding(**stated: Any) -> PrivacySpec:
    return PrivacySpec.model_validate(stated or STATED)


def invented(**declared: Any) -> Family:
    """A family that nobody installed."""
    base = family_of("k_anonymity")
    return replace(base, field="invented", names=("invented",), **declared)


def test_every_field_of_a_spec_is_a_family() -> None:
    fields = [name for name in PrivacySpec.model_fields if name != privacy.PER_ATTRIBUTE]
    assert fields == [family.field for family in families()] == list(STATED)


def test_the_models_are_what_type_checkers_are_told() -> None:
    tree = ast.parse(inspect.getsource(privacy))
    (block,) = [node for node in tree.body if isinstance(node, ast.If)]
    told = {node.name: node for node in block.body if isinstance(node, ast.ClassDef)}
    assert set(told) == {"PrivacySpec"} | {
        type(getattr(demanding(), family.field)).__name__
        for family in families()
        if family.parameters is not None and not family.bare
    }
    for name, node in told.items():
        fields = {ast.unparse(each.target): each for each in node.body if isinstance(each, ast.AnnAssign)}
        real = getattr(privacy, name).model_fields
        assert list(fields) == list(real)
        for field, each in fields.items():
            default = real[field].get_default()
            assert real[field].is_required() == (each.value is None)
            assert each.value is None or ast.literal_eval(each.value) == default
            assert real[field].is_required() or (default is None) == ("None" in ast.unparse(each.annotation))


def test_guarantees_name_no_criterion() -> None:
    source = inspect.getsource(guarantees)
    names = {name for family in families() for name in (family.field, *family.names)}
    assert not [name for name in names if name in source]
    assert "robust" not in source and "Anonymity" not in source


def test_every_row_of_a_verdict_has_the_parameters_of_its_criterion() -> None:
    wanted = demanding()
    rows = [
        row
        for c in guarantees.criteria_of(wanted, DOMAIN)
        for row in c.decide(c.summarise(GROUPS, np.arange(2)))
    ]
    robust = robust_criterion(wanted, DOMAIN)
    assert robust is not None
    alike = np.full((2, 3), 1 / 3)
    signed = replace(GROUPS, priors=(PriorExtrema(alike, alike),))
    rows += robust.decide(robust.summarise(signed, np.arange(2)))
    (estimated,) = population_criteria(wanted)
    weighed = replace(GROUPS, population=np.array([49_999_999, 60_000_000]))
    rows += estimated.decide(estimated.summarise(weighed, np.arange(2)))
    found = {row.criterion: dict(row.parameters) for row in rows}
    assert found == {
        "k_anonymity": {"k": 3},
        "alpha_k_anonymity": {"alpha": 0.5, "k": 3},
        "recursive_l_diversity": {"c": 3.0, "l": 2},
        "t_closeness": {"t": 0.5, "ordered": False},
        "enhanced_beta_likeness": {"beta": 2.0},
        "delta_disclosure": {"delta": 1.5},
        "proximity": {"within": 5.0, "share": 0.5},
        "estimated_population": {"k": 50},
        "skyline": {"value": "300", "l": 1, "k": 2, "m": 0, "c": 0.9},
        "robustness": {"r": 1.5, "model": "joint", "unique": False, "attributes": "sex"},
    }
    assert [row.criterion for row in rows][:2] == ["k_anonymity", "alpha_k_anonymity"], "cheapest first"


def test_the_least_size_of_a_group_is_that_of_the_strictest_criterion_on_counts() -> None:
    assert demanding().least_group_size == 3
    assert demanding(k_anonymity=3, alpha_k={"alpha": 0.15, "k": 5}).least_group_size == 7
    assert demanding(t_closeness={"t": 0.2}).least_group_size == 1
    assert demanding(robustness={**STATED["robustness"], "r": 5}).least_group_size == 1


def test_public_manifests_show_no_paths() -> None:
    robust = {"r": 2, "priors": [{"attributes": ["sex"], "path": "secret.csv", "may_be_absent": ["x"]}]}
    spec = ReleaseSpec.parse(
        {
            "version": 1,
            "dataset": "d",
            "input": {"path": "a.csv"},
            "columns": {"quasi_identifiers": {"sex": "categorical"}, "sensitive": "job"},
            "privacy": {**STATED, "robustness": robust},
        }
    )
    public = guarantees.public_privacy(spec)
    assert public["robustness"] == {"r": 2.0, "model": "joint", "priors": [{"attributes": ["sex"]}]}
    assert "secret" not in str(public) and public["k_anonymity"] == 3
    assert guarantees.published_privacy(public).criteria == spec.privacy.criteria


def test_manifests_that_cannot_be_read_are_not_called_safe() -> None:
    with pytest.raises(DataError, match="`invented`: install the package"):
        guarantees.published_privacy({"k_anonymity": 3, "invented": 3})
    with pytest.raises(DataError, match="not valid: k_anonymity"):
        guarantees.published_privacy({"k_anonymity": "many"})


def test_what_is_built_must_have_the_traits_that_are_declared() -> None:
    class Pretending(KAnonymity):
        name = "invented"
        union_closed = False

    class Called(KAnonymity):
        name = "invented"

    for kind in (Pretending, KAnonymity):
        family = invented(build=lambda given, domain, kind=kind: kind(given["k"]))
        with pytest.raises(SpecError, match=r"`privacy\.invented` does not have the traits it declares"):
            guarantees.built(family, {"k": 3}, DOMAIN)
    with pytest.raises(SpecError, match="no criterion is made of it"):
        guarantees.built(invented(build=lambda given, domain: None), {"k": 3}, DOMAIN)
    family = invented(build=lambda given, domain: Called(given["k"]))
    assert guarantees.built(family, {"k": 3}, DOMAIN) == Called(3)


def test_the_points_that_a_partitioner_decides_are_those_without_families() -> None:
    points = [{"l": 1, "k": 2, "m": m, "c": 0.9} for m in (0, 1)]
    (local,) = guarantees.separable_criteria(demanding(skyline={"default": points}), DOMAIN)
    assert local.level.count("k, m) = (1, 2, 0)") == 3 and local.name == "skyline_m0"
    assert not guarantees.separable_criteria(demanding(skyline={"default": points[1:]}), DOMAIN)


# Combinations


def problems(family: Family, case: str = "svpi", cause: str | None = None) -> list[str]:
    return list(combination_problems([(family, {"k": 3})], case, cause))


def test_a_criterion_that_unions_break_is_refused() -> None:
    open_to_unions = invented(traits=Traits(cases=EVERY_CASE, unions=frozenset()))
    for case in EVERY_CASE:
        (told,) = problems(open_to_unions, case)
        assert told.startswith("`privacy.invented` is not closed under union") and "ppdp check" in told
    partly = invented(traits=Traits(cases=EVERY_CASE, unions=ONE_VALUE))
    assert not problems(partly, "svpi") and problems(partly, "mvpi-set")
    known = invented(traits=Traits(cases=EVERY_CASE, unions=ONE_VALUE, cut_anyway=EVERY_CASE - ONE_VALUE))
    assert not problems(known, "svpi") and not problems(known, "mvpi-set")
    assert not problems(invented(traits=Traits(priors=True, unions=frozenset())))


def test_a_criterion_of_several_groups_is_refused() -> None:
    coupled = invented(traits=Traits(couples=lambda given: given["k"] > 2))
    (told,) = problems(coupled)
    assert told.startswith("`privacy.invented` looks at several groups together")
    assert not list(combination_problems([(coupled, {"k": 2})], "svpi", None))


def test_the_distribution_of_the_table_must_not_change() -> None:
    compared = invented(traits=Traits(table=True))
    assert not problems(compared)
    (told,) = problems(compared, cause="`partitioner` (art)")
    assert told.startswith("`privacy.invented` cannot be combined with `partitioner` (art): people without")


# Declarations


@pytest.mark.parametrize(
    ("declared", "told"),
    [
        ({"field": "K-anonymity"}, "`field` (K-anonymity)"),
        ({"names": ()}, "`names` is empty"),
        ({"parameters": (whole("k", least=2), share("t"))}, "`bare` needs exactly one parameter, not 2"),
        (
            {"parameters": (whole("k", least=2), whole("k", least=2)), "bare": False},
            "`parameters` has `k` twice",
        ),
        ({"parameters": (whole("k k", least=2),)}, "`k k` is not a name"),
        ({"shorthand": "t"}, "`shorthand` (t) is not a parameter"),
        ({"traits": Traits(cases=frozenset({"svp"}))}, "`cases` must be some of"),
        ({"words": {"other": CriterionWords("", "", "", "", "")}}, "`words` are of `other`"),
    ],
)
def test_a_declaration_that_contradicts_itself_says_so(declared: dict[str, Any], told: str) -> None:
    with pytest.raises(SpecError) as caught:
        replace(family_of("k_anonymity"), **declared)
    assert told in str(caught.value)


def test_all_families_that_cannot_be_loaded_are_named_together() -> None:
    points = [
        *(EntryPoint(text, text, "") for text in BUILT_IN),
        EntryPoint("gone", "ppdp_spark.core.criteria.anonymity:GONE", ""),
        EntryPoint("again", BUILT_IN[0], ""),
    ]
    with pytest.raises(SpecError) as caught:
        loaded(points)
    assert [text.partition(" ")[2].partition(" ")[0] for text in caught.value.problems] == [
        "criterion",
        "field",
        "criterion",
    ]
    assert "`gone`" in caught.value.problems[0] and "`k_anonymity`" in caught.value.problems[1]
    assert [family.field for family in loaded(points[:-2])] == list(STATED)
