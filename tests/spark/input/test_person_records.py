"""Rows of a person brought together: against plain Python, whatever the order and the partitioning."""

from __future__ import annotations

import datetime
import math
import random
from collections import defaultdict

import pyarrow as pa
import pytest

from ppdp_spark.errors import DataError, SpecError
from ppdp_spark.spark.data.person_records import one_record_each
from ppdp_spark.spec import ReleaseSpec

DAY = datetime.date(2026, 1, 1)
SCHEMA = pa.schema(
    [
        ("who", pa.string()), ("visit", pa.int64()), ("day", pa.date32()), ("age", pa.int32()),
        ("place", pa.string()), ("pay", pa.float64()), ("site", pa.string()), ("found", pa.string()),
        ("codes", pa.list_(pa.float64())),
    ]
)  # fmt: skip


def declared(sensitive=("found", "mvpi-set"), **columns):
    given = {
        "person": {"column": "who", "latest_by": "day"},
        "quasi_identifiers": {
            "age": "numeric",
            "place": {"type": "categorical", "varies": "latest"},
            "pay": {"type": "numeric", "varies": "latest"},
        },
        "sensitive": {"column": sensitive[0], "case": sensitive[1]},
        "publish_as_is": ["site"],
        **columns,
    }
    spec = {"version": 1, "dataset": "visits", "input": {"table": "t"}, "columns": given}
    return ReleaseSpec.parse({**spec, "privacy": {"k_anonymity": 2}}).columns


def visits(seed, people=60):
    """Rows of people with nulls, NaN, signed zeros, missing dates and dates that several rows share."""
    rng = random.Random(seed)
    rows = []
    for person in range(people):
        age, site = rng.choice([None, 30, 40]), rng.choice(["north", "south", None])
        for _ in range(rng.choice([1, 1, 2, 3, 9])):
            rows.append(
                {
                    "who": f"p{person}",
                    "visit": len(rows),
                    "day": rng.choice([None, *(DAY + datetime.timedelta(days=n) for n in range(4))]),
                    "age": age,
                    "place": rng.choice(["a", "b", None]),
                    "pay": rng.choice([0.0, -0.0, math.nan, None, 5.0]),
                    "site": site,
                    "found": rng.choice(["flu", "cold", None, ""]),
                    "codes": rng.choice([None, [], [1.0, 1.0, None], [-0.0, 0.0], [math.nan, 2.0]]),
                }
            )
    rng.shuffle(rows)
    return rows


def table_of(spark, rows, parts=3):
    return spark.createDataFrame(pa.Table.from_pylist(rows, SCHEMA)).repartition(parts)


def same(value):
    """NaN is null, and zeros have no sign."""
    if isinstance(value, list):
        return [same(one) for one in value]
    if isinstance(value, float):
        return None if math.isnan(value) else value + 0.0
    return value


def in_order(values):
    return sorted(values, key=lambda value: (value is None, 0 if value is None else value))


def smallest_first(value):
    return (value is not None, value)


def expected(rows, sensitive, case):
    """The record of every person, by plain Python."""
    own = defaultdict(list)
    for row in rows:
        own[row["who"]].append({name: same(value) for name, value in row.items()})
    records = {}
    for who, visited in own.items():
        latest = max(visited, key=lambda r: [smallest_first(r[name]) for name in ("day", "place", "pay")])
        held = [r[sensitive] for r in visited]
        if sensitive == "codes":
            held = [one for codes in held for one in ([None] if codes is None else codes)]
        held = in_order(set(held) if case == "mvpi-set" else held)
        record = {"age": visited[0]["age"], "site": visited[0]["site"], sensitive: held}
        records[who] = {**record, "place": latest["place"], "pay": latest["pay"]}
    return records


