"""How much work an attack is: few passes, each linear in the buckets, and no loop of Python over either."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import sparse

from ppdp_spark.core.maxent import (
    Part,
    Vocabulary,
    bucket_part,
    buckets_from_rows,
    compiled,
    maximum_entropy,
    probability,
    term,
    with_people,
)
from ppdp_spark.core.maxent.solve import bucket_steps, passes
from support.steps import interpreted, lines_run

LEVELS = (12, 7, 6, 12, 6, 5, 2, 8)


def census(people, rng):
    """Rows of eight attributes and a sensitive one that leans on the fourth, in buckets of five."""
    columns = np.stack([rng.zipf(1.6, people) % levels for levels in LEVELS], axis=1)
    sensitive = (rng.zipf(1.5, people) + columns[:, 3] * (rng.random(people) < 0.4)) % 16
    tuples, qi = np.unique(columns, axis=0, return_inverse=True)
    bucket = np.empty(people, dtype=np.int64)
    bucket[np.argsort(sensitive, kind="stable")] = np.arange(people) % (people // 5)
    vocabulary = Vocabulary({f"a{i}": tuples[:, i] for i in range(8)}, list(range(16)))
    return columns, sensitive, with_people(buckets_from_rows(bucket, qi.ravel(), sensitive), []), vocabulary


def rules(columns, sensitive, number, rng):
    """True rules of one and two attributes with some support."""
    found = []
    for chosen in [*combinations(range(8), 1), *combinations(range(8), 2)]:
        kinds, members = np.unique(columns[:, list(chosen)], axis=0, return_inverse=True)
        table = np.zeros((len(kinds), 16))
        np.add.at(table, (members.ravel(), sensitive), 1)
        for kind, value in zip(*np.nonzero(table >= 3), strict=True):
            where = {f"a{a}": int(kinds[kind, i]) for i, a in enumerate(chosen)}
            found.append(probability(term(int(value), where), "=", table[kind, value] / table[kind].sum()))
    return [found[i] for i in rng.choice(len(found), number, replace=False)]


@pytest.mark.slow
def test_a_thousand_rules_on_2842_buckets_take_few_passes():
    rng = np.random.default_rng(11)
    columns, sensitive, named, vocabulary = census(14_210, rng)
    knowledge = compiled(rules(columns, sensitive, 1_000, rng), named, vocabulary)
    maximum_entropy(named.buckets, knowledge.rows(np.arange(1)))  # compiles, at the first call on a machine
    found = []
    lines = lines_run(lambda: found.append(maximum_entropy(named.buckets, knowledge)))
    (solution,) = found
    assert solution.kept > 900 and len(named.buckets) == 2_842
    assert solution.iterations <= 10 and solution.passes <= 13
    assert lines < 200 * solution.passes, "Python loops over buckets or statements"
    assert solution.residual < 1e-7 and solution.count_residual < 1e-8


def test_a_pass_is_linear_in_buckets():
    rng = np.random.default_rng(12)
    columns, sensitive, named, vocabulary = census(5_000, rng)
    knowledge = compiled(rules(columns, sensitive, 20, rng), named, vocabulary)
    mu, columns_of = rng.normal(size=len(knowledge)), sparse.csr_matrix(knowledge.matrix.T)
    start = named.buckets.variable_start

    def lines(buckets):
        chosen, size = np.arange(buckets), start[buckets]
        part = Part(named.buckets.take(chosen), columns_of[:size], np.ones(size, dtype=bool))
        return lines_run(lambda: bucket_part(part, mu))

    lines(10)  # compiles, at the first call on a machine
    assert lines(250) == lines(1_000), "outside of the compiled loops"
    with interpreted(bucket_steps, passes):
        assert 7 * lines(100) < lines(800) < 9 * lines(100)
