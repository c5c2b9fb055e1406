"""`varies: range`: what is published of a person covers all values of the person, and k holds for each."""

from __future__ import annotations

import json
import random
from itertools import product
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest

from ppdp_spark import anonymize, check, suppress, verify
from ppdp_spark.errors import SpecError

K = 4
LEAVES = ["north", "south", "east", "west"]
HIERARCHY = "north,upright,*\nsouth,upright,*\neast,flat,*\nwest,flat,*\n"
NODES = {leaf: {leaf} for leaf in LEAVES} | {
    "upright": {"north", "south"},
    "flat": {"east", "west"},
    "*": set(LEAVES),
}
ORDERED = ["age", "paid", "day"]


def visits(people=60, seed=11):
    """Rows of people whose values vary, some of which are null, with a secret that tells who is who."""
    rng = random.Random(seed)
    rows = []
    for person in range(people):
        age, town, side = rng.randint(20, 70), rng.choice("abcdef"), rng.choice(LEAVES)
        for number in range(rng.choice([1, 1, 2, 4])):
            row = [f"p{person}", age + rng.choice([0, 0, 0, 1, 25]), rng.choice([0.0, -0.0, 1.5, 8.25])]
            row += [pd.Timestamp(2026, 1, 1 + number).date(), rng.choice([town, town, "z"])]
            row += [rng.choice([side, side, "west"]), f"secret{person}"]
            for place in range(1, 6):
                row[place] = None if rng.random() < 0.02 else row[place]
            rows.append(row)
    rng.shuffle(rows)
    columns = ["who", "age", "paid", "day", "town", "side", "secret"]
    return pd.DataFrame(rows, columns=columns).astype({"age": "Int32"})


SCHEMA = "who string, age int, paid double, day date, town string, side string, secret string"


def spec(out, tmp_path, **changes):
    (tmp_path / "sides.csv").write_text(HIERARCHY)
    ranging = {name: {"varies": "range"} for name in ("age", "paid", "day", "town")}
    ranging["side"] = {"varies": "range", "hierarchy": str(tmp_path / "sides.csv")}
    columns = {"person": "who", "quasi_identifiers": ranging, "sensitive": "secret"}
    plain = {"version": 1, "dataset": "visits", "columns": columns, "privacy": {"k_anonymity": K}}
    return {**plain, "output": {"path": str(out), "bounds": "tight", "queries": 20}, **changes}


def frame(spark, table, parts=3):
    plain = table.astype(object).where(table.notna(), None).values.tolist()
    return spark.createDataFrame([tuple(row) for row in plain], SCHEMA).repartition(parts)


def members(label, nodes=None):
    """What a label of categories stands for; None is null."""
    if label is None:
        return {None}
    null = {None} if label.endswith(" or null") else set()
    label = label.removesuffix(" or null")
    return null | (set(label.strip("{}").split(", ")) if nodes is None else nodes[label])


def covers(row, name, value):
    """Whether a published row covers a value of a quasi-identifier, as a reader understands it."""
    if name not in ORDERED:
        return value in members(row[name], NODES if name == "side" else None)
    if value is None:
        return row[name] is None or row[name].endswith(" or null")
    return row[f"{name}_min"] is not None and row[f"{name}_min"] <= value <= row[f"{name}_max"]


def held(table, name):
    """All values of each person: NaN is null."""
    values = {}
    for who, value in zip(table["who"], table[name].astype(object), strict=True):
        values.setdefault(who, set()).add(None if pd.isna(value) else value)
    return values


def test_boxes_cover_all_values_and_k_holds_whichever_is_known(spark, tmp_path):
    table = visits()
    runs = [
        anonymize(spec(tmp_path / f"out{parts}", tmp_path), table=frame(spark, table, parts), spark=spark)
        for parts in (1, 4)
    ]
    manifests = [
        json.loads((tmp_path / f"out{parts}" / "release" / "release.json").read_text()) for parts in (1, 4)
    ]
    assert manifests[0] == manifests[1]
    names = ["age", "paid", "day", "town", "side"]
    assert manifests[0]["columns"]["ranging"] == names
    rows = pq.read_table(tmp_path / "out1" / "release" / "data").to_pylist()
    owned = {row["secret"].replace("secret", "p"): row for row in rows}
    values = {name: held(table, name) for name in names}
    assert len(rows) == len(owned) == 60 and len({row["group_id"] for row in rows}) > 3
    for who, own in owned.items():
        for name in names:
            assert all(covers(own, name, value) for value in values[name][who])
        for known in product(*(sorted(values[name][who], key=str) for name in names)):
            found = [row for row in rows if all(map(covers, [row] * 5, names, known))]
            assert own in found and len(found) >= K
    assert runs[0].summary["metrics"]["ncp"]["age"] == pytest.approx(
        loss(rows, owned, values["age"]), abs=1e-5
    )
    assert runs[0].metrics.ncp == runs[1].metrics.ncp and verify(tmp_path / "out1", spark=spark).ok


