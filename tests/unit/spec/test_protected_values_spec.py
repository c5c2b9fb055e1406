"""`not_sensitive` and `only`: what a spec may say of the values that need no protection."""

from __future__ import annotations

from typing import Any

import pytest

from ppdp_spark.core.data.value_names import ValueDomain
from ppdp_spark.errors import SpecError
from ppdp_spark.run.criteria.knowledge import require_named_values
from ppdp_spark.run.manifest import public_manifest
from ppdp_spark.spec import ReleaseSpec

POINT = {"l": 1, "k": 1, "m": 0, "c": 0.5}


def spec(sensitive: Any, **more: Any) -> dict[str, Any]:
    columns = {"quasi_identifiers": {"age": "numeric"}, "sensitive": sensitive}
    return {
        "version": 1,
        "dataset": "x",
        "input": {"path": "x.csv"},
        "columns": columns,
        "output": {"path": "o"},
        **more,
    }


def parsed(**declared: Any) -> ReleaseSpec:
    return ReleaseSpec.parse(spec({"column": "ill", **declared}, privacy={"k_anonymity": 2}))


def problems(given: dict[str, Any], command: str = "anonymize") -> list[str]:
    with pytest.raises(SpecError) as found:
        ReleaseSpec.parse(given).require_for(command)
    return list(found.value.problems)


def unmatched(given: ReleaseSpec, labels: tuple[str, ...], kind: str = "string") -> list[str]:
    (declared,) = given.columns.attributes
    domain = ValueDomain(labels, (1,) * len(labels), "svpi", kind, declared.sensitivity)
    try:
        require_named_values(given, {"ill": domain})
    except SpecError as error:
        return list(error.problems)
    return []


@pytest.mark.parametrize(
    ("declared", "text"),
    [
        ({"only": ["a"], "not_sensitive": ["b"]}, "`columns.sensitive.only` and `not_sensitive` both say"),
        ({"may_be_absent": ["a"]}, "`columns.sensitive.may_be_absent` belongs to `not_sensitive` or `only`"),
        ({"only": ["a"], "may_be_absent": ["b"]}, "(b) is not one of `only`; known are `a`"),
        ({"only": []}, "`columns.sensitive.only` (list) must have at least one entry"),
        ({"not_sensitiv": ["a"]}, "did you mean `not_sensitive`?"),
    ],
)
def test_contradictions_are_told(declared: dict[str, Any], text: str) -> None:
    found = problems(spec({"column": "ill", **declared}, privacy={"k_anonymity": 2}))
    assert any(text in line for line in found), found


def test_values_are_matched_by_type_and_numbers_may_be_written_as_numbers() -> None:
    given = parsed(not_sensitive=[5, "1e1", True])
    assert given.columns.attributes[0].not_sensitive == ("5", "1e1", "true")
    assert unmatched(parsed(not_sensitive=[5, "1e1"]), ("5.0", "10.0", "7.5"), "double") == []
    domain = ValueDomain(
        ("5.0", "10.0", "7.5"),
        (1, 1, 1),
        "svpi",
        "double",
        parsed(only=[5]).columns.attributes[0].sensitivity,
    )
    assert domain.protected == (True, False, False)


def test_a_name_that_nobody_has_is_an_error_with_the_nearest_one() -> None:
    (line,) = unmatched(parsed(not_sensitive=["none", "Flux"]), ("Flu", "HIV", "none"))
    assert line.startswith(
        "`columns.sensitive.not_sensitive.1`: no row that takes part has this value; did you mean `Flu`?"
    )
    assert "`columns.sensitive.may_be_absent`" in line
    assert unmatched(parsed(not_sensitive=["none", "Ebola"], may_be_absent=["Ebola"]), ("Flu", "none")) == []


def test_a_spec_that_protects_nothing_is_refused() -> None:
    (line,) = unmatched(parsed(not_sensitive=["Flu", "none"]), ("Flu", "none"))
    assert (
        line
        == "`columns.sensitive.not_sensitive` leaves no value that occurs protected: protect at least one"
    )
    (line,) = unmatched(parsed(only=["HIV"], may_be_absent=["HIV"]), ("Flu", "none"))
    assert line.startswith("`columns.sensitive.only` leaves no value")
    assert "is the same value" in unmatched(parsed(not_sensitive=["1", "1.0"]), ("1", "2"), "int")[0]


