"""Synthetic census-like microdata of any size, made by Spark expressions alone.

A person is a function of (seed, id): every draw is a slice of bits of a 64-bit hash of the two and of
the column's name, looked up in a literal table of equally likely slots. So the content depends neither
on partitions nor on cores, a retried task makes the same rows, and no Python runs on the executors.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from datetime import date
from itertools import combinations
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from ppdp_spark.errors import SpecError
from ppdp_spark.spark.synthetic import census_vocabulary as tables

CENSUS_DAY = date(2026, 1, 1)
TOP_INCOME = 999_900
BIRTHPLACE_NULLS = 1
INCOME_NULLS = 2


def census(
    spark: SparkSession, rows: int, *, seed: int = 1, partitions: int | None = None, nulls: bool = True
) -> DataFrame:
    """A table of `rows` people as of `CENSUS_DAY`, the same for the same seed whatever the partitioning.

    where
        seed        names the population; a smaller table is a prefix of a larger one
        partitions  of the result; Spark's default parallelism if None. Never changes a value
        nulls       leave out about 1 % of the birthplaces and 2 % of the incomes; the rest is unchanged

    `income` is in dollars a year, rounded to hundreds and top-coded; `occupation` of a child or a
    pensioner is the one the household lives or lived on; `conditions` is a sorted set.
    """
    _check(rows, seed, partitions)
    people = spark.range(0, rows, 1, partitions).select(
        "id", F.xxhash64("id", F.lit(seed).cast("bigint")).alias("_person")
    )
    return _finish(_with_work(_with_background(people)), nulls)


def _check(rows: int, seed: int, partitions: int | None) -> None:
    problems = []
    if not _is_integer(rows) or rows < 0:
        problems.append(f"`rows` ({rows!r}) must be an integer of at least 0")
    if not _is_integer(seed) or not -(2**63) <= seed < 2**63:
        problems.append(f"`seed` ({seed!r}) must be an integer of 64 bits")
    if partitions is not None and (not _is_integer(partitions) or partitions < 1):
        problems.append(f"`partitions` ({partitions!r}) must be an integer of at least 1, or left out")
    if problems:
        raise SpecError(problems)


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _with_background(people: DataFrame) -> DataFrame:
    """Age, sex, where from, and the education attained in the end, all as codes."""
    states = np.array(list(tables.STATES.values()))
    arrivals = np.array(list(tables.BIRTHPLACES.values()))
    abroad = np.array([[1.0], [2.2]])
    birthplaces = np.hstack([100 - abroad * arrivals[1:].sum(), abroad * arrivals[1:]])
    drawn = people.withColumns(
        {"age": _draw("age", tables.AGE_WEIGHTS, bits=12), "_state": _draw("state", states, bits=12)}
    )
    placed = drawn.withColumns(
        {
            "_band": _lookup(tables.AGE_BAND, F.col("age")),
            "_birthplace": _draw(
                "birthplace", birthplaces, bits=11, group=_lookup(tables.GATEWAY_STATES, F.col("_state"))
            ),
        }
    )
    cohort = _lookup(tables.EDUCATION_COHORT, F.col("_band"))
    return placed.withColumns(
        {
            "_sex": _draw("sex", tables.SEX_BY_BAND, bits=8, group=F.col("_band")),
            "_attained": _draw("education", tables.EDUCATION_BY_COHORT, bits=10, group=cohort),
        }
    )


def _with_work(people: DataFrame) -> DataFrame:
    """Schooling so far, occupation and hours, as codes."""
    ceiling = _lookup(tables.SCHOOLING_CEILING, F.col("age") * 2 + _bits("year behind", 1))
    tier = _lookup(tables.EDUCATION_TIER, F.col("_attained"))
    engagement = _lookup(tables.WORK_ENGAGEMENT, F.col("_band"))
    occupation = _draw("occupation", tables.OCCUPATION_BY_TIER_SEX, bits=9, group=tier * 2 + F.col("_sex"))
    return people.withColumns(
        {
            "_education": F.least(F.col("_attained"), ceiling),
            "_occupation": occupation,
            "hours": _draw(
                "hours", tables.HOURS_BY_ENGAGEMENT_SEX, bits=10, group=engagement * 2 + F.col("_sex")
            ),
        }
    )


def _finish(people: DataFrame, nulls: bool) -> DataFrame:
    """Codes to values, in the published order of columns."""
    region = _lookup(tables.BIRTHPLACE_REGION, F.col("_birthplace"))
    family = F.col("_band") * 2 + F.col("_sex")
    birthplace = _named(list(tables.BIRTHPLACES), F.col("_birthplace"))
    income = _income()
    if nulls:
        birthplace = F.when(_percent("birthplace null") >= BIRTHPLACE_NULLS, birthplace)
        income = F.when(_percent("income null") >= INCOME_NULLS, income)
    values = {
        "person_id": _person_id(),
        "age": F.col("age"),
        "sex": _named(tables.SEXES, F.col("_sex")),
        "education": _named(tables.EDUCATIONS, F.col("_education")),
        "marital": _named(tables.MARITAL, _draw("marital", tables.MARITAL_BY_BAND_SEX, bits=8, group=family)),
        "race": _named(tables.RACES, _draw("race", tables.RACE_BY_REGION, bits=8, group=region)),
        "state": _named(list(tables.STATES), F.col("_state")),
        "birthplace": birthplace,
        "hours": F.col("hours"),
        "income": income,
        "birth_date": _birth_date(),
        "occupation": _named(list(tables.OCCUPATIONS), F.col("_occupation")),
        "conditions": _conditions(),
    }
    return people.select(*(column.alias(name) for name, column in values.items()))


def _person_id() -> Column:
    """`P` and at least nine digits; lpad alone would cut a longer number."""
    digits = F.col("id").cast("string")
    return F.concat(F.lit("P"), F.lpad(digits, F.greatest(F.length(digits), F.lit(9)), "0"))


def _birth_date() -> Column:
    """A day on which the age at `CENSUS_DAY` is the person's: the 365 days after its first one."""
    epoch = date(1970, 1, 1)
    first_days = [(date(CENSUS_DAY.year - 1 - age, 1, 2) - epoch).days for age in range(100)]
    return F.date_from_unix_date(_lookup(first_days, F.col("age")) + _below("birth date", 365))