def loss(rows, owned, ages):
    """The certainty penalty of the ages by hand: what their people have, and no more."""
    every = {age for held in ages.values() for age in held if age is not None}
    total = 0.0
    for row in rows:
        own = set.union(*(ages[who] for who, one in owned.items() if one["group_id"] == row["group_id"]))
        plain = own - {None}
        wide = (max(plain) - min(plain)) / (max(every) - min(every)) if plain else 0.0
        total += 1.0 if plain and None in own else wide
    return total / len(rows)


def test_grids_print_no_value_of_a_single_person(spark, tmp_path):
    table = visits()
    plain = spec(tmp_path / "out", tmp_path)
    del plain["output"]["bounds"]
    anonymize(plain, table=frame(spark, table), spark=spark)
    rows = pq.read_table(tmp_path / "out" / "release" / "data").to_pylist()
    ages = held(table, "age")
    printed = {row[end] for row in rows for end in ("age_min", "age_max")} - {None}
    assert printed
    assert all(sum(value in own for own in ages.values()) != 1 for value in printed)
    owned = {row["secret"].replace("secret", "p"): row for row in rows}
    assert all(covers(owned[who], "age", value) for who, own in ages.items() for value in own)


SLOWER = [pytest.param(way, marks=pytest.mark.slow) for way in ("robustness", "suppress nulls")]


@pytest.mark.parametrize("way", ["skyline", "blind", *SLOWER])
def test_every_way_to_make_groups_covers_all_values(spark, tmp_path, way):
    table = visits(30, seed=5)
    table["sex"] = [("f", "m")[int(who[1:]) % 2] for who in table["who"]]
    table["secret"] = [("x", "y", "z")[int(who[1:]) % 3] for who in table["who"]]
    table["tag"] = table["who"]
    columns = {
        "person": "who",
        "quasi_identifiers": {
            "age": {"varies": "range"},
            "town": {"varies": "range"},
            "sex": "categorical",
        },
        "sensitive": "secret",
        "publish_as_is": ["tag"],
        "may_single_out": ["tag"],
    }
    privacy: dict[str, Any] = {"k_anonymity": 3}
    changes: dict[str, Any] = {}
    if way == "skyline":
        privacy["skyline"] = {"default": [{"l": 0, "k": 1, "m": 1, "c": 0.99}]}
    elif way == "robustness":
        privacy = {"robustness": {"r": 2, "priors": [{"attributes": ["sex"]}]}}
        changes = {"partitioner": "art", "suppression": {"budget": 1.0}}
    elif way == "blind":
        changes = {"partitioner": "blind", "least_size": 5}
    else:
        changes = {"nulls": "suppress", "suppression": {"budget": 1.0}}
    plain = {**spec(tmp_path / "out", tmp_path), "columns": columns, "privacy": privacy, **changes}
    rows = [(*row[:-2], row[-2], row[-1]) for row in table.astype(object).where(table.notna(), None).values]
    given = spark.createDataFrame([tuple(row) for row in rows], f"{SCHEMA}, sex string, tag string")
    run = anonymize(plain, table=given, spark=spark)
    published = pq.read_table(tmp_path / "out" / "release" / "data").to_pylist()
    ages, towns = held(table, "age"), held(table, "town")
    assert published and run.metrics.groups > 1
    for row in published:
        assert all(covers(row, "age", value) for value in ages[row["tag"]])
        assert all(covers(row, "town", value) for value in towns[row["tag"]])
    if way == "suppress nulls":
        whole = {who for who in ages if None not in ages[who] | towns[who]}
        assert {row["tag"] for row in published} == whole


def test_what_does_not_go_with_ranges_is_told(spark, tmp_path):
    plain = spec(tmp_path / "out", tmp_path)
    with pytest.raises(SpecError, match=r"age.varies` \(range\) needs a form that generalizes"):
        bucketized = {**plain, "output": {"path": str(tmp_path / "out"), "form": "bucketized"}}
        anonymize(bucketized, table=visits(), spark=spark)
    with pytest.raises(SpecError, match=r"cannot be combined with `privacy\.robustness\.priors`"):
        privacy = {"robustness": {"r": 2, "priors": [{"attributes": ["age"]}]}}
        anonymize({**plain, "privacy": privacy}, table=visits(), spark=spark)
    with pytest.raises(SpecError, match="is not part of `suppress`"):
        suppress({**plain, "suppression": {"method": "r", "l": 2}}, table=visits(), spark=spark)
    with pytest.raises(SpecError, match=r"add `person: \.\.\.`"):
        columns = {"quasi_identifiers": {"age": {"varies": "range"}}}
        anonymize({**plain, "columns": columns}, table=visits(), spark=spark)


def test_check_looks_at_groups_that_exist(spark, tmp_path):
    rows = [("a", "g", 1, "x"), ("a", "g", 9, "x"), ("b", "g", 2, "y"), ("c", "g", 3, "x")]
    table = pd.DataFrame(rows, columns=["who", "group", "age", "found"])
    columns = {
        "person": "who",
        "group": "group",
        "quasi_identifiers": {"age": {"varies": "range"}},
        "sensitive": "found",
    }
    plain = {"version": 1, "dataset": "visits", "columns": columns, "privacy": {"k_anonymity": 3}}
    assert check(plain, table=table, spark=spark).ok
    assert not check({**plain, "privacy": {"k_anonymity": 4}}, table=table, spark=spark).ok
