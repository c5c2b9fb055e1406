"""A spec with every field, and ways to change it."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from ppdp_spark.errors import SpecError
from ppdp_spark.spec import (
    ReleaseSpec,
)


def valid() -> dict[str, Any]:
    """A spec that uses every field."""
    return {
        "version": 1,
        "dataset": "census-2026",
        "input": {"path": "data/census.csv", "options": {"header": True, "password": "hunter2", "sep": ";"}},
        "columns": {
            "identifiers": ["person_id"],
            "quasi_identifiers": {
                "age": {"type": "numeric"},
                "sex": "categorical",
                "birth": None,
                "a.b": {"hierarchy": "tree.csv", "weight": 2},
            },
            "sensitive": {"column": "occupation", "case": "svpi"},
            "publish_as_is": ["region"],
            "group": "bucket",
        },
        "nulls": "suppress",
        "privacy": {
            "k_anonymity": 10,
            "l_diversity": {"kind": "recursive", "c": 3, "l": 6},
            "t_closeness": {"t": 0.3, "distance": "ordered"},
            "beta_likeness": {"beta": 2, "kind": "basic"},
            "delta_disclosure": 1.5,
            "alpha_k": {"alpha": 0.5, "k": 5},
            "skyline": {
                "default": [{"l": 3, "k": 20, "m": 2, "c": 0.5}],
                "values": {
                    "HIV": [{"l": 3, "k": 100, "m": 5, "c": 0.3}],
                    7: [{"l": 0, "k": 1, "m": 0, "c": 1}],
                },
            },
            "robustness": {
                "r": 3,
                "model": "binary",
                "priors": [{"attributes": ["sex"]}, {"attributes": ["age", "sex"], "path": "priors.csv"}],
            },
        },
        "partitioner": "mondrian",
        "suppression": {"method": "r", "l": 6, "budget": 0.2, "unsafe_fixed_seed": 987654321},
        "output": {"path": "out/census", "form": "bucketized", "overwrite": True},
        "explore": {"values": ["HIV"], "confidence": [0.5, 1], "max_l": 3, "max_m": 0},
    }


def changed(path: str, value: Any) -> dict[str, Any]:
    """The valid spec with one place replaced; `...` removes it."""
    spec = copy.deepcopy(valid())
    *parents, last = path.split("/")
    node: Any = spec
    for key in parents:
        node = node[int(key) if isinstance(node, list) else key]
    key = int(last) if isinstance(node, list) else last
    if value is ...:
        del node[key]
    else:
        node[key] = value
    return spec


def problems(mapping: Any, **options: Any) -> tuple[str, ...]:
    with pytest.raises(SpecError) as caught:
        ReleaseSpec.parse(mapping, **options)
    assert caught.value.exit_code == 2
    return caught.value.problems


IGNORED = {"title", "description", "default", "examples", "$schema", "$defs"}
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


def conforms(value: Any, schema: dict[str, Any], root: dict[str, Any] | None = None) -> bool:
    """Whether JSON conforms to a schema: the part of draft 2020-12 that ours may use, no more."""
    root = root or schema
    for keyword, wanted in schema.items():
        if keyword in IGNORED:
            continue
        if keyword == "$ref":
            target = root["$defs"][wanted.removeprefix("#/$defs/")]
            ok = conforms(value, target, root)
        elif keyword == "anyOf":
            ok = any(conforms(value, option, root) for option in wanted)
        elif keyword in ("const", "enum"):
            ok = value in (wanted if keyword == "enum" else [wanted])
        elif keyword == "type" and isinstance(wanted, list):
            ok = any(conforms(value, {"type": one}, root) for one in wanted)
        elif keyword == "type":
            number = isinstance(value, int | float) and not isinstance(value, bool)
            ok = (
                number and (wanted == "number" or isinstance(value, int))
                if wanted in ("number", "integer")
                else isinstance(value, TYPES[wanted])
            )
        elif keyword == "required":
            ok = not isinstance(value, dict) or set(wanted) <= set(value)
        elif keyword == "properties":
            ok = not isinstance(value, dict) or all(
                conforms(v, wanted[k], root) for k, v in value.items() if k in wanted
            )
        elif keyword == "additionalProperties":
            extra = (
                [v for k, v in value.items() if k not in schema.get("properties", {})]
                if isinstance(value, dict)
                else []
            )
            ok = all(wanted is not False and (wanted is True or conforms(v, wanted, root)) for v in extra)
        elif keyword == "propertyNames":
            ok = not isinstance(value, dict) or all(conforms(k, wanted, root) for k in value)
        elif keyword == "items":
            ok = not isinstance(value, list) or all(conforms(v, wanted, root) for v in value)
        elif keyword in ("minItems", "minLength"):
            ok = not isinstance(value, list | str) or len(value) >= wanted
        elif keyword in ("maxItems", "maxLength"):
            ok = not isinstance(value, list | str) or len(value) <= wanted
        elif keyword == "minProperties":
            ok = not isinstance(value, dict) or len(value) >= wanted
        else:
            compare = {
                "minimum": lambda v, w: v >= w,
                "maximum": lambda v, w: v <= w,
                "exclusiveMinimum": lambda v, w: v > w,
            }[keyword]
            ok = not isinstance(value, int | float) or compare(value, wanted)
        if not ok:
            return False
    return True
