"""A release of several sensitive attributes judged from its files: each by itself, and what could link them.

The attributes of a group are published independently, so each has to satisfy its criteria by itself; that
nothing links them is part of the verdict.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyspark.sql import SparkSession

from ppdp_spark.core.criteria.base import VerdictRow
from ppdp_spark.core.criteria.bookkeeping import Conservation
from ppdp_spark.run.criteria.guarantees import published_privacy
from ppdp_spark.run.criteria.several_attributes import (
    criteria_of_groups,
    criteria_of_values,
    labelled,
    unprotected,
)
from ppdp_spark.run.manifest import published_attributes
from ppdp_spark.run.storage import DATA, Folder
from ppdp_spark.spark.judge.value_order import out_of_order, unlinked_row
from ppdp_spark.spark.release.forms import form_in


def judged_release(spark: SparkSession, release: Folder, manifest: Mapping[str, Any]) -> list[VerdictRow]:
    """Every criterion of the manifest for each attribute, and the order of what is published."""
    form, data = form_in(manifest), release / DATA
    privacy = published_privacy(manifest["privacy"])
    names = [attribute["column"] for attribute in published_attributes(manifest)]
    read = {name: form.read(spark, data, manifest, place) for place, name in enumerate(names)}
    domains = {name: grouped.domain for name, grouped in read.items()}
    conserved = Conservation(manifest["rows"]["published"], manifest["groups"])
    rows, first = list(unprotected(privacy, domains)), names[0]
    rows += read[first].judge(criteria_of_groups(privacy, domains))
    for name, grouped in read.items():
        criteria = criteria_of_values(privacy, name, grouped.domain)
        rows += labelled(grouped.judge([*criteria, conserved]), name)
    wrong = 0
    for folder, columns in form.ordered(data, names):
        files, table = [name for name, _ in folder.files(".parquet")], spark.read.parquet(folder.literal)
        wrong += out_of_order(table, files, {column: read[column].values for column in columns})
    return [*rows, unlinked_row(wrong, manifest["groups"])]
