"""What a spec may say of several sensitive attributes, and what is refused with a way out."""

from __future__ import annotations

from typing import Any

import pytest

from ppdp_spark.core.data.value_names import ValueDomain
from ppdp_spark.errors import DataError, InternalError, SpecError
from ppdp_spark.run.criteria.guarantees import public_privacy, published_privacy
from ppdp_spark.run.criteria.knowledge import require_named_values
from ppdp_spark.run.manifest import known_attributes
from ppdp_spark.run.storage import Folder
from ppdp_spark.spark.maxent.sources import attacked_attribute
from ppdp_spark.spark.release.several_attributes import judged_release
from ppdp_spark.spec import ColumnsSpec, QuasiIdentifierSpec, ReleaseSpec, SensitiveSpec
from ppdp_spark.spec.requirements import lacking

POINT = {"l": 0, "k": 1, "m": 0, "c": 0.5}
PRIVACY = {
    "k_anonymity": 3,
    "l_diversity": {"kind": "distinct", "l": 2},
    "per_attribute": {"income": {"t_closeness": {"t": 0.3}, "l_diversity": {"kind": "distinct", "l": 4}}},
}


def spec(sensitive: Any = ("ill", "income"), privacy: Any = None, **more: Any) -> dict[str, Any]:
    given = list(sensitive) if isinstance(sensitive, tuple) else sensitive
    columns = {"quasi_identifiers": {"age": "numeric"}, "sensitive": given, **more.pop("columns", {})}
    output = {"path": "out"}
    return {
        "version": 1,
        "dataset": "d",
        "columns": columns,
        "privacy": privacy or PRIVACY,
        "output": output,
        **more,
    }


def problems(given: dict[str, Any], command: str | None = None) -> list[str]:
    with pytest.raises(SpecError) as caught:
        parsed = ReleaseSpec.parse(given)
        assert command is not None
        parsed.require_for(command, table_given=True)
    return list(caught.value.problems)


def test_criteria_hold_for_every_attribute_unless_it_has_its_own():
    privacy = ReleaseSpec.parse(spec()).privacy
    assert privacy.of_groups.criteria == ("k_anonymity",)
    assert privacy.of_attribute("ill").l_diversity.l == 2
    assert privacy.of_attribute("ill").t_closeness is None
    assert privacy.of_attribute("income").l_diversity.l == 4
    assert privacy.of_attribute("income").t_closeness.t == 0.3
    assert privacy.only("income").criteria == ("k_anonymity", "l_diversity", "t_closeness")
    assert "per_attribute.income.t_closeness" in privacy.criteria


def test_a_spec_with_several_attributes_survives_being_written_and_published():
    parsed = ReleaseSpec.parse(spec())
    assert ReleaseSpec.parse(parsed.to_dict()) == parsed
    assert published_privacy(public_privacy(parsed)) == parsed.privacy
    parsed.require_for("anonymize", table_given=True)
    parsed.require_for("check", table_given=True)
    in_python = ColumnsSpec(
        quasi_identifiers={"age": QuasiIdentifierSpec(type="numeric")},
        sensitive=(SensitiveSpec(column="ill"), SensitiveSpec(column="income")),
    )
    assert in_python == parsed.columns


def test_a_list_of_one_is_that_one():
    privacy = {"k_anonymity": 3}
    listed = ReleaseSpec.parse(spec([{"column": "ill"}], privacy))
    alone = ReleaseSpec.parse(spec("ill", privacy))
    assert listed == alone
    assert listed.fingerprint() == alone.fingerprint()
    assert listed.to_dict()["columns"]["sensitive"] == {"column": "ill", "case": "svpi"}
    assert "per_attribute" not in alone.to_dict()["privacy"]


def test_what_is_made_for_one_attribute_does_not_take_several_for_none():
    with pytest.raises(InternalError):
        ReleaseSpec.parse(spec()).columns.attribute  # noqa: B018


def test_what_may_be_known_is_all_unless_it_is_said():
    for stated, known in [({}, ("ill", "income")), ({"known": ["income"]}, ("income",))]:
        given = spec(columns={"sensitive_linked": stated})
        parsed = ReleaseSpec.parse(given)
        assert parsed.columns.known == known
        assert ReleaseSpec.parse(parsed.to_dict()) == parsed
        assert parsed.fingerprint() != ReleaseSpec.parse(spec()).fingerprint()
        parsed.require_for("anonymize", table_given=True)
    assert ReleaseSpec.parse(spec()).columns.known == ()
    assert ReleaseSpec.parse(spec(columns={"sensitive_linked": None})).columns.known == ()


def test_a_manifest_says_who_knows_what_and_a_forged_one_is_not_read():
    stated = [{"column": "ill", "case": "svpi"}, {"column": "income", "case": "svpi"}]
    assert known_attributes({"sensitive": stated}) == ()
    assert known_attributes({"sensitive": stated, "linked": {"known": ["income"]}}) == ("income",)
    for linked in ({}, {"known": []}, {"known": ["age"]}, {"known": "ill"}, []):
        with pytest.raises(DataError, match="which sensitive attributes may be known"):
            known_attributes({"sensitive": stated, "linked": linked})


