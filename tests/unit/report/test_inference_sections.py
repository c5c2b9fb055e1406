"""The attack and robustness in the report: numbers that equal the JSON, sentences that promise no more."""

from __future__ import annotations

import re
from typing import Any

import pytest

from ppdp_spark.report import guarantees, render
from ppdp_spark.report.format.chart import ticks
from ppdp_spark.report.format.numbers import room
from support.report import examples
from support.report.reading import Page, agrees, leaves


def page(summary: dict[str, Any], verdict: dict[str, Any]) -> Page:
    return Page(render(summary, verdict))


def told(row: dict[str, Any], attack: dict[str, Any]) -> Any:
    summary = examples.attack_summary() | {"attack": attack}
    (only,) = guarantees(summary, {"status": "pass", "publishable": True, "criteria": [row]})
    return only


def posterior_row(**rest: Any) -> dict[str, Any]:
    return {**examples.attack_verdict()["criteria"][0], **rest}


def test_every_figure_is_a_number_of_the_json_and_none_is_missing() -> None:
    summary, verdict = examples.attack_summary(), examples.attack_verdict()
    read = page(summary, verdict)
    known = {str(leaf) for leaf in [*leaves(summary), *leaves(verdict)]}
    given = [(exact, shown) for exact, shown, derived in read.figures if not derived]
    for exact, shown in given:
        assert exact in known and agrees(shown, float(exact))
    missing = {str(x) for x in leaves(summary["attack"]) if type(x) in (int, float)} - {e for e, _ in given}
    assert not missing


def test_points_of_the_curves_say_the_numbers_of_the_steps() -> None:
    markup = render(examples.attack_summary(), examples.attack_verdict())
    labels = re.findall(r"<title>([^<]*rules: [^<]*)</title>", markup)
    steps = examples.attack()["steps"]
    for place, key, factor in ((0, "max_posterior", 100), (1, "mean_posterior", 100), (2, "accuracy", 1)):
        for label, step in zip(labels[place * len(steps) :], steps, strict=False):
            told = re.fullmatch(r"([\d,]+) rules: ([\d.]+)(?: %)?", label)
            assert told is not None
            rules, value = told.groups()
            assert int(rules.replace(",", "")) == step["positive"] + step["negative"]
            assert float(value) == pytest.approx(factor * step[key], rel=5e-4)
    assert len(labels) == 3 * len(steps)
    assert "allowed: 84.38 %" in markup


def test_names_and_statements_with_markup_stay_text() -> None:
    read = page(examples.attack_summary(), examples.attack_verdict())
    assert not {"img"} & {tag for tag, _ in read.tags}
    for statement in examples.STATED:
        assert statement in read.text
    assert sum(tag == "script" for tag, _ in read.tags) == 2


def test_each_kind_of_rules_and_each_closeness_has_its_line() -> None:
    attack = examples.attack()
    step = examples.attack_step
    attack["steps"] = [
        step((0, 0), (0.25, 0.125)),
        step((8, 0), (0.5, 0.25)),
        step((0, 8), (0.375, 0.25)),
        step((4, 4), (0.625, 0.25)),
        step((4, 4), (0.5, 0.25), within=0.0625),
    ]
    markup = render(examples.attack_summary() | {"attack": attack}, examples.attack_verdict())
    first = markup.partition("Largest posterior probability of a value</figcaption>")[0].rpartition(
        "<figure"
    )[2]
    assert re.findall(r"</svg>([^<]+)</li>", first) == [
        "both kinds, ε = 0",
        "both kinds, ε = 0.0625",
        "negative rules, ε = 0",
        "positive rules, ε = 0",
    ]
    assert first.count('class="line"') == 2 * 4


def test_what_did_not_converge_is_not_drawn_and_said() -> None:
    attack = examples.attack()
    attack["steps"][-1]["solver"]["converged"] = None
    attack["steps"][-1]["max_posterior"] = None
    markup = render(examples.attack_summary() | {"attack": attack}, examples.attack_verdict())
    assert "✗ not converged" in markup and "1,001 rules:" not in markup


