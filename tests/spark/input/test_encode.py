"""Texts become codes: each column by its own list, whatever texts the others have."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from pyspark.sql import DataFrame, SparkSession

from ppdp_spark import ReleaseSpec
from ppdp_spark.spark.data.encode import encode_rows
from ppdp_spark.spark.data.profile import Profile, profile_table
from ppdp_spark.spark.data.tables import Roles, assign_roles

TEXTS = ["", "0", "1", "no", "yes", "ß", "z" * 40]
COLUMNS = ("first", "second", "third", "answer")


def people(rows: int = 400) -> pd.DataFrame:
    """Columns that share texts, under other codes in each; one of them has no text at all."""
    rng = np.random.default_rng(7)
    shared = {name: TEXTS[j : j + 5] for j, name in enumerate(COLUMNS) if name != "third"}
    found = {name: rng.choice(texts, rows).astype(object) for name, texts in shared.items()}
    for values in found.values():
        values[rng.random(rows) < 0.1] = None
    return pd.DataFrame({"id": np.arange(rows), **found}).assign(third=None).astype({"third": object})


@pytest.fixture(scope="module")
def encoded(spark: SparkSession) -> tuple[DataFrame, Profile, pd.DataFrame]:
    spec = ReleaseSpec.parse(
        {
            "version": 1,
            "dataset": "answers",
            "input": {"path": "unused.parquet"},
            "columns": {
                "quasi_identifiers": dict.fromkeys(COLUMNS[:3], "categorical"),
                "sensitive": "answer",
                "publish_as_is": ["id"],
            },
            "privacy": {"k_anonymity": 2},
            "output": {"path": "unused"},
        }
    )
    plain = people()
    table = spark.createDataFrame(
        plain, "id bigint, " + ", ".join(f"{name} string" for name in plain.columns[1:])
    )
    roles: Roles = assign_roles(table, spec.columns)
    profile = profile_table(table, spec, roles)
    return encode_rows(table, spec, roles, profile), profile, plain


def test_each_column_has_codes_of_its_own(encoded: tuple[DataFrame, Profile, pd.DataFrame]) -> None:
    rows, profile, plain = encoded
    found = rows.toPandas().set_index("a0").sort_index()
    assert len(found) == len(plain)
    for j, attribute in enumerate(profile.attributes):
        expected = [attribute.values.index(t) + 1 if t is not None else 0 for t in plain[attribute.name]]
        assert found[f"q{j}"].tolist() == expected
    assert profile.sensitive is not None
    assert found["sensitive"].tolist() == [profile.sensitive.values.index(text) for text in plain["answer"]]


def test_all_columns_share_one_dictionary(
    spark: SparkSession, encoded: tuple[DataFrame, Profile, pd.DataFrame]
) -> None:
    """One job brings it to the executors, one reads the rows."""
    context = spark.sparkContext
    context.setJobGroup("one dictionary", "one dictionary")
    try:
        encoded[0].write.format("noop").mode("overwrite").save()
    finally:
        context.setLocalProperty("spark.jobGroup.id", None)
    assert len(context.statusTracker().getJobIdsForGroup("one dictionary")) == 2
