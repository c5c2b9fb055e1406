"""A table to attack, a spec of the attack, and its posteriors."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ppdp_spark import ReleaseSpec

# Figure 1 of the paper, group and tuple by row; the values stand beside the wrong people on purpose.
PEOPLE = pd.DataFrame(
    [
        ("g1", "male", "college", 30, "Breast Cancer"),
        ("g1", "male", "college", 30, "Flu"),
        ("g1", "female", "college", 25, "Flu"),
        ("g1", "male", "high school", 40, "Pneumonia"),
        ("g2", "male", "college", 30, "HIV"),
        ("g2", "male", "high school", 40, "Pneumonia"),
        ("g2", "female", "junior", 20, "Breast Cancer"),
        ("g3", "female", "college", 25, "HIV"),
        ("g3", "female", "graduate", 50, "Lung Cancer"),
        ("g3", "male", "graduate", 60, "Flu"),
    ],
    columns=["group", "sex", "degree", "age", "disease"],
)


def spec(knowledge=(), path=None, columns=None, **attacking) -> ReleaseSpec:
    default = {
        "group": "group",
        "quasi_identifiers": {"sex": "categorical", "degree": "categorical", "age": "numeric"},
        "sensitive": "disease",
    }
    return ReleaseSpec.parse(
        {
            "version": 1,
            "dataset": "figure 1",
            "input": {"path": "x.parquet"},
            "columns": columns or default,
            "attack": {"knowledge": list(knowledge), **attacking},
            "output": {} if path is None else {"path": str(path)},
        }
    )


def posteriors(spark, path):
    """P*(value | tuple) from the table in the private folder, the quasi-identifiers beside it."""
    table = spark.read.parquet(str(path / "private/attack/posterior")).toPandas()
    return pd.concat([table.drop(columns="given"), pd.DataFrame(list(table["given"]))], axis=1)


def believed(table, **given):
    """The posteriors of one tuple by value."""
    chosen = np.logical_and.reduce([table[name] == value for name, value in given.items()])
    return dict(zip(table["value"][chosen], table["posterior"][chosen], strict=True))