def test_a_value_with_points_of_its_own_needs_protection() -> None:
    skyline = {"values": {"Flu": [POINT], "HIV": [POINT]}}
    given = ReleaseSpec.parse(spec({"column": "ill", "not_sensitive": ["Flu"]}, privacy={"skyline": skyline}))
    (line,) = unmatched(given, ("Flu", "HIV"))
    assert line.startswith("`privacy.skyline.values.Flu`: this value needs no protection")


def test_a_value_without_points_is_told_where_to_go() -> None:
    (line,) = problems(spec("ill", privacy={"skyline": {"default": [POINT], "values": {"Flu": []}}}))
    assert line.startswith("`privacy.skyline.values.Flu` has no points: name the value in `not_sensitive`")


@pytest.mark.parametrize("command", ["anonymize", "check", "plan"])
def test_a_distance_along_an_order_is_refused_before_anything_is_read(command: str) -> None:
    privacy = {"t_closeness": {"t": 0.2, "distance": "ordered"}}
    given = spec(
        {"column": "ill", "only": ["Flu"]},
        privacy=privacy,
        partitioner="blind" if command == "plan" else "mondrian",
    )
    assert any(
        line.startswith("`privacy.t_closeness` with `distance: ordered`") for line in problems(given, command)
    )
    given["columns"]["sensitive"] = "ill"
    ReleaseSpec.parse(given).require_for(command)


def test_attributes_are_limited_one_by_one() -> None:
    two = [{"column": "ill", "not_sensitive": ["none"]}, {"column": "job"}]
    ordered = {"t_closeness": {"t": 0.2, "distance": "ordered"}}
    fine = spec(two, privacy={"k_anonymity": 2, "per_attribute": {"job": ordered}})
    ReleaseSpec.parse(fine).require_for("anonymize")
    (line,) = problems(spec(two, privacy={"k_anonymity": 2, "per_attribute": {"ill": ordered}}))
    assert line.startswith("`privacy.per_attribute.ill.t_closeness` with `distance: ordered`")


def test_a_blind_group_may_be_as_small_as_the_criteria_on_people_allow() -> None:
    privacy = {
        "k_anonymity": 3,
        "l_diversity": {"kind": "distinct", "l": 9},
        "alpha_k": {"alpha": 0.1, "k": 4},
    }
    given = spec(
        {"column": "ill", "not_sensitive": ["none"]}, privacy=privacy, partitioner="blind", least_size=4
    )
    ReleaseSpec.parse(given).require_for("anonymize")
    assert "`least_size` (3) must be at least 4" in problems({**given, "least_size": 3})[0]


def test_people_with_unprotected_values_may_be_alone_and_the_spec_is_warned() -> None:
    diverse = {"l_diversity": {"kind": "distinct", "l": 3}}
    warned = ReleaseSpec.parse(spec({"column": "ill", "not_sensitive": ["none"]}, privacy=diverse)).warnings
    assert any("may be published alone; add `k_anonymity: 10`" in line for line in warned)
    assert not ReleaseSpec.parse(spec("ill", privacy=diverse)).warnings
    assert not parsed(not_sensitive=["none"]).warnings


def test_the_manifest_carries_it_and_specs_without_it_keep_their_fingerprint() -> None:
    given = parsed(not_sensitive=["none", "Ebola"], may_be_absent=["Ebola"])
    rows = {"input": 1, "published": 1}
    manifest = public_manifest(given, (), rows=rows, groups=1, suppression=None, files={})
    assert manifest["sensitive"] == {"column": "ill", "case": "svpi", "not_sensitive": ["none", "Ebola"]}
    plain = public_manifest(parsed(), (), rows=rows, groups=1, suppression=None, files={})
    assert plain["sensitive"] == {"column": "ill", "case": "svpi"}
    assert parsed().to_dict()["columns"]["sensitive"] == {"column": "ill", "case": "svpi"}
    assert parsed().fingerprint() != given.fingerprint()