@pytest.mark.parametrize("part", ["source", "knowledge", "steps", "histogram", "worst", "threshold"])
def test_any_part_may_be_missing(part: str) -> None:
    attack = examples.attack()
    del attack[part]
    markup = render(examples.attack_summary() | {"attack": attack}, examples.attack_verdict())
    assert "What an adversary with background knowledge infers" in markup


def test_rules_are_listed_only_if_some_were_mined() -> None:
    attack = examples.attack()
    assert "Positive rules mined" in page({"attack": attack}, examples.attack_verdict()).text
    attack["knowledge"]["mined"] = {"positive": 0, "negative": 0, "attributes": [], "support": 0}
    assert "rules mined" not in page({"attack": attack}, examples.attack_verdict()).text


def test_no_attack_no_section() -> None:
    assert 'id="attack"' not in render(examples.passing_summary(), examples.passing_verdict())


def test_the_sentence_says_what_is_known_what_follows_and_what_is_not_covered() -> None:
    found = told(posterior_row(), examples.attack())
    assert found.status == "pass"
    assert found.claim == (
        "Knowing 2 stated facts, the 500 strongest rules on who has a value and the 501 strongest rules on "
        "who does not have one, somebody is at most 79.69 % sure of a person's value of disease."
    )
    assert "at most 84.38 % is allowed" in found.margin
    assert "maximum entropy" in found.holds and "knows more than that" in found.limits


def test_a_breach_and_a_missing_value_are_not_met() -> None:
    found = told(posterior_row(status="fail", threshold=0.5), examples.attack())
    assert found.status == "fail" and found.claim.startswith("Not met: knowing 2 stated facts")
    unknown = told(posterior_row(status="fail", value=None), examples.attack())
    assert unknown.status == "fail" and unknown.claim.startswith("Not met: it is not known")
    broken = told(posterior_row(status="surprise"), examples.attack())
    assert broken.status == "fail"


def test_without_a_threshold_it_is_measured_only() -> None:
    row = posterior_row(status="measured", threshold=None)
    found = told(row, examples.attack() | {"threshold": None})
    assert found.status == "measured" and found.margin == "Largest posterior probability: 79.69 %."
    verdict = {"status": "pass", "publishable": True, "reason": None, "criteria": [row]}
    attack = examples.attack() | {"threshold": None}
    read = page(examples.attack_summary() | {"attack": attack}, verdict)
    assert "• measured" in read.text and "✓ holds" not in read.text and "allowed:" not in read.text


def test_no_knowledge_and_closeness_are_said() -> None:
    attack = examples.attack() | {"knowledge": {"stated": [], "mined": None}}
    attack["steps"] = [examples.attack_step((0, 0), (0.25, 0.125))]
    assert told(posterior_row(), attack).claim.startswith("Knowing nothing but the release, somebody")
    attack["steps"] = [examples.attack_step((1, 0), (0.25, 0.125), within=0.05)]
    assert "Knowing the strongest rule on who has a value (to ± 5 %), " in told(posterior_row(), attack).claim


def test_every_figure_of_learning_is_a_number_of_the_json_and_none_is_missing() -> None:
    summary, verdict = examples.attack_summary() | {"attack": examples.learned_attack()}, learned_verdict()
    read = page(summary, verdict)
    known = {str(leaf) for leaf in [*leaves(summary), *leaves(verdict)]}
    given = [(exact, shown) for exact, shown, derived in read.figures if not derived]
    for exact, shown in given:
        assert exact in known and agrees(shown, float(exact))
    learning = {str(x) for x in leaves(summary["attack"]["learning"]) if type(x) in (int, float)}
    assert len(learning) > 40 and not learning - {exact for exact, _ in given}
    assert "learned on the cluster" in read.text and "mined" not in read.text
    first = examples.learned_attack()["learning"]["learned"]["classes"][0]
    derived = [exact for exact, _, derived in read.figures if derived]
    assert str(first["right"] / first["people"]) in derived


