"""The learned attack on arrays: against plain loops and a conic solver, objective, counts, small groups."""

from __future__ import annotations

from functools import partial
from itertools import permutations

import cvxpy as cp
import numpy as np
import pytest

from ppdp_spark.core.attacks import group_scaling, learning
from ppdp_spark.core.attacks.group_scaling import scaled
from ppdp_spark.core.attacks.learning import learned
from ppdp_spark.core.attacks.naive_bayes import SMOOTHING, CodedGroups, NaiveBayes
from ppdp_spark.core.maxent.buckets import Buckets, buckets_from_rows, closed_form
from ppdp_spark.core.maxent.solve import bucket_steps
from ppdp_spark.errors import NotConvergedError
from support.core import learned_reference
from support.core.learned_reference import LearnedByLoops
from support.steps import interpreted, lines_run


def table(seed: int, *, rows=240, size=4, strength=0.8, attributes=3, values=4):
    """Group, codes and value of people whose values follow their codes, grouped by the first of them."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, (rows, attributes))
    follows = (codes[:, 1] + (codes[:, 2] == 2)) % values
    sensitive = np.where(rng.random(rows) < strength, follows, rng.integers(0, values, rows))
    order = np.lexsort((rng.random(rows), codes[:, 0]))
    group = np.empty(rows, dtype=np.int64)
    group[order] = np.arange(rows) // size
    return group, codes, sensitive


def coded(group, codes, sensitive) -> CodedGroups:
    """Every person a tuple of their own."""
    buckets = buckets_from_rows(group, np.arange(len(group)), sensitive)
    return CodedGroups(buckets, codes[buckets.cell_qi].astype(np.int32))


def learned_from(groups: CodedGroups, values: int):
    sizes = tuple(int(each) + 1 for each in groups.codes.max(axis=0))
    return learned(groups.evidence, sizes, values, groups.buckets.records)


def by_person(groups: CodedGroups, masses: np.ndarray, values: int) -> np.ndarray:
    """Posteriors by person and value."""
    found = np.zeros((len(groups.codes), values))
    buckets = groups.buckets
    cells = np.arange(len(buckets.cell_qi))
    _, value = buckets.variables_of(cells)
    person = np.repeat(buckets.cell_qi, buckets.widths[buckets.cell_bucket])
    np.add.at(found, (person, buckets.value_code[value]), masses)
    return found


def counts_missed(buckets: Buckets, masses: np.ndarray) -> float:
    """By how much the people of a cell or the count of a value is missed at most, group by group."""
    missed, at = 0.0, 0
    for b in range(len(buckets)):
        cells = slice(buckets.cell_start[b], buckets.cell_start[b + 1])
        values = slice(buckets.value_start[b], buckets.value_start[b + 1])
        shape = (len(buckets.cell_weight[cells]), len(buckets.value_count[values]))
        block = masses[at : at + shape[0] * shape[1]].reshape(shape)
        at += block.size
        missed = max(missed, abs(block.sum(axis=1) - buckets.cell_weight[cells]).max())
        missed = max(missed, abs(block.sum(axis=0) - buckets.value_count[values]).max())
    return missed


@pytest.mark.parametrize("seed", range(3))
def test_plain_loops_learn_the_same(seed, monkeypatch):
    monkeypatch.setattr(learning, "SETTLED", 1e-7)
    group, codes, sensitive = table(seed, rows=60)
    groups = coded(group, codes, sensitive)
    found = learned_from(groups, 4)
    loops = LearnedByLoops(group.tolist(), codes.tolist(), sensitive.tolist(), settled=1e-7)
    assert learned_reference.SMOOTHING == SMOOTHING
    assert 3 < found.rounds == len(loops.history) and found.converged
    assert found.objective == pytest.approx(loops.history, abs=1e-7)
    posterior = by_person(groups, groups.masses(found.model), 4)
    for i, chances in enumerate(loops.posterior):
        assert posterior[i] == pytest.approx([chances.get(v, 0.0) for v in range(4)], abs=1e-8)


@pytest.mark.parametrize("seed", range(5))
def test_the_objective_never_falls_and_counts_are_kept(seed, monkeypatch):
    monkeypatch.setattr(learning, "SETTLED", -1.0)
    group, codes, sensitive = table(seed, rows=400, size=5 + seed, strength=0.2 * seed)
    groups = coded(group, codes, sensitive)
    found = learned_from(groups, 4)
    assert found.rounds == learning.MOST_ROUNDS
    assert np.diff(found.objective).min() >= -1e-8
    assert counts_missed(groups.buckets, groups.masses(found.model)) < 1e-8
    evidence = groups.evidence(found.model)
    for j, counts in enumerate(evidence.counts):
        assert counts.sum(axis=0) == pytest.approx(np.bincount(sensitive), abs=1e-8)
        assert counts.sum(axis=1) == pytest.approx(np.bincount(codes[:, j]), abs=1e-8)


def test_what_is_fitted_is_the_best_for_its_counts():
    """No other model has a larger objective with its penalty for these expected counts."""
    rng = np.random.default_rng(4)
    counts = tuple(rng.random((size, 3)) * 10 for size in (2, 4))
    best = NaiveBayes.fitted(counts)

    def objective(given):
        said = sum((n * logs).sum() for n, logs in zip(counts, given, strict=True))
        shares = [n.sum(axis=1, keepdims=True) / n.sum() for n in counts]
        return said + sum((SMOOTHING * p * logs).sum() for p, logs in zip(shares, given, strict=True))

    assert best.penalty == pytest.approx(
        objective(best.given) - sum((n * g).sum() for n, g in zip(counts, best.given, strict=True))
    )
    for logs in best.given:
        assert np.exp(logs).sum(axis=0) == pytest.approx(np.ones(3))
    for _ in range(200):
        moved = [np.exp(g + rng.normal(0, 0.1, g.shape)) for g in best.given]
        other = [np.log(m / m.sum(axis=0)) for m in moved]
        assert objective(other) < objective(best.given)


def test_nothing_learned_gives_the_shares_of_groups():
    groups = coded(*table(1))
    masses, _, residual = scaled(groups.buckets, np.zeros(groups.buckets.variables))
    assert masses == pytest.approx(closed_form(groups.buckets), abs=1e-12) and residual < 1e-9


@pytest.mark.parametrize("seed", range(4))
def test_scaling_is_the_nearest_distribution_with_these_counts(seed):
    """A conic solver minimizes Σ x log(x / w) under the counts of one group."""
    rng = np.random.default_rng(seed)
    sensitive = np.concatenate([np.arange(3), rng.integers(0, 3, 4)])
    buckets = buckets_from_rows(np.zeros(7), np.arange(7), sensitive)
    logs = rng.normal(0, 3, 21)
    masses, objective, _ = scaled(buckets, logs)
    x = cp.Variable((7, 3))
    said = [cp.sum(x, axis=1) == 1, cp.sum(x, axis=0) == np.bincount(sensitive)]
    distance = cp.sum(-cp.entr(x)) - cp.sum(cp.multiply(x, logs.reshape(7, 3)))
    least = cp.Problem(cp.Minimize(distance), said).solve(solver="CLARABEL")
    assert objective == pytest.approx(-least, abs=1e-5)
    assert masses.reshape(7, 3) == pytest.approx(x.value, abs=1e-4)


def test_whoever_is_almost_certain_does_not_stall_the_scaling():
    buckets = buckets_from_rows([0, 0, 0], [0, 1, 2], [0, 1, 2])
    logs = np.zeros((3, 3))
    np.fill_diagonal(logs, 40.0)
    masses, _, residual = scaled(buckets, logs.ravel())
    assert residual < 1e-9 and masses.reshape(3, 3) == pytest.approx(np.eye(3), abs=1e-12)


def exact(weights: np.ndarray, held: np.ndarray) -> np.ndarray:
    """Posteriors of the people of one group by all ways to hand out its values."""
    found = np.zeros(weights.shape)
    for handed in set(permutations(held.tolist())):
        chance = np.prod([weights[i, v] for i, v in enumerate(handed)])
        for i, v in enumerate(handed):
            found[i, v] += chance
    return found / found.sum(axis=1, keepdims=True)


def test_two_people_are_told_apart_with_the_square_root_of_the_exact_odds():
    """What the documentation says of small groups: scaling never prefers another value than the exact sum."""
    weights = np.array([[0.8, 0.2], [0.3, 0.7]])
    odds = 0.8 * 0.7 / (0.2 * 0.3)
    buckets = buckets_from_rows([0, 0], [0, 1], [0, 1])
    masses, _, _ = scaled(buckets, np.log(weights).ravel())
    assert masses[0] / masses[1] == pytest.approx(np.sqrt(odds))
    certain = exact(weights, np.array([0, 1]))
    assert certain[0, 0] / certain[0, 1] == pytest.approx(odds)


def test_scaling_comes_near_the_exact_sum_as_groups_grow():
    rng = np.random.default_rng(2)
    people, away = rng.random((4, 3)) + 0.2, []
    for size in (1, 2):
        weights, held = np.tile(people, (size, 1)), np.tile([0, 0, 1, 2], size)
        buckets = buckets_from_rows(np.zeros(len(held)), np.arange(len(held)), held)
        masses, _, _ = scaled(buckets, np.log(weights).ravel())
        away.append(abs(masses.reshape(-1, 3) - exact(weights, held)).max())
    assert away[1] < 0.6 * away[0] < 0.1


@pytest.mark.parametrize("strength", [0.0, 0.8])
def test_right_more_often_than_the_shares_of_groups_where_values_follow_quasi_identifiers(strength):
    group, codes, sensitive = table(9, rows=5000, size=5, strength=strength)
    groups = coded(group, codes, sensitive)
    found = learned_from(groups, 4)
    posterior = by_person(groups, groups.masses(found.model), 4)
    shares = by_person(groups, closed_form(groups.buckets), 4)
    right = np.mean(posterior.argmax(axis=1) == sensitive)
    share = np.mean(shares.argmax(axis=1) == sensitive)
    assert (right > share + 0.15) if strength else (right < share + 0.03)


def test_counts_that_are_missed_are_no_result():
    groups = coded(*table(1))

    def broken(model):
        evidence = groups.evidence(model)
        return type(evidence)(evidence.counts, evidence.objective, float("inf"))

    assert scaled(groups.buckets, np.full(groups.buckets.variables, np.nan))[2] == np.inf
    with pytest.raises(NotConvergedError, match=r"`attack.learn`: counts of a group are missed"):
        learned(broken, (3, 3, 3), 4, 240.0)


def test_a_round_is_one_pass_over_the_groups():
    groups, passes = coded(*table(3)), []

    def counted(model):
        passes.append(model)
        return groups.evidence(model)

    found = learned(counted, (3, 3, 3), 4, groups.buckets.records)
    assert len(passes) == found.rounds + 1 and passes[-1] is found.model


def test_work_grows_with_people_and_python_runs_over_no_group():
    """Compiled loops interpreted, twice the people are twice the work; outside them it stays the same."""
    amounts = {}
    for rows in (80, 160):
        groups = coded(*table(6, rows=rows))
        model = NaiveBayes.fitted(groups.evidence(NaiveBayes.even((3, 3, 3), 4)).counts)
        outside = lines_run(partial(groups.evidence, model))
        with interpreted(group_scaling, bucket_steps):
            amounts[rows] = outside, lines_run(partial(groups.evidence, model))
    assert amounts[80][0] == amounts[160][0]
    assert 1.5 * amounts[80][1] < amounts[160][1] < 2.5 * amounts[80][1]
