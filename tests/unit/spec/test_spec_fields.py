"""The release spec: every field arrives, defaults, and models built in Python."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from ppdp_spark.errors import SpecError
from ppdp_spark.spec import (
    ColumnsSpec,
    LDiversitySpec,
    ReleaseSpec,
    SensitiveSpec,
)
from support.specs import changed, problems, valid

# What is accepted


def test_every_field_arrives() -> None:
    spec = ReleaseSpec.parse(valid())
    assert spec.input.format == "csv"
    assert spec.input.options == {"header": "true", "password": "hunter2", "sep": ";"}
    columns = spec.columns
    assert list(columns.quasi_identifiers) == ["age", "sex", "birth", "a.b"]
    assert [c.type for c in columns.quasi_identifiers.values()] == [
        "numeric",
        "categorical",
        None,
        "categorical",
    ]
    assert columns.quasi_identifiers["a.b"].weight == 2.0
    assert columns.sensitive == SensitiveSpec(column="occupation", case="svpi")
    privacy = spec.privacy
    assert privacy.criteria == tuple(valid()["privacy"])
    assert privacy.delta_disclosure is not None and privacy.delta_disclosure.delta == 1.5
    assert privacy.skyline is not None and list(privacy.skyline.values) == ["HIV", "7"]
    assert privacy.robustness is not None and privacy.robustness.priors[1].attributes == ("age", "sex")
    assert (spec.suppression.l, spec.suppression.unsafe_fixed_seed) == (6, 987654321)
    assert spec.explore is not None and spec.explore.confidence == (0.5, 1.0)


def test_defaults() -> None:
    spec = ReleaseSpec.parse(
        {
            "version": 1,
            "dataset": "d",
            "input": {"table": "db.people"},
            "columns": {"quasi_identifiers": {"age": {}}, "sensitive": "job"},
        }
    )
    assert (spec.nulls, spec.partitioner, spec.explore) == ("category", "mondrian", None)
    assert spec.columns.sensitive == SensitiveSpec(column="job")
    assert (spec.suppression.method, spec.suppression.budget) == ("none", 0.1)
    assert (spec.output.path, spec.output.form, spec.output.overwrite) == (None, "generalized", False)
    assert (spec.output.bounds, spec.output.bounds_rule) == (None, "grid")
    assert spec.columns.quasi_identifiers["age"].weight == 1.0
    assert spec.privacy.criteria == ()
    assert spec.warnings == ()


@pytest.mark.parametrize(
    ("path", "format_"),
    [
        ("a/b.parquet", "parquet"),
        ("a/b.parquet/", "parquet"),
        ("b.CSV.gz", "csv"),
        ("b.orc", "orc"),
        ("b.jsonl", "json"),
        ("data/*.snappy.parquet", "parquet"),
    ],
)
def test_format_is_told_from_the_path(path: str, format_: str) -> None:
    assert ReleaseSpec.parse(changed("input/path", path)).input.format == format_


def test_the_spec_is_frozen() -> None:
    spec = ReleaseSpec.parse(valid())
    with pytest.raises(ValidationError):
        spec.dataset = "other"
    with pytest.raises(ValidationError):
        spec.privacy.k_anonymity = 2


def test_models_built_in_python_obey_the_same_rules() -> None:
    with pytest.raises(SpecError, match="recursive"):
        LDiversitySpec(kind="recursive", l=3)
    with pytest.raises(SpecError, match="one role"):
        ColumnsSpec(identifiers=("a",), publish_as_is=("a",))
    parts = {**valid(), "columns": ColumnsSpec(sensitive=SensitiveSpec(column="x", case="mvpi-set"))}
    assert any("one value per person" in problem for problem in problems(parts))


def test_entropy_level_is_one_number() -> None:
    two, also_two = ({"kind": "entropy", "l": level} for level in (2, 2.0))
    specs = [ReleaseSpec.parse(changed("privacy/l_diversity", level)) for level in (two, also_two)]
    assert specs[0].fingerprint() == specs[1].fingerprint()
    assert problems(changed("privacy/l_diversity", {"kind": "entropy", "l": 1})) == (
        "`privacy.l_diversity.l` (1.0) must be greater than 1",
    )
