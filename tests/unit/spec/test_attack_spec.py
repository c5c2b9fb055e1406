"""The attack section of a spec, and its way to statements."""

from __future__ import annotations

import pytest
import yaml

from ppdp_spark.core.maxent import Between, term
from ppdp_spark.core.maxent.rules import Rule
from ppdp_spark.core.maxent.statements.codes import NUMBER, TEXT, question_of
from ppdp_spark.errors import SpecError
from ppdp_spark.spark.maxent.stated_knowledge import Words, mined, stated
from ppdp_spark.spec import AttackSpec, ReleaseSpec
from support.places import ROOT

WORDS = Words({"sex": TEXT, "age": NUMBER}, ("1", "2.5", "flu", "(null)"))


def spec(**attack):
    return ReleaseSpec.parse(
        {
            "version": 1,
            "dataset": "d",
            "input": {"path": "x.parquet"},
            "columns": {"group": "g", "quasi_identifiers": {"age": {}}, "sensitive": "s"},
            "attack": attack,
        }
    )


def told(*knowledge, people=()):
    return stated(AttackSpec.model_validate({"knowledge": list(knowledge), "people": list(people)}), WORDS)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ({"given": {"sex": "f"}, "value": "flu", "probability": 0.2}, "P(flu | sex in {f}) = 0.2"),
        ({"value": 1, "probability": 0.2, "within": 0.1}, "P(1) = 0.2 ± 0.1"),
        ({"given": {"age": {"from": 3}}, "value": 2.5, "at_most": 0.5}, "P(2.5 | age in [3, …]) <= 0.5"),
        ({"given": {"sex": [True, 4]}, "value": "flu", "at_least": 0.5}, "P(flu | sex in {4, true}) >= 0.5"),
        ({"value": "flu", "at_least": 0.2, "at_most": 0.6}, "P(flu) = 0.4 ± 0.2"),
        ({"people": ["ann"], "values": ["flu", 1], "probability": 1}, "P(1 or flu | ann) = 1"),
        ({"people": ["ann", "bob"], "value": "flu", "exactly": 1}, "N(flu | ann, bob) = 1"),
        (
            {"more": {"given": {"sex": "f"}, "value": "flu"}, "than": {"value": "flu"}},
            "P(flu | sex in {f}) − P(flu) >= 0",
        ),
    ],
)
def test_what_is_said_is_what_is_meant(said, meant):
    people = [{"name": name, "where": {"sex": "f"}} for name in ("ann", "bob")]
    found = told(said, people=people)
    assert not found.problems
    assert str(found.statements[0]) == f"knowledge 0: {meant}"


def test_what_the_release_lacks_is_named_with_its_statement():
    found = told(
        {"given": {"income": 3}, "value": "cold", "probability": 0.2},
        {"value": "flu", "probability": 0.2},
        {"given": {"age": "old"}, "value": "flu", "probability": 0.2},
        {"given": {"sex": {"from": 1}}, "value": "flu", "probability": 0.2},
        people=[{"name": "ann", "where": {"size": 3}}],
    )
    assert found.numbers == (1,)
    assert [problem.split("`")[1] for problem in found.problems] == [
        "attack.knowledge.0",
        "attack.knowledge.0",
        "attack.knowledge.2",
        "attack.knowledge.3",
        "attack.people.0",
    ]


@pytest.mark.parametrize(
    ("attack", "message"),
    [
        ({"mine": {"positive": [1]}}, "`attack.original` is missing"),
        ({"external": "people.csv"}, "`attack.external` resolves generalized releases"),
        ({"knowledge": [{"value": "x"}]}, "needs one of `probability`"),
        ({"knowledge": [{"value": "x", "at_least": 0.6, "at_most": 0.5}]}, "is above `at_most`"),
        ({"knowledge": [{"people": ["ann"], "value": "x", "exactly": 1}]}, "who is not in `people`"),
        ({"mine": {"positive": [1], "within": [0, 2]}, "original": "x.csv"}, "must be at most 1"),
        ({"threshold": 0}, "must be greater than 0"),
        ({"learn": "bayes"}, "`attack.learn`"),
        (
            {"learn": "naive_bayes", "knowledge": [{"value": "x", "at_most": 0.1}]},
            "`attack.learn` is about somebody without knowledge: attack apart from `knowledge`",
        ),
        ({"learn": "naive_bayes", "mine": {"positive": [1]}, "original": "x.csv"}, "apart from `mine`"),
        ({"learn": "naive_bayes", "people": [{"name": "a", "where": {"age": 3}}]}, "apart from `people`"),
    ],
)
def test_wrong_sections(attack, message):
    with pytest.raises(SpecError, match=message):
        spec(**attack)