REFUSED: list[tuple[dict[str, Any], str]] = [
    (spec([]), "`columns.sensitive` (list) must have at least one entry"),
    (spec(("ill", "ILL")), "`columns.sensitive` names `ILL`, which is in `sensitive` already"),
    (
        spec(["ill", {"column": "jobs", "case": "mvpi-set"}], {"k_anonymity": 2}),
        "`columns.sensitive.1.case` (mvpi-set)",
    ),
    (
        spec(suppression={"method": "r", "l": 3}),
        "`suppression.attribute` is missing: with several sensitive attributes, say which of them decides, "
        "one of `ill`, `income`",
    ),
    (spec(suppression={"l": 3}), "`suppression.attribute` is missing"),
    (spec(suppression={"l": 3, "attribute": "incom"}), "did you mean `income`?"),
    (spec(suppression={"attribute": "ill"}), "`suppression.attribute` decides nothing without a method"),
    (
        spec("ill", {"k_anonymity": 2}, suppression={"l": 3, "attribute": "ill"}),
        "`suppression.attribute` is for several sensitive attributes",
    ),
    (spec(partitioner="anatomy"), "`partitioner` (anatomy) is for one sensitive attribute"),
    (spec(explore={}), "`explore` is for one sensitive attribute"),
    (spec(columns={"publish_as_is": ["region"]}), "`columns.publish_as_is` would stand beside several"),
    (spec(columns={"household": "home"}), "`columns.household` is for one sensitive attribute, and"),
    (
        spec(privacy={"robustness": {"r": 2, "priors": [{"attributes": ["age"]}]}}),
        "`privacy.robustness` is for one sensitive attribute",
    ),
    (
        spec(privacy={"skyline": {"default": [POINT], "values": {"flu": [POINT]}}}),
        "move the skyline to `privacy.per_attribute.ill`",
    ),
    (spec("ill"), "`privacy.per_attribute.income` needs several sensitive attributes"),
    (spec(None), "needed by `privacy.l_diversity`, `privacy.per_attribute`"),
    (spec(privacy={"per_attribute": {"incom": {"t_closeness": {"t": 0.3}}}}), "did you mean `income`?"),
    (spec(privacy={"per_attribute": {"ill": {}}}), "`privacy.per_attribute.ill` (empty) demands nothing"),
    (
        spec(privacy={"per_attribute": {"ill": {"k_anonymity": 3}}}),
        "`privacy.per_attribute.ill.k_anonymity` is not a known",
    ),
    (
        spec(privacy={"k_anonymity": 2, "per_attribute": None}),
        "`privacy.per_attribute` (empty) demands nothing",
    ),
    (
        spec("ill", {"k_anonymity": 2}, columns={"sensitive_linked": {}}),
        "`columns.sensitive_linked` needs several sensitive attributes",
    ),
    (
        spec(columns={"sensitive_linked": {"known": []}}),
        "`columns.sensitive_linked.known` (list) must have at least one entry",
    ),
    (spec(columns={"sensitive_linked": {"known": ["incom"]}}), "did you mean `income`?"),
    (
        spec(columns={"sensitive_linked": {"known": ["ill", "ill"]}}),
        "`columns.sensitive_linked.known.1` names `ill` twice",
    ),
    (
        spec(columns={"sensitive_linked": {}, "publish_as_is": ["region"]}),
        "whoever knows them of a person would find the row by them",
    ),
    (spec([{"column": "ill", "linked": True}, "job"]), "`columns.sensitive.0.linked` is not a known key"),
]


@pytest.mark.parametrize(("given", "line"), REFUSED, ids=[line[:50] for _, line in REFUSED])
def test_what_is_not_supported_is_refused_with_a_way_out(given, line):
    assert any(line in found for found in problems(given)), problems(given)


def test_an_attack_on_a_release_may_choose_one_of_several():
    given = spec(attack={"release": "out", "sensitive": "ill"})
    ReleaseSpec.parse(given).require_for("attack", table_given=False)
    lines = problems(spec(attack={"sensitive": "ill"}))
    assert lines == ["`attack.sensitive` chooses a column of a release of ours: add `release`, or remove it"]
    assert any("`attack` is for one" in line for line in problems(spec(attack={"release": "out"})))


def test_which_attribute_of_a_release_is_attacked():
    one, two = ({"sensitive": each} for each in ({"column": "ill"}, [{"column": "ill"}, {"column": "job"}]))
    assert [attacked_attribute(one, None), attacked_attribute(one, "ill")] == [0, 0]
    assert [attacked_attribute(two, "job"), attacked_attribute({"sensitive": None}, None)] == [1, None]
    for manifest, chosen, told in [
        (two, None, "name it in `attack.sensitive`"),
        (two, "age", "is not a sensitive column"),
        (one, "job", "is not a sensitive column"),
        ({**two, "linked": {"known": ["ill"]}}, "ill", "are linked, and `attack` does not look"),
    ]:
        with pytest.raises(DataError, match=told):
            attacked_attribute(manifest, chosen)