def _income() -> Column:
    """Pay of the education × age % × occupation % × log-normal spread × hours, in whole hundreds.

    Integers throughout: the spread carries the scale, so that a shift by 31 bits divides.
    """
    scale = 2**31 / (100 * 100 * 70)
    middles = (np.arange(2048) + 0.5) / 2048
    spread = [round(scale * float(np.exp(0.55 * NormalDist().inv_cdf(p)))) for p in middles]
    full_time = (
        _lookup(tables.PAY_BY_EDUCATION, F.col("_education")).cast("bigint")
        * _lookup(tables.PAY_PERCENT_BY_AGE, F.col("age"))
        * _lookup(tables.PAY_PERCENT_BY_OCCUPATION, F.col("_occupation"))
        * _lookup(spread, _bits("income", 11))
    )
    hundreds = F.shiftright(full_time * (F.col("hours") + 30), 31).cast("int")
    return F.least(hundreds * 100, F.lit(TOP_INCOME))


def _conditions() -> Column:
    """At most two of the alphabet's first half and two of the second: sorted, without duplicates."""
    names = sorted(tables.CONDITIONS)
    halves = [names[: (len(names) + 1) // 2], names[(len(names) + 1) // 2 :]]
    return F.concat(*(_subset(f"conditions {i}", half) for i, half in enumerate(halves)))


def _subset(name: str, candidates: Sequence[str]) -> Column:
    """A set of up to two candidates, with probability proportional to the product of their odds."""
    subsets = [s for size in range(3) for s in combinations(range(len(candidates)), size)]
    prevalence = np.array([tables.prevalence_by_band(c) for c in candidates]).T
    odds = prevalence / (1 - prevalence)
    weights = np.stack([odds[:, list(s)].prod(axis=1) for s in subsets], axis=1)
    sets = ", ".join("array(" + ", ".join(f"'{candidates[i]}'" for i in s) + ")" for s in subsets)
    literal = F.expr(f"array({sets})").cast("array<array<string>>")
    return F.get(literal, _draw(name, weights, bits=10, group=F.col("_band")))


def _draw(name: str, weights: ArrayLike, *, bits: int, group: Column | None = None) -> Column:
    """A code drawn by weight: one row of weights for all, or one a group."""
    slots = np.concatenate([_slots(row, bits) for row in np.atleast_2d(weights)])
    index = _bits(name, bits)
    return _lookup(slots, index if group is None else group * 2**bits + index)


def _slots(weights: NDArray[Any], bits: int) -> NDArray[np.int64]:
    """2^bits equally likely codes, as many of each as its weight asks for."""
    share = np.cumsum(weights) / np.sum(weights)
    codes: NDArray[np.int64] = np.searchsorted(share, (np.arange(2**bits) + 0.5) / 2**bits)
    return codes


def _lookup(values: ArrayLike, index: Column) -> Column:
    """An integer of a literal table; one string keeps the plan small until the optimizer folds it."""
    text = " ".join(str(int(value)) for value in np.asarray(values))
    return F.get(F.split(F.lit(text), " ").cast("array<int>"), index)


def _named(names: Sequence[str], code: Column) -> Column:
    return F.get(F.split(F.lit(",".join(names)), ","), code)


def _hash(name: str) -> Column:
    return F.xxhash64("_person", F.lit(zlib.crc32(name.encode())).cast("bigint"))


def _bits(name: str, bits: int) -> Column:
    """The top bits of the column's hash: uniform on 0 … 2^bits − 1."""
    return F.shiftrightunsigned(_hash(name), 64 - bits).cast("int")


def _below(name: str, bound: int) -> Column:
    return F.pmod(_hash(name), F.lit(bound)).cast("int")


def _percent(name: str) -> Column:
    return _below(name, 100)
