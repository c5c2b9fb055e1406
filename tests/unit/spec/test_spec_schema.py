"""The JSON schema accepts what the models accept, and refuses what they refuse."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ppdp_spark.spec import (
    ReleaseSpec,
)
from support.specs import changed, conforms, problems, valid


def test_json_schema() -> None:
    schema = ReleaseSpec.json_schema()
    assert json.loads(json.dumps(schema)) == schema
    assert schema["$schema"].endswith("2020-12/schema")
    spec = valid()
    spec["privacy"]["skyline"]["values"] = {"7": [{"l": 0, "k": 1, "m": 0, "c": 1}]}
    spec["input"]["options"] = {"header": "true"}
    assert conforms(spec, schema)
    assert conforms({**spec, "columns": {**spec["columns"], "sensitive": "occupation"}}, schema)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("dataset", ...),
        ("datasett", "x"),
        ("version", 2),
        ("privacy/k_anonymity", 1),
        ("privacy/k_anonymity", "2"),
        ("privacy/delta_disclosure", 0),
        ("privacy/skyline/default/0/c", 0),
        ("privacy/robustness/priors", []),
        ("columns/quasi_identifiers/sex", "categry"),
        ("columns/quasi_identifiers/age", {"wight": 1}),
        ("columns/identifiers", "x"),
        ("columns/sensitive", ""),
    ],
)
def test_json_schema_refuses_what_the_models_refuse(path: str, value: Any) -> None:
    spec = changed(path, value)
    spec["privacy"]["skyline"]["values"] = {}
    assert not conforms(spec, ReleaseSpec.json_schema())
    assert problems(spec)
