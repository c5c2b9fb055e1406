"""Specs as programs write them: mappings, parts with names, and no input where a table is given."""

from __future__ import annotations

import inspect

import pytest
import yaml
from typer.testing import CliRunner

import ppdp_spark.spec
from ppdp_spark.cli.app import app
from ppdp_spark.commands.sweep import plan
from ppdp_spark.errors import SpecError
from ppdp_spark.spec import (
    AttackSpec,
    ColumnsSpec,
    InputSpec,
    LDiversitySpec,
    OutputSpec,
    PrivacySpec,
    QuasiIdentifierSpec,
    ReleaseSpec,
    SensitiveSpec,
    SkylinePointSpec,
    SkylineSpec,
)

TEXT = """
version: 1
dataset: census
columns:
  identifiers: [id]
  quasi_identifiers: {age: numeric, city: {weight: 2}}
  sensitive: job
privacy:
  k_anonymity: 5
  l_diversity: {kind: recursive, c: 3, l: 4}
  skyline: {default: [{l: 1, k: 2, m: 0, c: 0.5}]}
output: {path: out/census, form: bucketized}
"""
PLAIN = yaml.safe_load(TEXT)
MISSING = "`input` is missing: add `input: {path: data/census.parquet}`"


def built() -> ReleaseSpec:
    return ReleaseSpec(
        version=1,
        dataset="census",
        columns=ColumnsSpec(
            identifiers=("id",),
            quasi_identifiers={
                "age": QuasiIdentifierSpec(type="numeric"),
                "city": QuasiIdentifierSpec(weight=2),
            },
            sensitive=SensitiveSpec(column="job"),
        ),
        privacy=PrivacySpec(
            k_anonymity=5,
            l_diversity=LDiversitySpec(kind="recursive", c=3, l=4),
            skyline=SkylineSpec(default=(SkylinePointSpec(l=1, k=2, m=0, c=0.5),)),
        ),
        output=OutputSpec(path="out/census", form="bucketized"),
    )


def test_a_mapping_a_file_and_parts_make_one_spec(tmp_path):
    path = tmp_path / "spec.yaml"
    path.write_text(TEXT)
    spec = ReleaseSpec.of(PLAIN)
    assert spec == ReleaseSpec.of(path) == ReleaseSpec.of(str(path)) == built()
    assert ReleaseSpec.of(spec) is spec
    changed = ReleaseSpec.of(spec, ["privacy.k_anonymity=7"])
    assert changed.privacy.k_anonymity == 7 and changed.columns == spec.columns
    assert {each.fingerprint() for each in (spec, built(), ReleaseSpec.load(path))} == {spec.fingerprint()}
    assert "input" not in spec.to_dict() and ReleaseSpec.parse(spec.to_dict(secrets=True)) == spec


def test_mistakes_in_parts_are_spec_errors_with_every_problem():
    with pytest.raises(SpecError) as caught:
        PrivacySpec(k_anonymity=1, l_diversty={})
    assert caught.value.problems == (
        "`k_anonymity` (1) must be at least 2",
        "`l_diversty` is not a known key; did you mean `l_diversity`?",
    )
    with pytest.raises(SpecError) as caught:
        ReleaseSpec(version=2, dataset="d", columns={}, privacy={"k_anonymity": 1}, output=OutputSpec())
    assert caught.value.problems == (
        "`version` (2) must be 1",
        "`privacy.k_anonymity` (1) must be at least 2",
    )


@pytest.mark.parametrize("command", ["anonymize", "eligibility", "check", "explore", "suppress", "attack"])
def test_commands_need_an_input_unless_a_table_is_given(command):
    spec = ReleaseSpec.parse(PLAIN, overrides=["suppression={method: r, l: 2}", "output.form=generalized"])
    if command == "attack":
        spec = ReleaseSpec.of(spec, ["columns={group: age, sensitive: job, quasi_identifiers: {city: }}"])
        spec = ReleaseSpec.of(spec, ["attack={}"])
    with pytest.raises(SpecError) as caught:
        spec.require_for(command)
    assert caught.value.problems == (MISSING,)
    spec.require_for(command, table_given=True)


def test_an_attack_on_a_release_of_ours_needs_no_input():
    spec = built().model_copy(update={"attack": AttackSpec(release="out/census")})
    spec.require_for("attack")


def test_the_command_line_demands_an_input_among_all_that_is_wrong(tmp_path):
    path = tmp_path / "spec.yaml"
    path.write_text(TEXT)
    for arguments in (["anonymize"], ["check"], ["sweep", "--over", "privacy.k_anonymity=5"]):
        done = CliRunner().invoke(app, [arguments[0], str(path), *arguments[1:]])
        assert (done.exit_code, done.stderr) == (2, f"ppdp: {MISSING}\n")
    done = CliRunner().invoke(app, ["attack", str(path)])
    assert done.exit_code == 2 and MISSING in done.stderr and "`attack.release` and" in done.stderr
    path.write_text(TEXT.replace("k_anonymity: 5", "k_anonymity: 1"))
    done = CliRunner().invoke(app, ["anonymize", str(path)])
    assert done.exit_code == 2 and MISSING in done.stderr and "must be at least 2" in done.stderr
    path.write_text(TEXT + "input:\n")
    done = CliRunner().invoke(app, ["anonymize", str(path)])
    assert done.stderr == "ppdp: `input` (empty) must be a mapping (`key: value` lines)\n"


def test_a_sweep_takes_python_values(tmp_path):
    over = {
        "privacy.k_anonymity": [5, 10],
        "output.form": ["generalized", "bucketized"],
        "privacy.l_diversity": [{"kind": "distinct", "l": 2}],
        "dataset": ["1e5"],
    }
    _, variants = plan(PLAIN, over, table_given=True)
    assert [v.name for v in variants[:2]] == [
        'k_anonymity-5_form-generalized_l_diversity--kind-distinct-l-2-_dataset--1e5',
        'k_anonymity-5_form-bucketized_l_diversity--kind-distinct-l-2-_dataset--1e5',
    ]  # fmt: skip
    assert [v.changes["privacy.k_anonymity"] for v in variants] == [5, 5, 10, 10]
    assert {v.spec.dataset for v in variants} == {"1e5"} == {v.changes["dataset"] for v in variants}
    assert {v.spec.privacy.l_diversity for v in variants} == {LDiversitySpec(kind="distinct", l=2)}
    assert plan(built(), ["privacy.k_anonymity=5"], table_given=True)[1][0].spec.columns == built().columns


@pytest.mark.parametrize(
    ("over", "said"),
    [
        ({}, "`over` is missing"),
        ({"privacy.k_anonymity": []}, r"`over` \(privacy.k_anonymity\) must be fields with the values"),
        ({"output.path": ["a"]}, r"`over` \(output.path\) cannot be varied"),
        ({"privacy.k_anonymity": [1]}, "must be at least 2"),
    ],
)
def test_mistakes_of_a_sweep_in_python(over, said):
    with pytest.raises(SpecError, match=said):
        plan(PLAIN, over, table_given=True)
    with pytest.raises(SpecError, match="`input` is missing"):
        plan(PLAIN, {"privacy.k_anonymity": [5]})


def test_every_public_part_is_there_and_documented():
    for name in ppdp_spark.spec.__all__:
        found = getattr(ppdp_spark.spec, name)
        assert not inspect.isclass(found) or inspect.getdoc(found), name
    parts = {n for n, found in vars(ppdp_spark.spec).items() if n.endswith("Spec") and inspect.isclass(found)}
    assert parts <= set(ppdp_spark.spec.__all__)
    assert InputSpec(path="a.csv").format == "csv"
