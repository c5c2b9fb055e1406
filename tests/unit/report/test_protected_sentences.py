"""A report says which values are protected wherever not all of them are."""

from __future__ import annotations

from typing import Any

from ppdp_spark.core.criteria.base import VerdictRow as Row
from ppdp_spark.report import guarantees, render
from ppdp_spark.run.results import Verdict

COUNTED = {"protected_values": 12, "values": 14}
ROWS = [
    Row("k_anonymity", "k = 3", 3.0, 3.0, ">=", 9, 0, "pass", {}, {"k": 3}),
    Row(
        "alpha_k_anonymity",
        "α = 0.5, k = 3",
        0.4,
        0.5,
        "<=",
        9,
        0,
        "pass",
        {},
        {"alpha": 0.5, "k": 3, **COUNTED},
    ),
    Row("distinct_l_diversity", "ℓ = 3", 3.0, 3.0, ">=", 9, 2, "fail", {}, {"l": 3, **COUNTED}),
]


def summary(**declared: Any) -> dict[str, Any]:
    sensitive = {"column": "ill", "case": "svpi", "distinct": 14, "values": [], **declared}
    return {"command": "check", "dataset": "d", "release": {"groups": 9}, "sensitive": sensitive}


def claims(**declared: Any) -> dict[str, str]:
    told = guarantees(summary(**declared), Verdict(tuple(ROWS)).to_dict())
    return {each.title.split(",")[0]: each.claim for each in told}


def test_a_guarantee_about_some_values_says_which():
    found = claims(not_sensitive=["none", "Flu"])
    among = "Protected are 12 of the 14 values of ill, all but “none” and “Flu”: this is about them alone."
    assert found["(α"].endswith(among)
    assert (
        among in found["distinct ℓ-diversity"]
        and "A group may have none of them" in found["distinct ℓ-diversity"]
    )
    assert "Protected" not in found["k-anonymity"]


def test_many_names_are_cut_short_and_unknown_ones_are_a_number():
    many = claims(only=[f"v{i}" for i in range(20)])["(α"]
    assert "only “v0”, " in many and "“v7” and 12 more: this" in many and "v8" not in many
    assert "12 of the 14 values of ill: this" in claims()["(α"]


def test_the_page_names_what_is_protected_and_escapes_it():
    page = render(summary(only=["<b>HIV"]), Verdict(tuple(ROWS)).to_dict())
    assert "ill (protected: only “&lt;b&gt;HIV”)" in page and "<b>HIV" not in page