def learned_verdict(**rest: Any) -> dict[str, Any]:
    row = posterior_row(criterion="learned_posterior", level="learned", **rest)
    return {"status": "pass", "publishable": True, "reason": None, "criteria": [row]}


def test_what_is_learned_is_said_with_how_often_it_is_right() -> None:
    attack = examples.learned_attack()
    found = told(learned_verdict()["criteria"][0], attack)
    assert found.status == "pass" and found.title == "posterior after learning, learned"
    assert found.claim == (
        "Knowing nothing but the release, and learning from it how values depend on quasi-identifiers, "
        "somebody is at most 79.69 % sure of a person's value of disease. A value is more than 53.12 % "
        "likely for 1,379.5 people, and by the shares of groups alone for 211.5. Of these guesses, 811.8 "
        "are right with learning."
    )
    assert "naive Bayes" in found.holds and "maximum entropy" not in found.holds
    assert "a better model" in found.limits
    for side in ("shares", "learned"):
        attack["learning"][side]["right"] = None
        for entry in attack["learning"][side]["classes"]:
            entry["right"] = None
    found = told(learned_verdict(status="fail")["criteria"][0], attack)
    assert found.status == "fail" and found.claim.startswith("Not met: knowing nothing but the release, and")
    assert "guesses" not in found.claim
    text = page(examples.attack_summary() | {"attack": attack}, learned_verdict()).text
    assert "Guesses of these that are right" not in text and "Share right" in text


def test_no_more_rules_are_claimed_than_there_were() -> None:
    attack = examples.attack()
    attack["knowledge"]["mined"] |= {"positive": 128, "negative": 1}
    claim = told(posterior_row(), attack).claim
    assert "the 128 strongest rules on who has a value and the strongest rule on who does not" in claim
    markup = render(examples.attack_summary() | {"attack": attack}, examples.attack_verdict())
    assert "129 rules: 79.69 %" in markup and "1,001 rules:" not in markup


def test_robustness_has_a_line_for_each_attribute_set() -> None:
    rows = [
        examples.robust_row("sex", 0.3125),
        examples.robust_row("age, sex", 0.328125, witness={"group": 7, "value": examples.HOSTILE}),
        examples.robust_row(examples.HOSTILE, 0.5, status="fail", violations=5),
        {
            **examples.robust_row("zip", 0.25),
            "level": "r = 3, binary model, each value once per group, attributes [zip]",
            "parameters": {"r": 3, "model": "binary", "unique": True, "attributes": "zip"},
        },
    ]
    verdict = {"status": "fail", "publishable": False, "reason": None, "criteria": rows}
    markup = render(examples.failing_summary(), verdict)
    part = markup.partition('<section id="robustness"')[2].partition("</section>")[0]
    lines = [Page(f"<table>{line}</table>") for line in part.partition("<tbody>")[2].split("</tr>")[:-1]]
    assert len(lines) == 4
    for line, row, named in zip(lines, rows, ("sex", "age, sex", examples.HOSTILE, "zip"), strict=True):
        assert line.text.strip().startswith(named)
        exact = [float(x) for x, _, _ in line.figures]
        assert exact[:3] == [row["value"], 1 / 3, room(row["value"], 1 / 3, "<=")]
    assert ["exact" in line.text.replace("exact groups", "") for line in lines] == [True, False, True, True]
    assert ["✗ fail" in line.text for line in lines] == [False, False, True, False]
    assert ["binary" in line.text for line in lines] == [False, False, False, True]


@pytest.mark.parametrize("highest", [1e-9, 0.0031, 0.25, 0.71875, 1.0, 1.01, 3.0, 99.0, 1234.5])
def test_ticks_are_few_round_and_reach_the_top(highest: float) -> None:
    found = ticks(highest)
    assert found[0] == 0 and found[-2] < highest <= found[-1] * (1 + 1e-9) and 3 <= len(found) <= 6
    assert ticks(0.0) == [0.0, 1.0]
