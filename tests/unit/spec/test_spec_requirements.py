"""What commands need of a spec, its warnings, the ready specs, and its fingerprint."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ppdp_spark.errors import SpecError
from ppdp_spark.spec import (
    ReleaseSpec,
    SkylinePointSpec,
)
from support.places import ROOT
from support.specs import changed, conforms, valid

READY = sorted((ROOT / "conf").glob("census-*.yaml"))


# What commands need


def test_anonymize_needs_a_criterion() -> None:
    spec = ReleaseSpec.parse(changed("privacy", {}))
    with pytest.raises(SpecError, match="`privacy` demands nothing"):
        spec.require_criteria()
    ReleaseSpec.parse(valid()).require_criteria()


def test_what_commands_need() -> None:
    bare = ReleaseSpec.parse({"version": 1, "dataset": "d", "input": {"table": "t"}, "columns": {}})
    wanted = {
        "anonymize": [
            "`privacy` demands",
            "`columns.quasi_identifiers` is empty",
            "`output.path` is missing",
        ],
        "check": ["`columns.group` and"],
        "explore": ["`columns.sensitive` is missing", "`columns.group` and"],
        "suppress": ["`output.path` is missing", "`suppression.method` (none)"],
    }
    for command, starts in wanted.items():
        with pytest.raises(SpecError) as caught:
            bare.require_for(command)
        assert len(caught.value.problems) == len(starts)
        assert all(p.startswith(s) for p, s in zip(caught.value.problems, starts, strict=True))
        ReleaseSpec.parse(changed("privacy/robustness", ...)).require_for(command)
    with pytest.raises(SpecError, match="unsafe-d"):
        ReleaseSpec.parse(changed("suppression/method", "unsafe-d")).require_for("anonymize")


@pytest.mark.parametrize("case", ["mvpi-set", "mvpi-multiset"])
def test_that_everybody_has_a_value_is_known_where_rows_were_brought_together(case: str) -> None:
    """Ten people and ten values, five σ: .5, and .41 by the model that leaves open that somebody has none."""
    assert 1 - (9 / 10) ** 5 < 0.41 < 5 / 10
    point = {"l": 0, "k": 0, "m": 0, "c": 0.45}
    document: dict[str, Any] = {
        "version": 1,
        "dataset": "d",
        "input": {"table": "t"},
        "columns": {
            "person": "who",
            "quasi_identifiers": {"age": "numeric"},
            "sensitive": {"column": "ill", "case": case},
        },
        "privacy": {"k_anonymity": 2, "skyline": {"default": [point]}},
    }
    for form, refused in (("bucketized", True), ("generalized", False), ("rowwise", False)):
        spec = ReleaseSpec.parse({**document, "output": {"path": "out", "form": form}})
        if not refused:
            spec.require_for("anonymize")
            continue
        for command in ("anonymize", "eligibility"):
            with pytest.raises(SpecError, match=r"`privacy\.skyline` with `columns\.person`.* rowwise"):
                spec.require_for(command)
        one = {**document["columns"], "person": None, "sensitive": {"column": "ill", "case": case}}
        ReleaseSpec.parse({**document, "columns": one, "output": {"path": "out", "form": form}}).require_for(
            "anonymize"
        )


def test_robustness_and_the_partitioners_that_may_leave_people_out() -> None:
    demanding = ReleaseSpec.parse(valid())
    with pytest.raises(SpecError) as caught:
        demanding.require_for("anonymize")
    for name in ("t_closeness", "beta_likeness", "delta_disclosure"):
        assert any(f"`privacy.{name}`" in problem for problem in caught.value.problems)
    with pytest.raises(SpecError, match="not part of `explore`"):
        demanding.require_for("explore")
    demanding.require_for("check")
    spec = changed("privacy", {"k_anonymity": 3})
    for partitioner, needs in (("art", "robustness"), ("anatomy", "l_diversity")):
        with pytest.raises(SpecError, match=rf"`partitioner` \({partitioner}\) needs `privacy.{needs}`"):
            ReleaseSpec.parse({**spec, "partitioner": partitioner}).require_for("anonymize")


def test_warnings() -> None:
    (seed,) = ReleaseSpec.parse(valid()).warnings
    assert "unsafe_fixed_seed" in seed and "not for publication" in seed
    spec = changed("suppression/unsafe_fixed_seed", ...)
    spec["privacy"]["skyline"] = {
        "values": {
            "x": [
                {"l": 1, "k": 2, "m": 0, "c": 0.5},
                {"l": 1, "k": 3, "m": 0, "c": 0.4},
                {"l": 2, "k": 1, "m": 0, "c": 0.4},
                {"l": 2, "k": 1, "m": 0, "c": 0.4},
            ]
        }
    }
    assert ReleaseSpec.parse(spec).warnings == (
        "`privacy.skyline.values.x.0` adds nothing: `privacy.skyline.values.x.1` already demands as much",
        "`privacy.skyline.values.x.3` adds nothing: `privacy.skyline.values.x.2` already demands as much",
        "`privacy.skyline.default` is empty: only the values named in `values` are protected",
    )


@pytest.mark.parametrize("weaker", [{"l": 0}, {"k": 0}, {"m": 0}, {"c": 0.6}])
def test_a_point_covers_only_what_knows_less_and_asks_less(weaker: dict[str, Any]) -> None:
    strong = SkylinePointSpec(l=2, k=2, m=2, c=0.5)
    weak = strong.model_copy(update=weaker)
    assert strong.dominates(weak) and strong.dominates(strong)
    assert not weak.dominates(strong)


# Round trip, fingerprint, schema


@pytest.mark.parametrize("path", READY, ids=lambda path: path.stem)
def test_ready_specs(path: Path) -> None:
    spec = ReleaseSpec.load(path)
    spec.require_for("anonymize" if spec.attack is None else "attack")
    assert spec.warnings == ()
    hierarchy = spec.columns.quasi_identifiers["education"].hierarchy
    assert hierarchy is not None and Path(hierarchy).is_file()
    assert conforms(json.loads(json.dumps(spec.to_dict())), ReleaseSpec.json_schema())


def test_there_are_ready_specs() -> None:
    assert {path.stem for path in READY} >= {"census-k10", "census-diverse"}


def test_round_trip() -> None:
    spec = ReleaseSpec.parse(valid())
    plain = json.loads(json.dumps(spec.to_dict(secrets=True)))
    assert ReleaseSpec.parse(plain) == spec
    hidden = spec.to_dict()
    assert hidden["suppression"]["unsafe_fixed_seed"] == hidden["input"]["options"]["password"] == "(hidden)"
    assert hidden["input"]["options"]["sep"] == ";"


def test_fingerprint() -> None:
    one = ReleaseSpec.parse(valid()).fingerprint()
    assert len(one) == 64 and int(one, 16) > 0
    reordered = {key: valid()[key] for key in reversed(valid())}
    assert ReleaseSpec.parse(reordered).fingerprint() == one
    for path, value in [
        ("output/path", "elsewhere"),
        ("output/overwrite", False),
        ("scratch", "elsewhere"),
        ("suppression/unsafe_fixed_seed", 1),
        ("columns/quasi_identifiers/a.b/weight", 2.0),
    ]:
        assert ReleaseSpec.parse(changed(path, value)).fingerprint() == one
    for path, value in [
        ("privacy/k_anonymity", 11),
        ("output/form", "generalized"),
        ("suppression/unsafe_fixed_seed", ...),
        ("nulls", "error"),
        ("input/options/sep", ","),
    ]:
        assert ReleaseSpec.parse(changed(path, value)).fingerprint() != one


def test_a_spec_is_read_without_spark_and_without_the_numerics() -> None:
    """Criteria declare their part of a spec beside their formulas: numpy is there, what takes long is not."""
    plain = {**valid(), "suppression": {"method": "none"}, "explore": None}
    code = (
        "import sys; sys.modules['pyspark'] = None; from ppdp_spark.spec import ReleaseSpec;"
        f"spec = ReleaseSpec.parse({plain!r}); spec.warnings; spec.require_for('check');"
        "print([m for m in ('numba', 'pandas', 'scipy', 'pyarrow') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"
