"""Partitioners and forms are looked up by name: each has all its parts, and nothing else compares names."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import get_args

import pytest

from ppdp_spark import ReleaseSpec
from ppdp_spark.core.data import forms
from ppdp_spark.core.partition import partitioners
from ppdp_spark.core.partition.partitioners import PARTITIONERS
from ppdp_spark.errors import DataError, SpecError
from ppdp_spark.report.sentences.forms import FORM_WORDS, OF_TABLES, form_words
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.partition import partitioners as running
from ppdp_spark.spark.release import forms as written
from ppdp_spark.spec import PrivacySpec

PACKAGE = Path(__file__).parents[2] / "ppdp_spark"
ROOMS = ("commands", "run", "spark", "spec")
"""Where a name of a partitioner or a form is looked up, and compared with nothing."""


def spec_of(**more):
    return ReleaseSpec.parse(
        {
            "version": 1,
            "dataset": "d",
            "input": {"path": "x.parquet"},
            "columns": {"quasi_identifiers": {"a": {}}, "sensitive": "s"},
            "privacy": {"k_anonymity": 2},
            "output": {"path": "out"},
            **more,
        }
    )


def test_every_partitioner_can_be_asked_for_and_runs():
    assert list(PARTITIONERS) == list(running.ON_SPARK) == list(get_args(partitioners.PartitionerName))
    for name, partitioner in PARTITIONERS.items():
        assert partitioner.name == name == spec_of(partitioner=name).partitioner


def test_every_form_can_be_asked_for_written_and_told():
    names = list(forms.FORMS)
    assert names == list(written.ON_SPARK) == list(get_args(forms.FormName)) == list(FORM_WORDS)
    for name, form in forms.FORMS.items():
        assert form.name == name and written.ON_SPARK[name].traits is form
        assert spec_of(output={"form": name}).output.form == name
        assert form_words(name) is FORM_WORDS[name]
    assert form_words(None) is form_words("table") is OF_TABLES


@pytest.mark.parametrize("partitioner", [p for p in PARTITIONERS.values() if p.needs])
def test_what_a_partitioner_needs_is_asked_for(partitioner):
    assert partitioner.needs in PrivacySpec.model_fields
    alternatives = partitioner.instead.split(" or ")
    assert all(name in PARTITIONERS and name != partitioner.name for name in alternatives)
    with pytest.raises(SpecError) as raised:
        spec_of(partitioner=partitioner.name).require_for("anonymize")
    assert list(raised.value.problems) == [
        f"`partitioner` ({partitioner.name}) needs `privacy.{partitioner.needs}`: add it, "
        f"or use {partitioner.instead}"
    ]


def test_columns_that_a_form_adds():
    generalized, bucketized = forms.FORMS["generalized"], forms.FORMS["bucketized"]
    assert generalized.reserved == (C.GROUP_ID,) and bucketized.reserved == (C.GROUP_ID, C.COUNT)
    assert generalized.columns("age", ordered=True) == ("age", "age_min", "age_max")
    assert generalized.columns("sex", ordered=False) == ("sex",)
    assert bucketized.columns("age", ordered=True) == ("age",)


def test_a_form_that_nobody_knows_is_not_taken_for_another():
    with pytest.raises(DataError, match="none of generalized, bucketized"):
        written.form_in({"form": "folded"})


def test_names_are_looked_up_and_not_compared():
    names, found = {*PARTITIONERS, *forms.FORMS}, []
    for path in (path for room in ROOMS for path in (PACKAGE / room).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Compare):
                constants = {n.value for n in ast.walk(node) if isinstance(n, ast.Constant)}
                found += [f"{path.name}:{node.lineno}"] if constants & names else []
    assert not found
