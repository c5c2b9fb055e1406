"""Adult in buckets of five, as the Privacy-MaxEnt experiments attack it [MaxEnt, Section 7].

Education is sensitive. The paper does not name its eight quasi-identifiers nor the rows it took; here they
are those below, with age in bands of ten years, and the first rows of the file without a missing value.
The most frequent value is `not_sensitive` [MaxEnt, fn. 3]: every other value comes once in a bucket of five
at most, so that rows whose value would come more often than there are buckets are passed over. The buckets
are judged by the criterion of a spec that says so, `alpha_k: {alpha: 0.2, k: 5}`.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ppdp_spark.core.criteria.base import LocalCriterion
from ppdp_spark.core.criteria.families import family_of
from ppdp_spark.core.data.groups import GroupSummaries
from ppdp_spark.core.data.value_names import ValueDomain
from ppdp_spark.core.maxent import (
    Named,
    Posterior,
    Score,
    Solution,
    Statement,
    System,
    Vocabulary,
    buckets_from_rows,
    compiled,
    maximum_entropy,
    posterior,
    probability,
    score,
    term,
    true_posterior,
    with_people,
)
from ppdp_spark.core.maxent.rules import Rollup, Rule, attribute_sets, strongest_rules
from ppdp_spark.spec import SensitiveSpec

IntArray = NDArray[np.int64]

SENSITIVE = "education"
QUASI_IDENTIFIERS = (
    "age",
    "workclass",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "native-country",
)
BUCKETS, BUCKET_SIZE = 2842, 5
SUPPORT = 3


@dataclass(frozen=True, eq=False)
class AdultBuckets:
    """Rows of Adult as codes, and the bucket of each.

    where
        codes      code of each quasi-identifier, shape (rows, 8)
        levels     values of each quasi-identifier by code
        sensitive  code of each row's education
        values     education by code
        bucket     bucket of each row
    """

    codes: IntArray
    levels: tuple[NDArray[np.str_], ...]
    sensitive: IntArray
    values: tuple[str, ...]
    bucket: IntArray

    @cached_property
    def tuples(self) -> tuple[IntArray, IntArray]:
        """Distinct combinations of quasi-identifiers, and which of them each row has."""
        distinct, tuple_of = np.unique(self.codes, axis=0, return_inverse=True)
        return distinct, tuple_of.ravel()

    @cached_property
    def named(self) -> Named:
        return with_people(buckets_from_rows(self.bucket, self.tuples[1], self.sensitive), [])

    @cached_property
    def vocabulary(self) -> Vocabulary:
        columns = {name: self.levels[i][self.tuples[0][:, i]] for i, name in enumerate(QUASI_IDENTIFIERS)}
        return Vocabulary(columns, self.values)

    @cached_property
    def truth(self) -> Posterior:
        return true_posterior(self.tuples[1], self.sensitive)

    @cached_property
    def small_rules(self) -> list[Rule]:
        """All positive rules of one and two attributes."""
        return self.mined((1, 2), len(self.codes) * len(self.values))[0]

    def mined(self, sizes: Iterable[int], number: int) -> tuple[list[Rule], list[Rule]]:
        """The strongest positive and negative rules of so many attributes [MaxEnt, Section 4.4]."""
        people, counts = np.unique(np.column_stack([self.codes, self.sensitive]), axis=0, return_counts=True)
        rollups = (
            Rollup(chosen, people[:, list(chosen)], people[:, -1], counts)
            for chosen in attribute_sets(len(QUASI_IDENTIFIERS), sizes)
        )
        return strongest_rules(
            rollups, values=len(self.values), positive=number, negative=number, support=SUPPORT
        )

    def system(self, rules: Sequence[Rule]) -> System:
        """P(s | Q_v) of every rule, as it is in these rows."""
        return compiled([self._statement(rule) for rule in rules], self.named, self.vocabulary)

    def attacked(self, rules: Sequence[Rule]) -> tuple[Solution, Score]:
        """What an adversary concludes who knows the rules, and how near the truth that is."""
        solution = maximum_entropy(self.named.buckets, self.system(rules))
        return solution, score(posterior(self.named.buckets, solution.x), self.truth)

    def _statement(self, rule: Rule) -> Statement:
        chosen = np.all(self.codes[:, list(rule.attributes)] == rule.codes, axis=1)
        share = float(np.mean(self.sensitive[chosen] == rule.value))
        where = {
            QUASI_IDENTIFIERS[a]: str(self.levels[a][c])
            for a, c in zip(rule.attributes, rule.codes, strict=True)
        }
        return probability(term(self.values[rule.value], where), "=", share)


def read_buckets(path: Path, buckets: int = BUCKETS, seed: int = 0) -> AdultBuckets:
    """The first rows of the file that fill so many buckets, dealt to them value by value."""
    rows = _chosen(path, buckets)
    coded = [np.unique([row[name] for row in rows], return_inverse=True) for name in QUASI_IDENTIFIERS]
    values, sensitive = np.unique([row[SENSITIVE] for row in rows], return_inverse=True)
    bucket = _dealt(sensitive, buckets, seed)
    _require_diverse(bucket, sensitive, tuple(map(str, values)))
    return AdultBuckets(
        codes=np.column_stack([codes for _, codes in coded]),
        levels=tuple(levels for levels, _ in coded),
        sensitive=sensitive,
        values=tuple(map(str, values)),
        bucket=bucket,
    )


def _require_diverse(bucket: IntArray, sensitive: IntArray, values: tuple[str, ...]) -> None:
    """Buckets have five people each, and only the most frequent value belongs to more than one of them."""
    occurrences = np.bincount(sensitive)
    declared = SensitiveSpec(column=SENSITIVE, not_sensitive=(values[occurrences.argmax()],))
    domain = ValueDomain(values, occurrences.tolist(), sensitivity=declared.sensitivity)
    diverse = family_of("alpha_k").criterion({"alpha": 1 / BUCKET_SIZE, "k": BUCKET_SIZE}, domain)
    counts = np.zeros((int(bucket.max()) + 1, len(values)), np.int64)
    np.add.at(counts, (bucket, sensitive), 1)
    groups = GroupSummaries(counts.sum(axis=1), counts)
    assert isinstance(diverse, LocalCriterion)
    if not diverse.allowed(groups).all():
        raise ValueError("the buckets are not 5-diverse in the values that need protection")


def _chosen(path: Path, buckets: int) -> list[dict[str, str]]:
    with path.open(newline="") as lines:
        rows = [row for row in csv.DictReader(lines, skipinitialspace=True) if "?" not in row.values()]
    (frequent, _), *_ = Counter(row[SENSITIVE] for row in rows).most_common(1)
    taken: list[dict[str, str]] = []
    times: Counter[str] = Counter()
    for row in rows:
        value = row[SENSITIVE]
        if len(taken) < buckets * BUCKET_SIZE and (value == frequent or times[value] < buckets):
            times[value] += 1
            taken.append({**row, "age": f"{int(row['age']) // 10}0s"})
    if len(taken) < buckets * BUCKET_SIZE:
        raise ValueError(f"the table fills fewer than {buckets} buckets")
    return taken


def _dealt(sensitive: IntArray, buckets: int, seed: int) -> IntArray:
    """Rows in random order within their value, dealt to the buckets in turn, the frequent value last.

    Nobody but the most frequent value has more rows than there are buckets, so no other comes twice.
    """
    counts = np.bincount(sensitive)
    last = sensitive == counts.argmax()
    order = np.lexsort((np.random.default_rng(seed).random(len(sensitive)), sensitive, last))
    bucket = np.empty(len(sensitive), dtype=np.int64)
    bucket[order] = np.arange(len(sensitive)) % buckets
    return bucket