def test_what_is_explored_is_one_of_several():
    given = spec(explore={"sensitive": "ill"}, output={})
    ReleaseSpec.parse(given).require_for("explore", table_given=True)
    assert any("did you mean `income`?" in line for line in problems(spec(explore={"sensitive": "incom"})))
    alone = spec("ill", {"k_anonymity": 2}, explore={"sensitive": "il"})
    assert any("did you mean `ill`?" in line for line in problems(alone))


@pytest.mark.parametrize("command", ["explore", "attack"])
def test_commands_for_one_attribute_say_so(command):
    wanted = f"`{command}` is for one: name it in `{command}.sensitive`"
    assert any(wanted in line for line in problems(spec(), command))


@pytest.mark.parametrize("command", ["anonymize", "check"])
@pytest.mark.parametrize("place", ["privacy.skyline", "privacy.per_attribute.ill.skyline"])
def test_skyline_points_that_couple_groups_are_refused_wherever_they_stand(command, place):
    skyline = {"default": [{**POINT, "m": 1}]}
    privacy = (
        {"skyline": skyline}
        if place == "privacy.skyline"
        else {"per_attribute": {"ill": {"skyline": skyline}}}
    )
    (line,) = [
        line for line in problems(spec(privacy={"k_anonymity": 2, **privacy}), command) if "skyline" in line
    ]
    assert line.startswith(f"`{place}` with m above 0 looks at several groups together")


def test_named_values_are_looked_for_in_their_own_attribute():
    own = {"ill": {"skyline": {"values": {"flu": [POINT], "gicht": [POINT]}}}}
    given = ReleaseSpec.parse(spec(privacy={"k_anonymity": 2, "per_attribute": own}))
    domains = {"ill": ValueDomain(("flu", "gout"), (1, 1)), "income": ValueDomain(("gicht",), (2,))}
    with pytest.raises(SpecError, match=r"privacy\.per_attribute\.ill\.skyline\.values\.gicht"):
        require_named_values(given, domains)


def test_a_manifest_with_an_unknown_criterion_of_one_attribute_is_not_read():
    with pytest.raises(DataError, match="ke_anonymity"):
        published_privacy({"k_anonymity": 2, "per_attribute": {"ill": {"ke_anonymity": {"k": 2}}}})


SOME = ({"column": "ill", "not_sensitive": ["none"]}, "income")


@pytest.mark.parametrize("command", ["anonymize", "eligibility", "check", "suppress"])
@pytest.mark.parametrize(
    "sensitive, columns, field",
    [
        (SOME, {}, "`not_sensitive` and `only` in `columns.sensitive`"),
        (("ill", "income"), {"weight": "w"}, "`columns.weight`"),
        (
            ("ill", "income"),
            {"person": "id", "quasi_identifiers": {"age": {"type": "numeric", "varies": "range"}}},
            "`columns.quasi_identifiers.age.varies` (range)",
        ),
    ],
)
def test_what_is_not_derived_for_linked_attributes_is_refused(sensitive, columns, field, command):
    linked = spec(sensitive, columns={**columns, "sensitive_linked": {}})
    told = f"{field} cannot be combined with `columns.sensitive_linked`"
    assert [each for each in problems(linked, command) if each.startswith(told)]
    apart = ReleaseSpec.parse(spec(sensitive, columns=columns))
    assert not [each for each in lacking(apart, command, table_given=True) if "sensitive_linked" in each]


def test_one_attribute_of_several_is_chosen_only_where_all_values_need_protection():
    some = "is not defined where some values need no protection"
    suppressing = spec(SOME, suppression={"method": "r", "l": 2, "attribute": "income"})
    for command in ("anonymize", "eligibility", "suppress"):
        assert [each for each in problems(suppressing, command) if f"`suppression.attribute` {some}" in each]
    exploring = spec(SOME, explore={"sensitive": "income"})
    assert [each for each in problems(exploring, "explore") if f"`explore.sensitive` {some}" in each]


def test_nothing_is_learnt_from_a_release_of_which_one_attribute_is_chosen():
    given = spec(attack={"release": "out", "sensitive": "ill", "learn": "naive_bayes"})
    assert problems(given) == [
        "`attack.learn` is for a release of one sensitive attribute: remove it, or `sensitive`"
    ]


@pytest.mark.parametrize(
    "said, told",
    [
        ({"sensitive": [{"column": "ill", "case": "svpi", "only": ["flu"]}]}, "`sensitive` in release.json"),
        ({"weights": {"publish": False}}, "`weights` in release.json"),
        ({"households": {"members_know_each_other": False}}, "`households` in release.json"),
        ({"form": "rowwise"}, "`form` in release.json"),
    ],
)
def test_a_linked_manifest_that_says_what_is_not_defined_is_not_believed(said, told):
    declared = [{"column": name, "case": "svpi"} for name in ("ill", "income")]
    manifest = {"form": "generalized", "privacy": {"k_anonymity": 2}, "linked": {"known": ["income"]}, **said}
    manifest["sensitive"] = [*said.get("sensitive", declared[:1]), declared[1]]
    with pytest.raises(DataError, match=f"{told}.* linked"):
        judged_release(None, Folder.at("release"), manifest)
