"""A report about several sensitive attributes names the one that each guarantee is about."""

from __future__ import annotations

from typing import Any

from ppdp_spark.core.criteria.base import VerdictRow as Row
from ppdp_spark.report import guarantees, render
from ppdp_spark.report.sections.surfaces import controls, surfaces
from ppdp_spark.run.results import Verdict
from ppdp_spark.spark.judge.value_order import unlinked_row

LEVEL = {"l": 1, "k": 2, "m": 0, "value": "flu"}


def bare(status: str) -> list[Row]:
    diverse = Row("distinct_l_diversity", "ℓ = 3", 3.0, 3.0, ">=", 9, 0, status, {"group": 4}, {"l": 3})
    level, given = "c = 3.0, ℓ = 2", {"c": 3.0, "l": 2}
    recursive = Row("recursive_l_diversity", level, 2.0, 3.0, "<", 9, 0, status, {}, given)
    breach = Row("skyline", "σ = flu, (ℓ, k, m) = (1, 2, 0)", 0.4, 0.5, "<", 9, 0, status, {}, LEVEL)
    return [diverse, recursive, breach]


def rows(status: str = "pass") -> list[Row]:
    judged = [row.of_attribute(name) for name in ("ill", "in<come>") for row in bare(status)]
    return [*judged, unlinked_row(0 if status == "pass" else 3, 9)]


def summary(**more: Any) -> dict[str, Any]:
    values = [{"value": "a", "count": 4}, {"value": "b", "count": 5}]
    sensitive = [
        {"column": name, "case": "svpi", "distinct": 2, "values": values} for name in ("ill", "in<come>")
    ]
    errors = {name: {"number": 5, "median": 0.125, "mean": 0.25} for name in ("ill", "in<come>")}
    cell = {"dimension": 1, "selectivity": 0.1, "queries": 10, "median": 0.5, "mean": 0.5}
    queries = {"number": 10, "floor": 1, "median": 0.5, "mean": 0.5, "table": [cell], "attributes": errors}
    return {
        "command": "anonymize",
        "dataset": "d",
        "release": {"form": "generalized", "rows": 9, "groups": 9},
        "sensitive": sensitive,
        "metrics": {"queries": queries},
        **more,
    }


def test_every_guarantee_names_its_attribute():
    told = guarantees(summary(), Verdict(tuple(rows())).to_dict())
    titles = [one.title for one in told]
    assert titles[:1] == ["ill: distinct ℓ-diversity, ℓ = 3"]
    assert sum(title.startswith("ill: ") for title in titles) == 3
    assert sum(title.startswith("in<come>: ") for title in titles) == 3
    assert "ill: recursive (c, ℓ)-diversity, c = 3.0, ℓ = 2" in titles
    claims = {one.title: one.claim for one in told}
    assert (
        claims["ill: distinct ℓ-diversity, ℓ = 3"] == "Every group holds at least 3 different values of ill."
    )
    assert "“in<come>”" in claims["in<come>: distinct ℓ-diversity, ℓ = 3"]
    (apart,) = (one for one in told if one.title == "sensitive attributes published independently")
    assert "Which values of ill and “in<come>” belong to the same person is not told" in apart.claim
    assert "belong together by chance" in apart.claim
    bucketized = summary(release={"form": "bucketized", "rows": 9, "groups": 9})
    claims = [one.claim for one in guarantees(bucketized, Verdict(tuple(rows())).to_dict())]
    assert not any("by chance" in claim for claim in claims)


def test_rows_that_may_tell_are_not_called_independent():
    told = guarantees(summary(), Verdict(tuple(rows("fail"))).to_dict())
    (apart,) = (one for one in told if one.title == "sensitive attributes published independently")
    assert apart.status == "fail"
    assert apart.claim.startswith("Not met: ")


def test_a_checked_table_is_said_to_be_judged_in_cells():
    judged = [row.of_attribute("ill", ["in<come>", "job"]) for row in bare("pass")]
    told = guarantees(summary(command="check", release={"groups": 9}), Verdict(tuple(judged)).to_dict())
    assert len(told) == 3
    for one in told:
        assert one.title.startswith("ill given in<come>, job: ") and one.title.count("ill") == 1
        assert "also know the person's “in<come>” and job, for the values stand in the same row" in one.holds
        assert "taken to be unknown" not in one.limits


def linked(known: list[str]) -> dict[str, Any]:
    columns = {"sensitive": [{"column": "ill"}, {"column": "in<come>"}], "sensitive_linked": {"known": known}}
    return summary(spec={"columns": columns})


def test_a_linked_release_names_who_knows_what_and_who_must_not():
    diverse = bare("pass")[0]
    judged = [diverse.of_attribute("ill", ["in<come>"]), diverse.of_attribute("in<come>")]
    given, verdict = linked(["in<come>"]), Verdict(tuple(judged)).to_dict()
    ill, income = guarantees(given, verdict)
    assert (ill.title, income.title) == (
        "ill given in<come>: distinct ℓ-diversity, ℓ = 3",
        "in<come>: distinct ℓ-diversity, ℓ = 3",
    )
    assert "They may also know the person's “in<come>”" in ill.holds
    assert "also know" not in income.holds
    assert "Somebody who knows the person's ill: the values stand in the same row" in income.limits
    assert "taken to be unknown" not in ill.limits
    page = render(given, verdict)
    assert "Side by side; may be known" in page
    assert "in<come>" not in page
    assert "Side by side" not in render(summary(), verdict)


def test_a_knowledge_skyline_says_whose_it_is_and_who_knows_what():
    entry = {"value": "flu", "c": 0.5, "surface": [[3]], "points": [{"l": 0, "k": 3, "m": 0}]}
    own = {"ill": {"skyline": {"default": [{"l": 0, "k": 2, "m": 0, "c": 0.5}]}}}
    explored = {"command": "explore", "spec": {"privacy": {"per_attribute": own}}}
    told = summary(**explored, knowledge=[{**entry, "attribute": "ill", "known": ["in<come>"]}])
    who = "for somebody who also knows the person&#x27;s “in&lt;come&gt;”"
    assert f"This is about ill, {who}" in controls(told)
    (drawn,), _ = surfaces(told)
    assert drawn["sentence"].startswith("Somebody who knows the ill of up to 3 other people")
    assert drawn["demanded"] == [{"l": 0, "k": 2, "m": 0}]
    assert "This is about" not in controls(summary(knowledge=[entry]))


def test_the_page_lists_every_attribute_and_escapes_its_name():
    page = render(summary(), Verdict(tuple(rows())).to_dict())
    assert "Sensitive columns" in page
    assert "How often each value of in&lt;come&gt; occurs" in page
    assert "in<come>" not in page
    assert "By sensitive column: ill: " in page
