"""The release of [MaxEnt, Fig 1], and attacks on it."""

from __future__ import annotations

import numpy as np

from ppdp_spark.core.maxent import (
    Vocabulary,
    buckets_from_rows,
    compiled,
    maximum_entropy,
    with_people,
)

# Figure 1 of the paper: Allen, Brian, … James; the order of rows is its column (a).
SEX = np.array(["male", "female", "male", "female", "female", "male"], dtype=object)
DEGREE = np.array(["college", "college", "high school", "junior", "graduate", "graduate"], dtype=object)
AGE = np.array([30, 25, 40, 20, 50, 60])
DISEASES = ["Breast Cancer", "Flu", "Pneumonia", "HIV", "Lung Cancer"]
BUCKET = [0, 0, 0, 0, 1, 1, 1, 2, 2, 2]
QI = [0, 0, 1, 2, 0, 2, 3, 1, 4, 5]
SENSITIVE = [1, 2, 0, 1, 3, 2, 0, 3, 4, 1]
VOCABULARY = Vocabulary({"sex": SEX, "degree": DEGREE, "age": AGE}, DISEASES)


def figure_1(*people):
    return with_people(buckets_from_rows(BUCKET, QI, SENSITIVE), people)


def attacked(*statements, people=()):
    named = figure_1(*people)
    solution = maximum_entropy(named.buckets, compiled(statements, named, VOCABULARY))
    return named, solution


def by_name(table, subject, value):
    found = (table.subject == subject) & (table.value == DISEASES.index(value))
    return float(table.probability[found].sum())
