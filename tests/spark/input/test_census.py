"""The synthetic census: reproducible, complete, and correlated as it says."""

from __future__ import annotations

import datetime
import os
import subprocess
import sys

import pandas as pd
import pytest
from chispa import assert_df_equality
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from ppdp_spark.errors import SpecError
from ppdp_spark.spark.synthetic import census_vocabulary as tables
from ppdp_spark.spark.synthetic.census import CENSUS_DAY, TOP_INCOME, _person_id, census
from support.connect_port import connect_port

ROWS = 60_000
KNOWN_PERSON = {
    "age": 66,
    "sex": "Male",
    "education": "Some-college",
    "marital": "Married-civ-spouse",
    "race": "White",
    "state": "WA",
    "birthplace": "United-States",
    "hours": 25,
    "income": 26300,
    "birth_date": datetime.date(1959, 1, 24),
    "occupation": "Manager",
    "conditions": ["Cataract", "Thyroid"],
}


@pytest.fixture(scope="module")
def people(spark: SparkSession) -> pd.DataFrame:
    return census(spark, ROWS, seed=7).toPandas()


def fingerprint(rows: DataFrame) -> tuple[int, int]:
    hashed = F.xxhash64(*rows.columns).cast("decimal(20,0)")
    found = rows.agg(F.count("*"), F.coalesce(F.sum(hashed), F.lit(0))).collect()[0]
    return int(found[0]), int(found[1])


@pytest.mark.parametrize("partitions", [2, 7, None])
def test_the_partitioning_changes_nothing(spark: SparkSession, partitions: int | None) -> None:
    one = census(spark, 2_000, seed=3, partitions=1)
    many = census(spark, 2_000, seed=3, partitions=partitions)
    if partitions is not None:
        parts = many.select(F.spark_partition_id().alias("part")).distinct().count()
        assert parts == partitions
    assert_df_equality(one.sort("person_id"), many.sort("person_id"))


def test_the_seed_names_the_population(spark: SparkSession) -> None:
    first, again, other = (fingerprint(census(spark, 1_000, seed=seed)) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_a_known_person_stays_the_same(spark: SparkSession) -> None:
    """Pins the content across versions: benchmarks and demos quote figures of these tables."""
    person = census(spark, 13, seed=1).where("person_id = 'P000000012'").drop("person_id").collect()[0]
    assert person.asDict() == KNOWN_PERSON


def test_a_smaller_table_is_a_prefix(spark: SparkSession) -> None:
    large = census(spark, 500, seed=5).where("person_id < 'P000000100'")
    assert fingerprint(large) == fingerprint(census(spark, 100, seed=5))


def test_columns_and_types(spark: SparkSession) -> None:
    assert census(spark, 1).dtypes == [
        ("person_id", "string"),
        ("age", "int"),
        ("sex", "string"),
        ("education", "string"),
        ("marital", "string"),
        ("race", "string"),
        ("state", "string"),
        ("birthplace", "string"),
        ("hours", "int"),
        ("income", "int"),
        ("birth_date", "date"),
        ("occupation", "string"),
        ("conditions", "array<string>"),
    ]


@pytest.mark.parametrize("rows", [0, 1])
def test_tiny_tables(spark: SparkSession, rows: int) -> None:
    assert census(spark, rows).count() == rows
    assert len(census(spark, rows, partitions=3).collect()) == rows


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"rows": -1}, "rows"),
        ({"rows": 1.5}, "rows"),
        ({"rows": True}, "rows"),
        ({"rows": 1, "seed": 2**63}, "seed"),
        ({"rows": 1, "seed": "x"}, "seed"),
        ({"rows": 1, "partitions": 0}, "partitions"),
    ],
)
def test_bad_arguments_are_named(spark: SparkSession, arguments: dict, field: str) -> None:
    with pytest.raises(SpecError, match=f"`{field}`"):
        census(spark, **arguments)


def test_all_bad_arguments_are_named_at_once(spark: SparkSession) -> None:
    with pytest.raises(SpecError) as caught:
        census(spark, -1, partitions=-1)
    assert len(caught.value.problems) == 2


def test_person_ids_are_unique(people: pd.DataFrame) -> None:
    assert people.person_id.is_unique
    assert people.person_id.str.fullmatch(r"P\d{9}").all()


def test_person_ids_beyond_nine_digits_are_whole(spark: SparkSession) -> None:
    made = spark.range(10**9 - 1, 10**9 + 2).select(_person_id().alias("person_id")).collect()
    assert [row.person_id for row in made] == ["P999999999", "P1000000000", "P1000000001"]


def test_every_value_is_known_and_every_known_value_occurs(people: pd.DataFrame) -> None:
    vocabularies = {
        "age": range(100),
        "sex": tables.SEXES,
        "education": tables.EDUCATIONS,
        "marital": tables.MARITAL,
        "race": tables.RACES,
        "state": tables.STATES,
        "birthplace": tables.BIRTHPLACES,
        "occupation": tables.OCCUPATIONS,
    }
    for column, known in vocabularies.items():
        assert set(people[column].dropna()) == set(known), column
    assert set(people.conditions.explode().dropna()) == set(tables.CONDITIONS)


def test_shares_follow_the_tables(people: pd.DataFrame) -> None:
    states = pd.Series(tables.STATES) / sum(tables.STATES.values())
    found = people.state.value_counts(normalize=True)
    assert (found - states).abs().max() < 0.006
    assert 0.08 < 1 - (people.birthplace.dropna() == "United-States").mean() < 0.25
    assert people.occupation.value_counts(normalize=True).max() < 0.15


