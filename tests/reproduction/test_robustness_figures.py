"""What r-robust releases are good for: COUNT queries on Adult, answered from releases at equal r."""

from __future__ import annotations

import numpy as np
import pytest

from ppdp_spark.core.data.coded_people import Sensitive
from ppdp_spark.core.partition.placement import Placed
from ppdp_spark.core.utility.queries import Holders, true_answers
from support.places import script

reproduction = script("reproduce_robustness")

pytestmark = pytest.mark.reproduction
needs_adult = pytest.mark.skipif(not reproduction.adult_path().is_file(), reason="no adult.csv")

LEVEL = 4


@pytest.fixture(scope="module")
def adult():
    return reproduction.read_adult(reproduction.adult_path())


@pytest.fixture(scope="module")
def errors(adult):
    found = reproduction.measured(adult, (LEVEL,), reproduction.QUICK_QUERIES)
    return {record["method"]: record for record in found}


@needs_adult
def test_published_art_answers_as_well_as_the_others_at_equal_r(errors):
    art = errors[reproduction.PUBLISHED]
    for other in (reproduction.ANATOMY, reproduction.GENERALIZED):
        assert art["median"] < 0.7 * errors[other]["median"] and art["mean"] < errors[other]["mean"]
    assert art["median"] <= 1.1 * errors[reproduction.DIVERSE]["median"]
    assert art["mean"] < errors[reproduction.DIVERSE]["mean"]
    assert art["suppressed"] < 0.035


@needs_adult
def test_the_joint_guarantee_costs_little(errors):
    for robust in (reproduction.JOINT, reproduction.ROBUST):
        assert errors[robust]["median"] <= 1.25 * errors[reproduction.PUBLISHED]["median"]
        assert errors[robust]["suppressed"] < errors[reproduction.PUBLISHED]["suppressed"] + 0.02


@needs_adult
def test_only_the_joint_guarantee_leaves_no_group_exposed(adult):
    """Exact posteriors at r = 2: none in the joint model, a few in the published form, most without any."""
    found = {}
    for record in reproduction.protection(adult, (2,)):
        found.setdefault(record["method"], []).append(record["beyond"] / record["groups"])
    assert found[reproduction.JOINT] == [0, 0, 0]
    assert 0 < max(found[reproduction.PUBLISHED]) < 0.001
    assert min(found[reproduction.ANATOMY]) > 0.4 and max(found[reproduction.DIVERSE]) > 0.4


@needs_adult
def test_ours_leaves_no_more_people_than_art_as_printed(adult):
    found = reproduction.beside_the_paper(adult, reproduction.QUICK_QUERIES)["records"]
    records = {record["method"]: record for record in found}
    printed = records[reproduction.LITERAL]
    for method in (reproduction.PUBLISHED, reproduction.JOINT):
        assert records[method]["unplaced"] <= printed["unplaced"]
        assert records[method]["mean"] <= 1.1 * printed["mean"]


@needs_adult
@pytest.mark.parametrize("method", reproduction.METHODS)
def test_no_release_has_more_of_a_value_than_r_allows(adult, method):
    placed = reproduction.released(adult, method, LEVEL)
    assert len(np.unique(placed.order)) == len(placed.order)
    sizes = np.diff(placed.bounds)
    group = np.repeat(np.arange(len(sizes)), sizes)
    counts = np.zeros((len(sizes), adult.sensitive.width), np.int64)
    np.add.at(counts, (group, adult.sensitive.values[placed.order]), 1)
    assert (counts.max(axis=1) * LEVEL <= sizes).all()
    if method in (reproduction.ANATOMY, reproduction.PUBLISHED):
        assert counts.max() == 1


@pytest.mark.parametrize("generalized", [False, True])
def test_groups_of_one_person_answer_exactly_and_one_group_does_not(generalized):
    rng = np.random.default_rng(3)
    codes = rng.integers(1, 9, (500, 3)).astype(np.int32)
    values = (codes[:, 0] > 4).astype(np.int32)
    study = reproduction.Study(("age", "sex", "race"), codes, Sensitive.single(values, 2))
    queries = study.queries(60)
    truth = true_answers(queries, study.places, Holders.of(np.arange(500), values, 2))
    alone = Placed(np.arange(500), np.arange(501))
    together = Placed(np.arange(500), np.array([0, 500]))
    found = reproduction.estimates(study, alone, queries, generalized=generalized)
    assert found == pytest.approx(truth, abs=1e-9) and truth.max() > 0
    assert abs(reproduction.estimates(study, together, queries, generalized=generalized) - truth).max() > 1
