"""What columns look like, the roles proposed for them, and the spec that says so."""

from __future__ import annotations

import re

import pytest

from ppdp_spark import ReleaseSpec
from ppdp_spark.core.discovery.column_facts import SHAPES, ColumnFacts
from ppdp_spark.core.discovery.column_looks import looks
from ppdp_spark.core.discovery.column_roles import MOST_VALUES, proposed_role
from ppdp_spark.core.discovery.crowds import Crowds
from ppdp_spark.report.proposal import proposed_spec, scalar
from ppdp_spark.spec.document import parse_yaml

PEOPLE = 1000


def facts(name, kind="text", *, alone=0, values=10, nulls=0, years=0, people=PEOPLE, **shaped) -> ColumnFacts:
    """A column with so many people alone, and the others in crowds of the same class."""
    crowds = Crowds.of([(0, alone, alone), (9, values - alone, people - alone)])
    return ColumnFacts(name, kind, crowds, people, nulls, shaped, years)


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (facts("person_id", alone=PEOPLE, values=PEOPLE), ("identifier",)),
        (facts("x", alone=PEOPLE, values=PEOPLE), ("identifier",)),
        (facts("x", "integer", alone=949, values=960), ()),
        (facts("x", "integer", alone=950, values=960), ("identifier",)),
        (facts("x", "float", alone=PEOPLE, values=PEOPLE), ()),
        (facts("surname", alone=40, values=400), ("identifier",)),
        (facts("name", values=3), ()),
        (facts("x", values=900, email=950), ("contact",)),
        (facts("x", values=900, email=500, nulls=480), ("contact",)),
        (facts("birth_date", "date", values=900, years=20), ("date of birth",)),
        (facts("dateOfBirth", "date", values=900), ("date of birth",)),
        (facts("DOB", values=900, date=990), ("date of birth",)),
        (facts("dob", values=900, date=10), ()),
        (facts("admitted", "date", values=900, years=9), ()),
        (facts("admitted", "date", values=900, years=60), ("date of birth",)),
        (facts("zip", "integer", values=90), ("postcode",)),
        (facts("x", values=90, postcode=PEOPLE), ("postcode",)),
        (facts("remark", values=400, words=700), ("free text",)),
        (facts("diagnosis_code"), ("sensitive",)),
        (facts("annual income", "float", values=900), ("sensitive",)),
        (facts("sex"), ("personal",)),
        (facts("birthplace"), ("personal",)),
        (facts("page"), ()),
        (facts("racecar"), ()),
    ],
)
def test_what_columns_look_like(column, expected):
    assert looks(column) == expected


@pytest.mark.parametrize(
    ("shape", "texts", "others"),
    [
        ("email", ["a@b.org"], ["a@b", "at b.org", "a b@c.org"]),
        ("date", ["2020-01-31", "31.1.2020", "1/31/2020", "2020-01-31T10:00"], ["2020", "20-01-31", "12:30"]),
        (
            "postcode",
            ["08225", "12345-6789", "1234 AB", "SW1A 1AA", "M1 1AE", "K1A 0B1"],
            ["1234", "AB", "a1"],
        ),
        ("words", ["a man of few words", " so it is then"], ["two words", "three of them"]),
    ],
)
def test_shapes_of_texts(shape, texts, others):
    assert all(re.search(SHAPES[shape], text) for text in texts)
    assert not any(re.search(SHAPES[shape], text) for text in others)


@pytest.mark.parametrize(
    ("column", "singles_out", "role"),
    [
        (facts("income", "float", values=900), True, "sensitive"),
        (facts("income", "float", values=MOST_VALUES + 1, people=10**6), True, "quasi-identifier"),
        (facts("zip", alone=600, values=700, postcode=PEOPLE), True, "quasi-identifier"),
        (facts("notes", alone=900, values=950, words=999), True, "none"),
        (facts("email", values=900, email=999), False, "identifier"),
        (facts("x", values=900), True, "quasi-identifier"),
        (facts("x", values=MOST_VALUES + 1, people=10**6), True, "none"),
        (facts("x", "integer", values=MOST_VALUES + 1, people=10**6), True, "quasi-identifier"),
        (facts("x", "other"), True, "none"),
        (facts("x"), False, "none"),
    ],
)
def test_roles(column, singles_out, role):
    assert proposed_role(column, looks(column), singles_out=singles_out).role == role


def found(*columns, sets=()):
    return {
        "rows": PEOPLE,
        "share": 0.05,
        "needed": 50,
        "most": 4,
        "sets": [{"columns": list(names), "people": 77, "share": 0.077} for names in sets],
        "columns": [
            {"name": name, "role": role, "looks": [], "because": "why", "values": values}
            for name, role, values in columns
        ],
        "left_out": ["odd\nmap"],
    }


ODD = [
    "no",
    "010",
    "a: b",
    "#x",
    "-",
    "ü",
    "\U0001f600",
    "a\nb",
    'q"\\',
    "\u202e",
    "\x85",
    " ",
    "1.5",
    "{x}",
    "~",
]


def test_odd_names_come_back_as_they_are():
    for text in ODD:
        assert parse_yaml(f"- {scalar(text)}") == [text]
        assert parse_yaml(f"{scalar(text)}: 1") == {text: 1}


@pytest.mark.parametrize("sensitive", [0, 1, 2])
def test_the_proposal_is_a_valid_spec_with_all_roles(tmp_path, sensitive):
    columns = [(f"quasi {name}", "quasi-identifier", 9) for name in ODD]
    columns += [(f"id {name}", "identifier", PEOPLE - i) for i, name in enumerate(ODD)]
    columns += [(f"none {name}", "none", 5) for name in ODD]
    columns += [(f"secret {name}", "sensitive", 4) for name in ODD[:sensitive]]
    source = {"path": "da ta/x.csv", "format": "csv", "separator": ";", "options": {"mode": "PERMISSIVE"}}
    told = found(*columns, sets=[(f"quasi {ODD[7]}", "b")] * 40)
    (tmp_path / "spec.yaml").write_text(proposed_spec(told, "my data", source))
    spec = ReleaseSpec.load(tmp_path / "spec.yaml", input_needed=True)
    spec.require_for("anonymize")
    assert list(spec.columns.quasi_identifiers) == [f"quasi {name}" for name in ODD]
    assert spec.columns.identifiers == tuple(f"id {name}" for name in ODD)
    assert spec.columns.may_repeat == spec.columns.identifiers[1:]
    assert [each.column for each in spec.columns.attributes] == [f"secret {name}" for name in ODD[:sensitive]]
    assert spec.input.separator == ";" and spec.input.options == {"mode": "PERMISSIVE"}
    assert "and 10 more" in (tmp_path / "spec.yaml").read_text()


def test_what_is_missing_is_marked():
    text = proposed_spec(found(), "people", None)
    assert "quasi_identifiers: {}  # CHECK" in text and "# sensitive: NAME  # CHECK" in text
    assert "No set of up to 4 columns singles out 50 people or more" in text
    with pytest.raises(Exception, match="name at least one column"):
        ReleaseSpec.of(parse_yaml(text)).require_for("anonymize", table_given=True)