def test_nulls_are_rare_and_only_where_announced(spark: SparkSession, people: pd.DataFrame) -> None:
    shares = people.isna().mean()
    assert 0.008 < shares["birthplace"] < 0.012
    assert 0.017 < shares["income"] < 0.023
    assert shares.drop(["birthplace", "income"]).eq(0).all()
    whole = census(spark, 5_000, seed=7, nulls=False).toPandas()
    assert not whole.isna().any().any()
    masked = people.head(5_000)
    kept = masked.income.notna()
    assert (masked.income[kept] == whole.income[kept]).all()


def test_birth_dates_agree_with_ages(people: pd.DataFrame) -> None:
    born = pd.to_datetime(people.birth_date)
    no_birthday_yet = (born.dt.month > CENSUS_DAY.month) | (
        (born.dt.month == CENSUS_DAY.month) & (born.dt.day > CENSUS_DAY.day)
    )
    assert (CENSUS_DAY.year - born.dt.year - no_birthday_yet == people.age).all()
    assert born.dt.dayofyear.nunique() > 360


def test_the_pyramid(people: pd.DataFrame) -> None:
    counts = people.groupby(people.age // 10).size()
    assert counts[3] > counts[7] > counts[8] > counts[9]
    assert people.sex.eq("Female")[people.age >= 85].mean() > 0.6 > people.sex.eq("Female").mean() > 0.48


def test_children_are_children(people: pd.DataFrame) -> None:
    children = people[people.age < 16]
    assert (children.marital == "Never-married").all()
    assert (children.hours == 0).all()
    assert (children.income.dropna() == 0).all()
    level = people.education.map(tables.EDUCATIONS.index)
    assert (level[people.age < 3] == 0).all()
    assert level[people.age < 15].max() == tables.EDUCATIONS.index("Lower-secondary")
    assert people.age[people.education == "Doctorate"].min() >= 30


def test_occupation_follows_education_and_sex(people: pd.DataFrame) -> None:
    grown = people[people.age >= 25]

    def share(occupation: str, **having: str) -> float:
        chosen = grown[(grown[list(having)] == pd.Series(having)).all(axis=1)]
        return float((chosen.occupation == occupation).mean())

    assert share("Executive", education="Doctorate") > 3 * share("Executive", education="Primary")
    assert share("Physician", education="Doctorate") > 10 * share("Physician", education="HS-grad")
    assert share("Cleaner", education="Primary") > 5 * share("Cleaner", education="Masters")
    assert share("Nurse", sex="Female") > 3 * share("Nurse", sex="Male")
    assert share("Driver", sex="Male") > 3 * share("Driver", sex="Female")


def test_income_follows_education_and_has_few_thousand_values(people: pd.DataFrame) -> None:
    grown = people[(people.age >= 30) & people.income.notna()]
    medians = grown.groupby("education").income.median()
    assert medians["Doctorate"] > medians["Bachelors"] > medians["HS-grad"] > medians["Primary"]
    assert (people.income.dropna() % 100 == 0).all()
    assert 1_500 < people.income.nunique() < 10_000
    assert people.income.min() == 0
    assert 500_000 < people.income.max() <= TOP_INCOME
    assert grown.income.skew() > 1


def test_hours_have_a_mass_at_forty(people: pd.DataFrame) -> None:
    at_work = people.hours[people.hours > 0]
    assert people.hours.between(0, 99).all()
    assert 0.3 < (at_work == 40).mean() < 0.5
    assert at_work.nunique() > 90


def test_race_follows_birthplace(people: pd.DataFrame) -> None:
    asian = people.race == "Asian-Pac-Islander"
    assert asian[people.birthplace.isin(["China", "India", "Vietnam"])].mean() > 0.85
    assert asian[people.birthplace == "United-States"].mean() < 0.06


def test_conditions_are_small_sorted_sets_that_grow_with_age(people: pd.DataFrame) -> None:
    assert all(list(found) == sorted(set(found)) for found in people.conditions)
    sizes = people.conditions.map(len)
    assert set(sizes) == {0, 1, 2, 3, 4}
    by_age = sizes.groupby(pd.cut(people.age, [-1, 15, 34, 54, 74, 99]), observed=True).mean()
    assert by_age.is_monotonic_increasing
    assert by_age.iloc[-1] > 3 * by_age.iloc[0]


def test_draws_of_different_columns_are_independent(people: pd.DataFrame) -> None:
    """Sex and state share nothing but the person: a correlation would mean reused bits."""
    table = pd.crosstab(people.state, people.sex, normalize="index")
    large = people.state.value_counts().head(15).index
    assert (table.loc[large, "Female"] - people.sex.eq("Female").mean()).abs().max() < 0.04


CONNECT = """
from ppdp_spark.spark.synthetic.census import census
from ppdp_spark.spark.session import local_session
from pyspark.sql import functions as F
rows = census(local_session(), 1_000, seed=9)
assert "connect" in type(rows).__module__
hashed = F.xxhash64(*rows.columns).cast("decimal(20,0)")
print(*map(int, rows.agg(F.count("*"), F.sum(hashed)).collect()[0]))
"""


@pytest.mark.slow
def test_spark_connect_makes_the_same_people(spark: SparkSession) -> None:
    """In a process of its own: one process holds either a classic or a Connect session."""
    environment = {**os.environ, "SPARK_REMOTE": "local[2]"}
    with connect_port():
        run = subprocess.run(
            [sys.executable, "-c", CONNECT], env=environment, capture_output=True, text=True, timeout=900
        )
    assert run.returncode == 0, run.stderr[-2000:]
    assert tuple(map(int, run.stdout.split())) == fingerprint(census(spark, 1_000, seed=9))
