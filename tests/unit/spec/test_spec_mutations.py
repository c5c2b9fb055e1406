"""Whatever is written: a spec or a spec error, and nothing else ever escapes."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ppdp_spark.errors import SpecError
from ppdp_spark.spec import (
    ReleaseSpec,
)
from support.places import ROOT
from support.specs import valid

# Nothing but a spec or a SpecError


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([0, 1, 2, -1, 10**19, 10**400, -(10**4000)]),
    st.floats(),
    st.text(max_size=60),
    st.sampled_from(
        ["", "none", "r", "anatomy", "mvpi-set", "age", "occupation", "entropy", "\ud800", "a\0b"]
    ),
    st.binary(max_size=3),
    st.dates(),
)
THINGS = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.one_of(st.text(max_size=5), st.integers(), st.none(), st.booleans()), inner, max_size=3
        ),
        st.tuples(inner),
        st.sets(st.integers(), max_size=2),
    ),
    max_leaves=6,
)


def mutate(data: st.DataObject, node: Any) -> Any:
    """A copy of the node with something inside replaced, removed, added or renamed."""
    keys = list(node) if isinstance(node, dict) else list(range(len(node))) if isinstance(node, list) else []
    if not keys or data.draw(st.integers(0, 5)) == 0:
        return data.draw(THINGS)
    key = data.draw(st.sampled_from(keys))
    action = data.draw(st.sampled_from(["into", "into", "into", "remove", "add", "rename"]))
    result = copy.copy(node)
    if action == "into":
        result[key] = mutate(data, node[key])
    elif action == "remove":
        del result[key]
    elif isinstance(result, list):
        result.append(data.draw(THINGS))
    else:
        name = data.draw(
            st.one_of(st.text(max_size=8), st.integers(), st.sampled_from(["k", "age", "AGE", "l"]))
        )
        result[name] = result.pop(key) if action == "rename" else data.draw(THINGS)
    return result


def outcome(mapping: Any, overrides: list[str]) -> ReleaseSpec | SpecError:
    try:
        return ReleaseSpec.parse(mapping, base=ROOT / "conf", overrides=overrides)
    except SpecError as error:
        assert error.problems and all(problem.isprintable() for problem in error.problems)
        return error


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_any_mutation_is_a_spec_or_a_spec_error(data: st.DataObject) -> None:
    mapping: Any = valid()
    for _ in range(data.draw(st.integers(1, 3))):
        mapping = mutate(data, mapping)
    result = outcome(mapping, [])
    if isinstance(result, ReleaseSpec):
        assert ReleaseSpec.parse(json.loads(json.dumps(result.to_dict(secrets=True)))) == result
        assert len(result.fingerprint()) == 64
        assert all(isinstance(warning, str) for warning in result.warnings)


@settings(max_examples=200, deadline=None)
@given(
    st.text(max_size=30), st.sampled_from(["", "privacy.", "privacy.skyline.default.0.", "columns.", "x="])
)
def test_any_override_is_a_spec_or_a_spec_error(text: str, start: str) -> None:
    outcome(valid(), [start + text])


@settings(max_examples=200, deadline=None)
@given(
    st.one_of(
        st.binary(max_size=60), st.text("ab:{}[]-!&*#|>\"' \n\t0159.,?%@`", max_size=40).map(str.encode)
    )
)
def test_any_file_is_a_spec_or_a_spec_error(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any.yaml"
    path.write_bytes(content)
    with pytest.raises(SpecError) as caught:
        ReleaseSpec.load(path)
    assert all(problem.isprintable() for problem in caught.value.problems)
