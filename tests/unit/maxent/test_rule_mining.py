"""Rule mining from counts and on Spark, against every rule enumerated in plain Python."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest

from ppdp_spark.core.maxent import rules as mining
from ppdp_spark.core.maxent.rules import Rollup, Rule, attribute_sets, strongest_rules


def table(rows=400, seed=0):
    """Rows of three attributes, nulls among them, and a sensitive value of six; the last is nobody's.

    Of some people, one attribute has two values only.
    """
    rng = np.random.default_rng(seed)
    first = rng.choice([None, "a", "b", "é", "Z"], rows)
    second = rng.choice([None, 1.0, 2.5, -3.0], rows)
    third = rng.integers(0, 3, rows).astype(float)
    value = (rng.integers(0, 3, rows) + (third == 1) * 2).astype(int)
    drawn = list(zip(first, second, third.tolist(), value.tolist(), strict=True))
    return drawn + [("two", 1.0, 0.0, 1)] * 5 + [("two", 2.5, 0.0, 2)] * 5


def with_one_negated(rows, chosen, *, values, support, positive):
    """All rules on these attributes that say of one of them which value people do not have."""
    for negated in chosen:
        others = [j for j in chosen if j != negated]
        for combo in {tuple(row[j] for j in chosen) for row in rows}:
            alike = [row for row in rows if all(row[j] == combo[chosen.index(j)] for j in others)]
            if len({row[negated] for row in alike}) < 3:
                continue
            people = [row for row in alike if row[negated] != combo[chosen.index(negated)]]
            for value in range(values):
                holding = sum((row[3] == value) == positive for row in people)
                if holding >= support:
                    yield Rule(chosen, combo, value, positive, holding, len(people), negated)


def enumerated(rows, sizes, *, values, support, positive, negated=False):
    """All rules, strongest first, by counting row after row."""
    found = []
    for size in sizes:
        for chosen in combinations(range(3), size):
            people = Counter(tuple(row[j] for j in chosen) for row in rows)
            having = Counter((tuple(row[j] for j in chosen), row[3]) for row in rows)
            for combo, number in people.items():
                for value in range(values):
                    holding = having[combo, value] if positive else number - having[combo, value]
                    if holding >= support:
                        found.append(Rule(chosen, combo, value, positive, holding, number))
            if negated:
                found += with_one_negated(rows, chosen, values=values, support=support, positive=positive)
    return sorted(
        found,
        key=lambda r: (
            -(r.holding / r.people),
            -r.holding,
            len(r.attributes),
            r.attributes,
            -1 if r.negated is None else r.negated,
            [(c is not None, c) for c in r.codes],
            r.value,
        ),
    )


def in_codes(rows):
    """The table in codes that keep the order of values, null first."""
    columns = [sorted({row[j] for row in rows}, key=lambda v: (v is not None, v)) for j in range(3)]
    return [(*(columns[j].index(row[j]) for j in range(3)), row[3]) for row in rows]


def rollups(rows, sets):
    for chosen in sets:
        counted = Counter((tuple(row[j] for j in chosen), row[3]) for row in rows)
        yield Rollup(
            chosen,
            np.array([combo for combo, _ in counted]),
            np.array([value for _, value in counted]),
            np.array(list(counted.values())),
        )


@pytest.mark.parametrize("sizes", [(1,), (2,), (1, 2, 3)])
@pytest.mark.parametrize("number", [1, 7, 500])
@pytest.mark.parametrize("negated", [False, True])
def test_counts_give_the_strongest_of_all_rules(sizes, number, negated, monkeypatch):
    monkeypatch.setattr(mining, "BLOCK_CELLS", 30)
    rows = in_codes(table())
    wanted = {"values": 6, "support": 3, "negated": negated}
    found = strongest_rules(
        rollups(rows, attribute_sets(3, sizes)), positive=number, negative=number, **wanted
    )
    for side, rules in zip((True, False), found, strict=True):
        assert rules == enumerated(rows, sizes, positive=side, **wanted)[:number]
        assert [rule.rank for rule in rules] == sorted(rule.rank for rule in rules)


def test_a_negative_rule_gives_the_share_of_those_who_have_the_value():
    rule = Rule((0,), (1,), 2, positive=False, holding=9, people=12)
    assert (rule.confidence, rule.share) == (0.75, 0.25)


@pytest.mark.parametrize(
    ("sizes", "number", "negated"), [((1, 2), 40, False), ((1, 2, 3), 1_000, False), ((1, 2), 3_000, True)]
)
def test_spark_ranks_as_plain_python_does(spark, sizes, number, negated):
    from ppdp_spark.spark.maxent.rules import Mining

    rows = table()
    counts = Counter(rows)
    columns = list(zip(*((*row, n) for row, n in counts.items()), strict=True))
    names = ["q0", "q1", "q2", "value", "count"]
    frame = spark.createDataFrame(
        pa.table({name: pa.array(column) for name, column in zip(names, columns, strict=True)}),
        "q0 string, q1 double, q2 double, value int, count bigint",
    ).repartition(5)
    asked = Mining(attributes=3, values=6, positive=number, negative=number, support=3, negated=negated)
    for side, rules in zip((True, False), asked.rules(frame, attribute_sets(3, sizes)), strict=True):
        expected = enumerated(rows, sizes, values=6, support=3, positive=side, negated=negated)
        assert rules == expected[:number]
        assert any(rule.negated is not None for rule in rules) == negated


def test_values_the_release_lacks_make_no_rule_but_count_as_people(spark):
    from ppdp_spark.spark.maxent.rules import Mining

    rows = [("a", 0, 6), ("a", -1, 4)]
    frame = spark.createDataFrame(rows, "q0 string, value int, count bigint")
    mining = Mining(attributes=1, values=2, positive=9, negative=9, support=3)
    positive, negative = mining.rules(frame, [(0,)])
    assert positive == [Rule((0,), ("a",), 0, True, 6, 10)]
    assert negative == [Rule((0,), ("a",), 1, False, 10, 10), Rule((0,), ("a",), 0, False, 4, 10)]