@pytest.mark.parametrize("sensitive", ["found", "codes"])
@pytest.mark.parametrize("case", ["mvpi-set", "mvpi-multiset"])
def test_records_are_those_of_plain_python(spark, sensitive, case):
    for seed in range(3):
        rows = visits(seed)
        table, facts = one_record_each(
            table_of(spark, rows, parts=1 + seed), declared((sensitive, case)), lambda computed: computed
        )
        found = {row["who"]: row.asDict() for row in table.collect()}
        wanted = expected(rows, sensitive, case)
        assert {who: {**record, "who": who} for who, record in wanted.items()} == found
        sizes = [sum(row["who"] == who for row in rows) for who in wanted]
        several = sum(size > 1 for size in sizes)
        assert (facts.rows, facts.records, facts.several, facts.most) == (
            len(rows), len(wanted), several, max(sizes),
        )  # fmt: skip


def test_one_value_each_must_agree_with_itself(spark):
    rows = [{**row, "found": f"{row['who']} has it"} for row in visits(1)]
    table, _ = one_record_each(table_of(spark, rows), declared(("found", "svpi")), lambda computed: computed)
    assert all(row["found"] == f"{row['who']} has it" for row in table.collect())


def test_every_disagreement_is_counted_in_people_and_nobody_is_named(spark):
    rows = [
        {"who": "ann", "age": 30, "site": "north", "found": "flu"},
        {"who": "ann", "age": 31, "site": None, "found": "cold"},
        {"who": "bob", "age": None, "site": "south", "found": "flu"},
        {"who": "bob", "age": 50, "site": "south", "found": "flu"},
        {"who": None, "age": 50, "site": "south", "found": "flu"},
        {"who": None, "age": 51, "site": "north", "found": "flu"},
    ]
    columns = declared(("found", "svpi"))
    with pytest.raises(DataError) as told:
        one_record_each(table_of(spark, rows), columns, lambda computed: computed)
    text = str(told.value)
    assert "`columns.person`: 2 rows have no `who`" in text
    assert "`columns.quasi_identifiers.age`: rows disagree about `age` within 2 of 2 people" in text
    assert "`columns.publish_as_is`: rows disagree about `site` within 1 of 2 people" in text
    assert (
        "`columns.sensitive`: rows disagree about `found` within 1 of 2 people" in text
        and "mvpi-multiset" in text
    )
    assert "ann" not in text and "31" not in text


def test_other_identifiers_belong_to_one_person(spark):
    rows = visits(2)
    columns = declared(identifiers=["visit"])
    one_record_each(table_of(spark, rows), columns, lambda computed: computed)
    shared = [{**row, "visit": row["visit"] // 2} for row in rows]
    with pytest.raises(DataError, match=r"values of `visit` belong to several people, one of them to 2"):
        one_record_each(table_of(spark, shared), columns, lambda computed: computed)
    allowed = declared(identifiers=["visit"], may_repeat=["visit"])
    one_record_each(table_of(spark, shared), allowed, lambda computed: computed)


def test_what_cannot_be_compared_or_ordered_is_told(spark):
    table = table_of(spark, visits(3)).selectExpr(
        "map('a', who) as who", "visit", "place as day", "age", "place", "pay", "site", "found", "codes"
    )
    with pytest.raises(DataError) as told:
        one_record_each(table, declared(), lambda computed: computed)
    assert "`columns.person.column`: `who` is map<string,string>" in str(told.value)
    assert "`columns.person.latest_by`: `day` is string" in str(told.value)
    with pytest.raises(DataError, match=r"`columns.person.latest_by`: the table has no column `dya`"):
        columns = declared(person={"column": "who", "latest_by": "dya"})
        one_record_each(table, columns, lambda computed: computed)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"person": None}, "`columns.quasi_identifiers.place.varies` is about several rows per person"),
        ({"person": "who"}, "`columns.quasi_identifiers.place.varies` (latest) needs a date"),
        ({"person": "age"}, "names `age`, which is in `person` already"),
        (
            {"quasi_identifiers": {"age": "numeric"}},
            "`columns.person.latest_by` is used by no column: add `varies: latest`",
        ),
        ({"person": {"colum": "who"}}, "`columns.person.colum` is not a known key; did you mean `column`?"),
    ],
)
def test_what_goes_together_in_a_spec(changes, text):
    with pytest.raises(SpecError) as told:
        declared(**changes)
    assert text in str(told.value)
