"""The published experiments of Privacy-MaxEnt [MaxEnt, Sec 7], measured again on Adult."""

from __future__ import annotations

import json

import numpy as np
import pytest

from support.places import script

reproduction = script("reproduce_maxent")
flat_dual = script("benchmarks.flat_dual").flat_dual
maxent_page = script("maxent_page")

pytestmark = pytest.mark.reproduction

KNOWN = (0, 10, 100, 1000)


@pytest.fixture(scope="module")
def adult(adult_path):
    return reproduction.read_buckets(adult_path)


@pytest.fixture(scope="module")
def curves(adult):
    return reproduction.accuracy(adult, KNOWN)


def test_the_release_is_the_papers(adult):
    assert len(adult.codes) == 14_210 and adult.codes.shape[1] == 8 and len(adult.values) == 16
    assert np.bincount(adult.bucket).tolist() == [5] * 2_842
    frequent = np.bincount(adult.sensitive).argmax()
    assert adult.values[frequent] == "HS-grad"
    others = adult.sensitive != frequent
    pairs = adult.bucket[others] * 16 + adult.sensitive[others]
    assert len(np.unique(pairs)) == len(pairs)


def test_rules_are_true_and_have_support(adult):
    positive, negative = adult.mined((2,), 200)
    for rule in (*positive, *negative):
        alike = np.all(adult.codes[:, list(rule.attributes)] == rule.codes, axis=1)
        having = int(np.sum(adult.sensitive[alike] == rule.value))
        assert rule.people == alike.sum() and rule.holding >= 3
        assert rule.holding == (having if rule.positive else rule.people - having)


def test_more_knowledge_comes_nearer_the_truth_and_the_mix_nearest(curves):
    for kind in ("positive", "negative", "mixed"):
        distances = [record[kind] for record in curves]
        assert distances == sorted(distances, reverse=True)
    for record in curves[1:]:
        assert record["mixed"] < min(record["positive"], record["negative"])


def test_the_first_rules_count_most(curves):
    for kind in ("positive", "negative", "mixed"):
        early, late = maxent_page.fall_rates(curves, kind)
        assert early > 2 * late > 0


def test_more_attributes_help_less_up_to_four_and_more_again_at_eight(adult):
    found = reproduction.attributes(adult, (500,), sizes=(1, 2, 4, 8))
    one, two, four, eight = (record["K = 500"] for record in found)
    assert one < two < four and eight < four
    assert [record["rules"] for record in found] == [500] * 4


def test_work_is_near_linear_in_buckets(adult_path):
    small, large = reproduction.by_buckets(adult_path, (500, 2000), (100,), seed=0)
    assert 3.5 < large["variables"] / small["variables"] < 4.5
    assert large["passes"] <= 2 * small["passes"]
    assert max(small["residual"], large["residual"]) < 1e-7


def test_flat_lbfgs_reaches_the_same_optimum_where_it_converges(adult_path):
    adult = reproduction.read_buckets(adult_path, 355)
    (found,) = reproduction.solvers(adult, (50,), seed=0, limit=60)
    assert found["flat_converged"] and found["largest_difference"] < 1e-3
    assert 10 * found["newton_steps"] < found["flat_iterations"]


def test_a_thousand_statements_in_seconds_and_flat_lbfgs_not_in_ten_times_that(adult):
    """CPU time on whatever machine this runs: at most 10 s, and ten times that is not enough for L-BFGS."""
    rules = reproduction.drawn_rules(adult, 1000, seed=0)
    ours = reproduction.timed(adult, rules)
    assert ours["seconds"] < 10 and ours["residual"] < 1e-7
    flat = flat_dual(
        adult.named.buckets, adult.system(rules), tolerance=1e-4, seconds=10 * max(1.0, ours["seconds"])
    )
    assert not flat.converged and flat.residual > 1e-4


def test_the_page_says_what_the_records_say(tmp_path):
    records = [
        {"K": 0, "positive": 0.75, "negative": 0.75, "mixed": 0.75},
        {"K": 10, "positive": 0.5, "negative": 0.5, "mixed": 0.25},
        {"K": 20, "positive": 0.25, "negative": 0.25, "mixed": 0.25},
    ]
    sizes = [{"T": 1, "K = 5": 0.25, "rules": 5}, {"T": 2, "K = 5": 0.5, "rules": 4}]
    page = maxent_page.page({"accuracy": records, "attributes": sizes})
    assert "nearest the truth at 1 of 2 numbers of rules" in page
    assert "0.05 nats off among the first 10, 0 among the last" in page
    assert "helps least is 2 at K = 5" in page and "| 2 | 0.5 | 4 |" in page
    reproduction.write_results(tmp_path, "maxent", {"accuracy": records}, page)
    assert json.loads((tmp_path / "maxent.json").read_text()) == {"accuracy": records}
