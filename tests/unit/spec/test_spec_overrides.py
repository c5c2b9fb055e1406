"""Overrides from the command line."""

from __future__ import annotations

import pytest

from ppdp_spark.spec import (
    ReleaseSpec,
)
from support.specs import changed, problems, valid

# Overrides


def test_overrides() -> None:
    spec = ReleaseSpec.parse(
        valid(),
        overrides=[
            "privacy.k_anonymity=20",
            "privacy.skyline.default.0.k=5",
            "privacy.skyline.values.HIV.0={l: 1, k: 2, m: 3, c: 0.5}",
            'columns.quasi_identifiers."a.b".weight=3',
            "columns.quasi_identifiers.'birth'.type=date",
            'input.options."x=\\"y"=1',
            "explore.values=[a=b, c.d]",
            "privacy.k_anonymity=21",
        ],
    )
    assert spec.privacy.k_anonymity == 21
    assert spec.privacy.skyline is not None
    assert spec.privacy.skyline.default[0].k == 5
    assert spec.privacy.skyline.values["HIV"][0].m == 3
    assert spec.columns.quasi_identifiers["a.b"].weight == 3
    assert spec.columns.quasi_identifiers["birth"].type == "date"
    assert spec.input.options['x="y'] == "1"
    assert spec.explore is not None and spec.explore.values == ("a=b", "c.d")


def test_overrides_leave_the_mapping_alone() -> None:
    mapping = valid()
    ReleaseSpec.parse(mapping, overrides=["privacy.skyline.default.0.k=5", "output.path=x"])
    assert mapping == valid()


def test_overrides_make_what_is_missing() -> None:
    spec = ReleaseSpec.parse(changed("output", ...), overrides=["output.path=here"])
    assert spec.output.path == "here"


@pytest.mark.parametrize(
    "override", ["", "privacy", "=3", ".a=3", "a..b=3", '"a=3', 'a"b=3', "a.=3", '"a"b=3']
)
def test_overrides_that_are_no_assignments(override: str) -> None:
    (line,) = problems(valid(), overrides=["nulls=error", override])
    assert line.startswith("override 2 must be PATH=VALUE, such as privacy.k_anonymity=20")


@pytest.mark.parametrize(
    ("override", "line"),
    [
        (
            "output.path={a: 1",
            "override 1 of `output.path` has a value that is not valid YAML: line 1, column 6: "
            "while parsing a flow mapping, expected ',' or '}', but got '<stream end>'",
        ),
        (
            "privacy.skyline.default.1.k=5",
            "override 1 `privacy.skyline.default.1` is not an entry of the list; there are 0 to 0",
        ),
        (
            "privacy.skyline.default.x=5",
            "override 1 `privacy.skyline.default.x` is not an entry of the list; there are 0 to 0",
        ),
        (
            "columns.quasi_identifiers.sex.weight=5",
            "override 1 `columns.quasi_identifiers.sex` (text) is not a mapping: "
            "write it out before setting `weight` in it",
        ),
        ("privacy.k=5", "`privacy.k` is not a known key; did you mean `k_anonymity`?"),
        ("privacy.k_anonymity=1", "`privacy.k_anonymity` (1) must be at least 2"),
        (
            "privacy.k_anonymity=",
            "`privacy.k_anonymity` (empty) demands nothing: give it a value or remove the key",
        ),
    ],
)
def test_overrides_that_cannot_be(override: str, line: str) -> None:
    assert problems(valid(), overrides=[override]) == (line,)