def test_steps_are_the_curve_for_every_epsilon():
    mine = spec(
        original="x.csv", mine={"positive": [0, 5], "negative": [0, 7], "within": [0, 0.1]}
    ).attack.mine
    assert mine.steps == ((0, 0, 0), (5, 7, 0), (0, 0, 0.1), (5, 7, 0.1))
    one = spec(original="x.csv", mine={"negative": [3], "within": 0.2}).attack.mine
    assert one.steps == ((0, 3, 0.2),)


def test_quasi_identifiers_of_people_are_hidden_in_what_is_written():
    found = spec(people=[{"name": "ann", "where": {"age": 41}}])
    assert found.to_dict()["attack"]["people"][0]["where"] == {"age": "(hidden)"}
    again = ReleaseSpec.parse(found.to_dict(secrets=True))
    assert again.attack is not None and again.attack.people[0].where == {"age": 41}


def test_mined_rules_say_the_share_and_hide_whom_they_speak_of():
    rule = Rule((0, 1), ("f", 41.0), 2, positive=False, holding=9, people=12)
    (statement,) = mined([rule], ["sex", "age"], WORDS.labels, 0.05)
    assert (statement.bound, statement.within, statement.relation) == (0.25, 0.05, "=")
    assert statement.terms[0][1] == term("flu", {"sex": ["f"], "age": [41.0]})
    assert "41" not in str(statement) and "negative rule 1" in str(statement)


def test_codes_tell_only_mentioned_values_apart():
    import pyarrow as pa

    found = told(
        {"given": {"age": [3, 4], "sex": "f"}, "value": "flu", "probability": 0.1},
        {"given": {"age": {"from": 2, "to": 3}}, "value": "flu", "probability": 0.1},
    )
    question = question_of(found.statements, (), WORDS.kinds, WORDS.labels)
    ages, sexes = pa.array([4.0, None, 3.0, 9.0]), pa.array(["m", "f", None, "f"])
    words = question.vocabulary([sexes, ages])
    assert question.attributes == ("sex", "age") and question.mentioned == (("f",), (3.0, 4.0))
    assert words.attributes["0"].tolist() == [-1, 0, -1, 0]
    assert words.attributes["1"].tolist() == [1, -1, 0, -1]
    assert question.statements[1].terms[0][1].where == (("1~", Between(2, 3)),)
    assert str(question.statements[0]) == str(found.statements[0])


def test_what_a_table_of_groups_must_have():
    bare = ReleaseSpec.parse({"version": 1, "dataset": "d", "input": {"path": "x.parquet"}, "columns": {}})
    with pytest.raises(SpecError) as wrong:
        bare.require_for("attack")
    assert len(wrong.value.problems) == 3
    plain = bare.to_dict(secrets=True)
    ReleaseSpec.parse({**plain, "attack": {"release": "out/x"}}).require_for("attack")


def test_the_page_on_knowledge_shows_a_valid_spec():
    page = (ROOT / "docs/knowledge.md").read_text()
    shown = ReleaseSpec.parse(yaml.safe_load(page.split("```yaml\n")[1].split("```")[0]))
    shown.require_for("attack")
    assert shown.attack is not None
    words = Words({"sex": TEXT, "age": NUMBER, "city": TEXT}, ("Flu", "HIV", "Cancer", "Stroke"))
    assert len(stated(shown.attack, words).statements) == 9
    fourth = stated(shown.attack, words).statements[3]
    assert "P(Flu | sex in {m} and not (city in {Bern})) = 0.2" in str(fourth)
