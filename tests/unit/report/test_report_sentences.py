"""Sentences of the report promise what was verified, with the numbers of their row."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppdp_spark.core import criteria as K
from ppdp_spark.core.criteria.base import LocalCriterion
from ppdp_spark.core.criteria.families import families
from ppdp_spark.core.criteria.skyline.points import Point, Target
from ppdp_spark.report import guarantees
from ppdp_spark.report.format.quoted_names import printable
from ppdp_spark.report.sentences.criteria import SENTENCES, TOLD_TOGETHER
from ppdp_spark.report.sentences.skyline import knowledge
from support.report import examples


def numbers_in(text: str) -> list[float]:
    return [float(found.replace(",", "")) for found in re.findall(r"\d[\d,]*(?:\.\d+)?(?:e-?\d+)?", text)]


def only(row: dict[str, Any], **summary: Any) -> Any:
    told = guarantees(summary, {"status": "pass", "publishable": True, "criteria": [row]})
    assert len(told) == 1
    return told[0]


# --- sentences ---------------------------------------------------------------------------------------------


def criteria_of_core() -> list[LocalCriterion]:
    distribution = (5, 4, 3)
    arguments: dict[str, tuple[Any, ...]] = {
        "k_anonymity": (7,),
        "estimated_population": (7,),
        "alpha_k_anonymity": (0.4, 7),
        "distinct_l_diversity": (4,),
        "entropy_l_diversity": (3.5,),
        "recursive_l_diversity": (2, 5),
        "t_closeness": (0.25, distribution, True),
        "basic_beta_likeness": (1.75, distribution),
        "enhanced_beta_likeness": (1.75, distribution),
        "delta_disclosure": (0.625, distribution),
        "proximity": (12.5, 0.375, (Fraction(1), Fraction(2), None)),
    }
    kinds: dict[str, type[LocalCriterion]] = {kind.name: kind for kind in vars(K).values() if _is_local(kind)}
    return [kinds[name](*given_arguments) for name, given_arguments in arguments.items()]


def _is_local(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, LocalCriterion) and kind is not LocalCriterion


def test_every_criterion_has_a_sentence() -> None:
    named = {name for family in families() for name in family.names}
    worded = {*SENTENCES, *TOLD_TOGETHER, *(name for family in families() for name in family.words)}
    assert named <= worded
    assert {criterion.name for criterion in criteria_of_core()} == named - {
        "skyline",
        "robustness",
        "relative_robustness",
    }


@pytest.mark.parametrize("criterion", criteria_of_core(), ids=lambda criterion: criterion.name)
@pytest.mark.parametrize("status", ["pass", "fail"])
def test_sentences_take_their_numbers_from_the_row(criterion: LocalCriterion, status: str) -> None:
    violations = 0 if status == "pass" else 13
    row = examples.row(
        criterion.name,
        criterion.level,
        2.0625,
        criterion.threshold,
        criterion.relation,
        parameters=criterion.parameters,
    )
    row |= {"status": status, "violations": violations, "groups": 97}
    told = only(row)
    assert told.status == status and told.claim.startswith("Not met") == (status == "fail")
    limit = criterion.threshold
    allowed = {limit, 100 * limit, 2.0625, 206.25, abs(limit - 2.0625), abs(limit - 2.0625) * 100}
    allowed |= (
        {7.0, 5.0, 2.0, 66.67, 3.0} if "k" in criterion.name or "recursive" in criterion.name else set()
    )
    allowed |= {12.5} if criterion.name == "proximity" else set()
    if status == "fail":
        allowed |= {13.0, 97.0}
    for text in (told.title, told.claim, told.margin):
        assert all(any(abs(x - a) <= 1e-3 * a for a in allowed) for x in numbers_in(text)), text
    assert told.holds and told.limits


def test_recursive_diversity_is_worded_as_its_skyline_point() -> None:
    told = only(
        examples.row("recursive_l_diversity", "c = 3, ℓ = 6", 2.5, 3.0, "<", parameters={"c": 3, "l": 6})
    )
    assert told.claim == (
        "Nobody who can rule out 4 values of the sensitive column for a person and knows no more can be "
        "75 % sure of the person's value."
    )
    least = only(
        examples.row("recursive_l_diversity", "c = 2, ℓ = 2", 1.5, 2.0, "<", parameters={"c": 2, "l": 2})
    )
    assert "who knows no more than the group can be 66.67 % sure" in least.claim


def test_k_anonymity_of_a_bucketized_release_does_not_promise_hidden_presence() -> None:
    row = examples.row("k_anonymity", "k = 10", 12.0, 10.0, ">=")
    bucketized = only(row, release={"form": "bucketized"})
    assert "combination of quasi-identifiers" not in bucketized.claim
    assert "who is in the table is not hidden" in bucketized.limits
    assert "combination of quasi-identifiers" in only(row, release={"form": "generalized"}).claim


@pytest.mark.parametrize("label", ["HIV", "a, (ℓ, k, m) = (9, 9, 9)", "two\nlines", ""])
def test_skyline_levels_are_read_back(label: str) -> None:
    target = Target(0, label, Point(3, 20, 2, 0.5))
    found = knowledge({"parameters": target.parameters, "threshold": target.point.c})
    assert found is not None
    assert (found.value, found.point) == (label, (3, 20, 2, 0.5))


def test_skyline_sentence_names_all_knowledge() -> None:
    row = examples.skyline_row("HIV", (3, 20, 1), 0.49999999, 0.5)
    told = only(row, sensitive={"column": "disease", "case": "svpi"})
    assert told.claim == (
        "Nobody can be 50 % sure that a person has “HIV” by knowing the disease of up to 20 other people, "
        "3 values that the person does not have and 1 relative who has it only if the person has it too."
    )
    assert told.margin.startswith("Largest breach probability: 49.999999 %; it must stay below 50 %")


def test_skyline_sentence_of_sets_of_values() -> None:
    row = examples.skyline_row("HIV", (1, 2, 0), 0.25, 1.0)
    told = only(row, sensitive={"column": "disease", "case": "mvpi-set"})
    assert told.claim == (
        "Nobody can be certain that a person has “HIV” by knowing up to 2 other people who do not have it "
        "and 1 value that the person can have only along with it."
    )
    nothing = only(examples.skyline_row("HIV", (0, 0, 0), 0.25, 0.5))
    assert nothing.claim.endswith("by knowing nothing but the groups.")


def test_values_under_one_point_share_a_sentence_and_the_worst_gives_the_margin() -> None:
    rows = [examples.skyline_row(f"v{i}", (1, 1, 1), 0.25 + i / 100, 0.5) for i in range(9)]
    rows[4] |= {"status": "fail", "value": 0.875}
    failing, passing = guarantees({}, {"criteria": rows})
    assert failing.status == "fail" and "87.5 % sure that a person has “v4”" in failing.claim
    assert passing.status == "pass" and "of any single one of 8 values" in passing.claim
    assert "of “v8”: 33 %" in passing.margin


def test_binary_robustness_warns_of_the_joint_model() -> None:
    joint = only(
        examples.row("robustness", "r = 3, joint", 0.3, 1 / 3, "<=", parameters={"r": 3, "model": "joint"})
    )
    binary = only(
        examples.row("robustness", "r = 3, binary", 0.3, 1 / 3, "<=", parameters={"r": 3, "model": "binary"})
    )
    assert "1/3" in joint.claim and "joint model" in joint.holds and "joint" not in joint.limits
    assert "binary model" in binary.holds and "does not imply 1/r there" in binary.limits
    from_spec = only(
        examples.row("robustness", "r = 3", 0.3, 1 / 3, "<=", parameters={"r": 3}),
        spec={"privacy": {"robustness": {"model": "binary", "priors": [{"attributes": ["age", "sex"]}]}}},
    )
    assert "binary model" in from_spec.holds and "alike in (age, sex)" in from_spec.claim


@pytest.mark.parametrize("status", ["fail", "error", "PASS", None, "unknown"])
def test_whatever_is_not_a_plain_pass_is_not_met(status: Any) -> None:
    for row in examples.passing_verdict()["criteria"][:13]:
        told = only({**row, "status": status})
        assert told.status == "fail" and told.claim.startswith("Not met:")


def test_unsafe_suppression_promises_nothing_about_the_most_frequent_value() -> None:
    section = {"method": "unsafe-d", "l": 3, "suppressed": 6, "rate": 0.25}
    (told,) = guarantees({"suppression": section}, {"criteria": []})
    assert told.status == "note" and "is not hidden" in told.claim
    assert guarantees({"suppression": {**section, "suppressed": 0}}, {"criteria": []}) == []


def test_a_criterion_without_words_is_told_all_the_same() -> None:
    told = only(examples.row("novel", "x = 3", 4.5, 5.5, "<="))
    assert told.title == "novel, x = 3" and "4.5" in told.margin and "5.5" in told.margin


def test_terminal_sentences_have_no_control_characters() -> None:
    row = examples.skyline_row("\x1b[31mred\u202e\n", (1, 1, 1), 0.25, 0.5)
    told = only(row, sensitive={"column": "di\x07sease"})
    assert all(text.isprintable() for text in (told.title, told.claim, told.margin, told.holds, told.limits))
    assert "\\x1b[31mred\\u202e\\n" in told.claim


@given(st.text())
def test_printable_is_printable(text: str) -> None:
    assert printable(text).isprintable()
    assert printable(text) == text or not text.isprintable()


@pytest.mark.parametrize(
    ("form", "case", "believed"),
    [
        ("generalized", "svpi", "equally likely to them."),
        ("generalized", "mvpi-set", "whole rows are what is dealt to people"),
        ("bucketized", "mvpi-multiset", "equally likely to them."),
        ("rowwise", "mvpi-multiset", "whatever they like about which rows of a group belong together"),
    ],
)
def test_a_skyline_tells_what_is_believed_of_the_form(form: str, case: str, believed: str) -> None:
    row = {
        "criterion": "skyline",
        "level": "flu (0, 1, 0)",
        "value": 0.25,
        "threshold": 0.5,
        "relation": "<",
        "groups": 4,
        "violations": 0,
        "status": "pass",
        "parameters": {"value": "flu", "l": 0, "k": 1, "m": 0},
    }
    told = only(row, release={"form": form}, sensitive={"column": "found", "case": case})
    assert believed in told.holds
    assert ("how many rows a person has" in told.limits) == (form == "rowwise")
