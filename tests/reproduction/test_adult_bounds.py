"""What ranges that end on the grid lose on Adult, against tight ones: at most 3 % of the penalty."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ppdp_spark.core.criteria import KAnonymity
from ppdp_spark.core.data.attributes import Attribute, Categorical, CodeColumn, Ordered, generalize
from ppdp_spark.core.data.coded_people import Sensitive
from ppdp_spark.core.data.grid import Grid, public_step
from ppdp_spark.core.partition.mondrian import partition

pytestmark = pytest.mark.reproduction

CENSUS = [
    "age", "workclass", "education-num", "marital-status", "race", "sex", "hours-per-week", "native-country",
]  # fmt: skip
NUMBERS = ["age", "education-num", "hours-per-week", "capital-gain", "capital-loss", "fnlwgt"]


def coded(values: pd.Series) -> CodeColumn:
    """A column in codes; that of numbers with its grid."""
    if pd.api.types.is_numeric_dtype(values):
        low, high, people = int(values.min()), int(values.max()), values.value_counts()
        attribute: Attribute = Ordered(str(values.name), "integer", "int", low, high)
        grid = Grid.over(attribute.written, public_step(attribute.written, low, high, len(values)), low, high)
        attribute = replace(attribute, grid=grid.without(people.index[people == 1].to_numpy(np.int64)))
        codes = values - low + 1
    else:
        names = sorted(values.dropna().unique())
        attribute = Categorical(str(values.name), tuple(names))
        codes = values.map({name: code for code, name in enumerate(names, 1)}).fillna(0)
    return CodeColumn(attribute, codes.to_numpy(np.int32), np.empty(0, np.int64))


def tight(column: CodeColumn) -> CodeColumn:
    ordered = isinstance(column.attribute, Ordered)
    return replace(column, attribute=replace(column.attribute, grid=None)) if ordered else column


@pytest.mark.parametrize("k", [5, 10, 50])
@pytest.mark.parametrize(("names", "most"), [(CENSUS, 1.0001), (NUMBERS, 1.03)], ids=["census", "numbers"])
def test_the_grid_costs_less_than_three_percent(adult_path: Path, names: list[str], most: float, k: int):
    table = pd.read_csv(adult_path)
    columns = [coded(table[name]) for name in names]
    codes, alike = np.stack([c.codes for c in columns], axis=1), np.zeros(len(table), np.int32)
    groups = partition(codes, Sensitive.single(alike, 1), [c.axis() for c in columns], [KAnonymity(k)])
    sizes = np.diff(groups.starts)

    def loss(some: list[CodeColumn]) -> float:
        return (
            float(np.mean([sizes @ generalize(c, groups, j).penalty for j, c in enumerate(some)]))
            / sizes.sum()
        )

    of_grid, of_tight = loss(columns), loss([tight(c) for c in columns])
    print(f"{len(names)} attributes, k = {k}: tight {of_tight:.5f}, grid {of_grid:.5f}")
    assert 0 < of_tight <= of_grid <= most * of_tight
