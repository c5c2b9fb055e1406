"""`attack` on tables: golden answers, both solvers, contradictions, every problem at once."""

from __future__ import annotations

import pytest

from ppdp_spark import attack
from ppdp_spark.core.maxent import ContradictionError
from ppdp_spark.errors import DataError, SpecError
from support.places import golden
from support.released.attacks import believed, posteriors, spec

GOLDEN = golden("maxent")


def golden_case(name):
    return next(case for case in GOLDEN if case["name"] == name)


def test_without_knowledge_the_closed_form(spark, people, tmp_path):
    run = attack(spec(path=tmp_path), table=people)
    step = run.summary["attack"]["steps"][0]
    assert step["solver"]["form"] == "closed" and run.ok and run.verdict.rows[0].status == "measured"
    found = believed(posteriors(spark, tmp_path), degree="college", sex="male")
    assert found == pytest.approx(
        {"Flu": 1 / 3, "Breast Cancer": 5 / 18, "Pneumonia": 5 / 18, "HIV": 1 / 9}, abs=1e-14
    )
    assert run.summary["attack"]["source"] | {"kind": "table"} == {
        "kind": "table",
        "buckets": 3,
        "people": 10,
        "tuples": 6,
        "values": 5,
        "variables": 9 + 9 + 9,
        "touched_buckets": 0,
    }
    assert sum(bar["people"] for bar in run.summary["attack"]["histogram"]) == 10


def golden_table(spark, case):
    """A golden case as a table of people with one quasi-identifier."""
    rows = [
        (bucket["bucket"], qi, sa)
        for bucket in case["buckets"]
        for qi, sa in zip(bucket["qi"], bucket["sa"], strict=True)
    ]
    return spark.createDataFrame(rows, "bucket int, q string, s string"), rows


def golden_knowledge(case, rows):
    """Its joint probabilities as statements of a spec on P(s | q)."""
    bounds = {"=": "probability", ">=": "at_least", "<=": "at_most"}
    told = []
    for statement in case["knowledge"]:
        (term,) = statement["terms"]
        share = sum(q in term["qi"] for _, q, _ in rows) / len(rows)
        bound = {bounds[statement["op"]]: round(statement["rhs"] / share, 12)}
        told.append({"given": {"q": term["qi"]}, "values": term["sa"], **bound})
    return told


COLUMNS = {"group": "bucket", "quasi_identifiers": {"q": "categorical"}, "sensitive": "s"}


@pytest.mark.parametrize(
    ("name", "variables"),
    [
        ("zeros_of_section_3_1", 0),
        ("random3", 100),
        *(pytest.param("mixed", size, marks=pytest.mark.slow) for size in (0, 100)),
    ],
)
def test_golden_through_the_spec_on_the_driver_and_spread(spark, tmp_path, name, variables):
    case = golden_case(name)
    table, rows = golden_table(spark, case)
    asked = spec(golden_knowledge(case, rows), path=tmp_path, columns=COLUMNS)
    run = attack(asked, table=table, local_variables=variables)
    solver = run.summary["attack"]["steps"][0]["solver"]
    assert solver["form"] == ("local" if variables else "distributed") and solver["converged"]
    table = posteriors(spark, tmp_path)
    found = {f"{row.q}|{row.value}": row.posterior for row in table.itertuples() if row.posterior > 1e-9}
    assert found == pytest.approx({k: p for k, p in case["conditional"].items() if p > 1e-9}, abs=1e-6)


def test_a_contradiction_names_the_statements_in_both_forms(spark, people):
    told = [
        {"given": {"sex": "male"}, "value": "HIV", "at_most": 0.4},
        {"given": {"sex": "male"}, "value": "Flu", "at_most": 0.2},
        {"given": {"sex": "female"}, "value": "Flu", "at_most": 0.1},
    ]
    for variables in (0, 1_000):
        with pytest.raises(ContradictionError) as told_off:
            attack(spec(told), table=people, local_variables=variables)
        assert told_off.value.exit_code == 3
        assert told_off.value.statements == (1, 2)
        assert "knowledge 1" in str(told_off.value) and "knowledge 2" in str(told_off.value)


def test_a_statement_on_values_that_nobody_spoken_of_can_have(people):
    told = [{"given": {"degree": "junior"}, "value": "Lung Cancer", "probability": 0.0}]
    step = attack(spec(told), table=people).summary["attack"]["steps"][0]
    assert (step["statements"], step["kept_statements"]) == (1, 0)
    with pytest.raises(ContradictionError, match="knowledge 0"):
        attack(spec([{**told[0], "probability": 0.5}]), table=people)


def test_every_problem_of_the_knowledge_at_once(people):
    told = [
        {"given": {"sexx": "male"}, "value": "Flu", "probability": 0.1},
        {"given": {"sex": "diverse"}, "value": "Flu", "probability": 0.1},
        {"given": {"sex": "male"}, "value": "Measles", "probability": 0.1},
        {"given": {"sex": "male", "degree": "junior"}, "value": "Flu", "probability": 0.1},
        {"given": {"age": {"from": 90}}, "value": "Flu", "probability": 0.1},
        {"given": {"degree": {"from": 1}}, "value": "Flu", "probability": 0.1},
    ]
    named = [{"name": "ann", "where": {"age": 99}}, {"name": "bob", "where": {"sex": "male"}}]
    with pytest.raises(SpecError) as wrong:
        attack(spec(told, people=named), table=people)
    text = str(wrong.value)
    for number in range(6):
        assert f"`attack.knowledge.{number}`" in text
    assert "`attack.people.0` (ann)" in text and "`attack.people.1` (bob) fits several" in text
    with pytest.raises(
        DataError, match=r"`attack.knowledge.0` speaks of people of whom the release has none"
    ):
        attack(spec(told[3:4]), table=people)


@pytest.mark.parametrize("variables", [0, 1_000])
def test_what_people_do_not_have_is_what_they_have_instead(spark, people, tmp_path, variables):
    """The men who are not aged 30 and from college are those from high school and those aged 60."""
    negated = {"given": {"sex": "male"}, "unless": {"degree": "college", "age": {"from": 25, "to": 35}}}
    plain = {"given": {"sex": "male", "degree": ["high school", "graduate"]}}
    bounds = {"value": "Pneumonia", "probability": 0.6}
    found = []
    for number, whom in enumerate((negated, plain)):
        path = tmp_path / str(number)
        attack(spec([whom | bounds], path=path), table=people, local_variables=variables)
        table = posteriors(spark, path).sort_values(["sex", "degree", "age", "value"])
        found.append(table["posterior"].to_numpy())
    assert found[0] == pytest.approx(found[1], abs=1e-9)
    nobody = {"given": {"degree": "junior"}, "unless": {"age": 20}, "value": "Flu", "probability": 0.1}
    with pytest.raises(DataError, match="of whom the release has none"):
        attack(spec([nobody]), table=people)
    with pytest.raises(SpecError, match=r"`attack\.knowledge\.0` names a value of `degree`"):
        attack(spec([nobody | {"unless": {"degree": "none"}}]), table=people)
