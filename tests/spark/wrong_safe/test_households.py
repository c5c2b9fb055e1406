"""Releases that are safe person by person and not household by household, judged from published content."""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ppdp_spark import anonymize, check, eligibility, verify
from ppdp_spark.errors import DataError, InfeasibleError
from ppdp_spark.spark.partition import fragments
from support.released.published_records import published

K = 4
SPEC: dict[str, Any] = {
    "columns": {
        "identifiers": ["id"],
        "household": "home",
        "quasi_identifiers": {"age": "numeric", "zip": "numeric"},
        "sensitive": "ill",
    },
    "privacy": {"k_anonymity": K, "l_diversity": {"kind": "distinct", "l": 2}},
    "output": {"bounds": "tight"},
}


def members(seed=7, homes=60, text=True):
    """Households of one to six people who live in one place and mostly have the same illness."""
    rng = random.Random(seed)
    rows = []
    for home in range(homes):
        place, common = rng.randrange(30), rng.choice("abcd")
        for _ in range(rng.choice([1, 2, 4, 6])):
            ill = common if rng.random() < 0.7 else rng.choice("abcd")
            rows.append((f"h{home}" if text else home, place, rng.randrange(20, 60), ill))
    rng.shuffle(rows)
    home, place, age, ill = map(list, zip(*rows, strict=True))
    return {"id": list(range(len(rows))), "home": home, "zip": place, "age": age, "ill": ill}


def changed(columns=None, privacy=None, **rest):
    found = {**SPEC, "columns": {**SPEC["columns"], **(columns or {})}, **rest}
    return {**found, "privacy": SPEC["privacy"] if privacy is None else privacy}


def homes_by_group(table, rows, everybody=True):
    """For each published group the possible rows of the table: those inside its ranges, with their values.

    Groups of Mondrian do not overlap, so whoever has the table and the release finds everybody's group, but
    for people who were suppressed.
    """
    groups = defaultdict(list)
    boxes = {
        r["group_id"]: tuple(r[f"{q}_{e}"] for q in ("age", "zip") for e in ("min", "max")) for r in rows
    }
    people = list(zip(table["age"], table["zip"], table["home"], table["ill"], strict=True))
    for age, place, home, ill in people:
        held = [g for g, (a, b, c, d) in boxes.items() if a <= age <= b and c <= place <= d]
        assert len(held) == 1 or not (held or everybody), "groups overlap: choose another table"
        for g in held:
            groups[g].append((home, ill))
    return groups


def row_of(run, criterion):
    (found,) = [row for row in run.verdict.rows if row.criterion == criterion]
    return found


@pytest.mark.parametrize("text", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_every_group_is_of_k_households(run, text):
    """Person by person the same table passes with groups of one or two households: that must not pass."""
    table = members(text=text)
    alone, out = run(anonymize, table, changed({"household": None, "identifiers": ["id"]}), "alone")
    assert alone.ok
    few = [len({home for home, _ in held}) for held in homes_by_group(table, published(out)).values()]
    assert min(few) < K
    together, out = run(anonymize, table, SPEC)
    number = [len({home for home, _ in held}) for held in homes_by_group(table, published(out)).values()]
    found = row_of(together, "household_k_anonymity")
    assert together.ok and len(number) > 1 and min(number) == found.value >= K
    assert found.level == f"k = {K} households"
    assert len(published(out)) == len(table["id"])
    assert "home" not in json.dumps(json.loads((out / "release" / "release.json").read_text())["columns"])


def test_verify_needs_the_owners_table_of_households(run, tmp_path, spark):
    """The files do not show households: without the owner's table, or with another one, nothing passes."""
    first, out = run(anonymize, members(), SPEC)
    again = verify(out, spark=spark)
    assert again.ok and row_of(again, "household_k_anonymity") == row_of(first, "household_k_anonymity")
    assert row_of(again, "known_household") == row_of(first, "known_household")
    (file,) = (out / "private" / "households").glob("*.parquet")
    assert (file.parent.stat().st_mode & 0o777, file.stat().st_mode & 0o777) == (0o700, 0o600)
    kept = pq.read_table(file)
    assert kept.column_names == ["group_id", "household", "value"]
    for name, other in {
        "value": pa.array(["a"] * len(kept)),
        "group_id": pa.array([1] * len(kept), kept["group_id"].type),
    }.items():
        pq.write_table(kept.set_column(kept.column_names.index(name), name, other), file)
        row = row_of(verify(out, spark=spark), "household_k_anonymity")
        assert row.status == "fail" and "not that of this release" in row.witness["reason"]
    moved = tmp_path / "shared"
    (out / "release").rename(moved)
    shared = verify(moved, spark=spark)
    row = row_of(shared, "household_k_anonymity")
    assert not shared.ok and row.status == "fail" and "is not there" in row.witness["reason"]
    assert row_of(shared, "k_anonymity").status == "pass"


def test_somebody_who_knows_a_household(run):
    """What is left of a group without one household, counted from the release, with the gate and without."""
    table = members(homes=90)
    privacy = {"k_anonymity": K, "alpha_k": {"alpha": 0.6, "k": 2}}
    worst = {}
    for name, know in (("measured", False), ("demanded", True)):
        household = {"column": "home", "members_know_each_other": know}
        found, out = run(anonymize, table, changed({"household": household}, privacy), name)
        shares = []
        for held in homes_by_group(table, published(out)).values():
            for known in {home for home, _ in held}:
                others = Counter(ill for home, ill in held if home != known)
                shares.append(max(others.values()) / others.total())
        worst[name] = max(shares)
        row = row_of(found, "known_household")
        assert row.value == pytest.approx(max(shares))
        assert row.status == ("pass" if know else "measured")
    assert worst["demanded"] <= 0.6 < worst["measured"]


def test_check_counts_households_of_any_table(run):
    """Forty people of two households in each of two groups: k = 4 people, not 4 households."""
    table: dict[str, list[Any]] = {"id": list(range(80)), "g": [i % 2 for i in range(80)]}
    table |= {"home": [i % 4 // 2 for i in range(80)], "age": [30] * 80, "zip": [1] * 80}
    table["ill"] = ["ab"[i % 4 // 2] for i in range(80)]
    household = {"column": "home", "members_know_each_other": True}
    found, _ = run(check, table, changed({"group": "g", "household": household}))
    assert {row.criterion: row.ok for row in found.verdict.rows if row.threshold is not None} == {
        "k_anonymity": True, "distinct_l_diversity": True, "household_k_anonymity": False,
        "known_household": False,
    }  # fmt: skip
    row = row_of(found, "household_k_anonymity")
    assert (row.value, row.violations, row.groups) == (2.0, 2, 2)
    known = row_of(found, "known_household")
    assert (known.value, known.violations) == (1.0, 2)


def test_people_with_several_rows_in_households(run):
    """Rows become people first; a person in two households stops the run, and so does one in none."""
    table: dict[str, list[Any]] = {"who": [i // 2 for i in range(40)], "home": [i // 4 for i in range(40)]}
    table |= {"age": [20 + i // 8 for i in range(40)], "ill": ["abcd"[i % 4] for i in range(40)]}
    columns = {
        "person": "who",
        "household": "home",
        "quasi_identifiers": {"age": "numeric"},
        "sensitive": {"column": "ill", "case": "mvpi-set"},
    }
    spec = {"columns": columns, "privacy": {"k_anonymity": 4}}
    found, _ = run(anonymize, table, spec)
    assert found.ok and row_of(found, "household_k_anonymity").value == 4
    assert found.summary["metrics"]["sizes"]["smallest"] == 8
    for other, told in (
        (999, "rows disagree about `home` within 1 of 20"),
        (None, "disagree|have no `home`"),
    ):
        with pytest.raises(DataError, match=told):
            run(anonymize, {**table, "home": [other, *table["home"][1:]]}, spec, "odd")
    spec["columns"]["group"] = "g"
    table["g"] = [i % 2 for i in range(40)]
    with pytest.raises(DataError, match="1 people have several values of `home`"):
        run(check, {**table, "home": [999, *table["home"][1:]]}, spec, "odd")


def test_households_are_the_same_where_their_values_are(run):
    """−0.0 is 0.0, and large numbers that differ in the last digit are two."""
    homes = {
        "float": ([0.0, -0.0] * 4, 1),
        "long": ([2**53, 2**53 + 1] * 4, 2),
        "decimal": ([Decimal("1.10"), Decimal("1.01")] * 4, 2),
        "text": (["a", "a "] * 4, 2),
    }
    for name, (home, number) in homes.items():
        table = {"id": list(range(8)), "g": [0] * 8, "home": home, "ill": ["a", "b"] * 4}
        columns = {"household": "home", "group": "g", "sensitive": "ill"}
        found, _ = run(check, table, {"columns": columns, "privacy": {"k_anonymity": 2}}, name)
        assert row_of(found, "household_k_anonymity").value == number


def test_a_missing_household_stops_the_run(run):
    table = members()
    table["home"][3] = table["home"][9] = None
    for command in (anonymize, check, eligibility):
        with pytest.raises(DataError, match=r"2 of \d+ people have no `home`"):
            run(command, table, SPEC)


def test_too_few_households_to_publish_anything(run):
    table = members(homes=3)
    with pytest.raises(InfeasibleError, match="household_k_anonymity 3, needed >= 4"):
        run(anonymize, table, SPEC)
    found, _ = run(eligibility, table, SPEC, "asked")
    assert row_of(found, "household_k_anonymity").status == "fail"


def test_households_are_counted_after_suppression(run):
    """Rows that go take their household along; those that stay still make k of them in every group."""
    table = members()
    table["ill"] = ["a" if i % 4 else ill for i, ill in enumerate(table["ill"])]
    suppression = {"method": "r", "l": 2, "budget": 0.9}
    found, out = run(anonymize, table, changed(privacy={"k_anonymity": K}, suppression=suppression))
    rows, kept = published(out), pq.read_table(out / "private" / "households").to_pylist()
    assert found.ok and len(kept) == len(rows) < len(table["id"])
    homes = defaultdict(set)
    for one in kept:
        homes[one["group_id"]].add(one["household"])
    held = homes_by_group(table, rows, everybody=False)
    assert all(K <= len(homes[g]) <= len({home for home, _ in held[g]}) for g in held)


def test_fragments_with_too_few_households_are_put_together(run, monkeypatch):
    """The driver cuts by age, and all young people are of two households: that cut must go."""
    monkeypatch.setattr(fragments, "FRAGMENT_ROWS", 200)
    size = 800
    age = [i % 80 for i in range(size)]
    home = [i % 2 if age[i] < 20 else 2 + i // 5 for i in range(size)]
    table: dict[str, list[Any]] = {
        "id": list(range(size)),
        "home": home,
        "age": age,
        "zip": [i // 400 for i in range(size)],
    }
    table["ill"] = ["abcd"[i // 80 % 4] for i in range(size)]
    found, out = run(anonymize, table, changed({"quasi_identifiers": {"age": {"weight": 9}, "zip": {}}}))
    groups = defaultdict(set)
    boxes = {r["group_id"]: (r["age_min"], r["age_max"], r["zip_min"], r["zip_max"]) for r in published(out)}
    for a, z, h in zip(age, table["zip"], home, strict=True):
        for g, (low, high, first, last) in boxes.items():
            if low <= a <= high and first <= z <= last:
                groups[g].add(h)
    assert found.ok and len(boxes) > 4
    assert min(map(len, groups.values())) >= K
    assert row_of(found, "household_k_anonymity").value >= K


@pytest.mark.slow
def test_the_release_says_nothing_of_households(run):
    """Whoever lives with whom under which name, the same groups are published in the same order."""
    table = members()
    renamed = {name: held[::-1] for name, held in table.items()}
    renamed["home"] = [f"x{7 * int(home[1:]) % 60}" for home in renamed["home"]]
    files = []
    for name, given in (("one", table), ("two", renamed)):
        _, out = run(anonymize, given, SPEC, name)
        files.append([path.read_bytes() for path in sorted((out / "release" / "data").glob("*.parquet"))])
    assert files[0] == files[1]


@pytest.mark.parametrize(
    ("sensitive", "form"),
    [
        ("ill", "bucketized"),
        pytest.param({"column": "ill", "case": "mvpi-set"}, "bucketized", marks=pytest.mark.slow),
        pytest.param(None, "generalized", marks=pytest.mark.slow),
    ],
)
def test_both_writers_keep_the_same_households(run, monkeypatch, sensitive, form, spark):
    """In the order of rows or against it; and what is kept is what `verify` finds again."""
    table = members()
    if isinstance(sensitive, dict):
        table["ill"] = [[ill, "a"] for ill in table["ill"]]
    spec = changed({"sensitive": sensitive}, {"k_anonymity": K}, output={"form": form})
    ours, out = run(anonymize, table, spec, "ours")
    monkeypatch.setattr("ppdp_spark.spark.release.publication.writable", lambda *_: False)
    theirs, other = run(anonymize, {name: held[::-1] for name, held in table.items()}, spec, "theirs")
    assert ours.verdict.rows == theirs.verdict.rows and ours.ok
    kept = [spark.read.parquet(str(folder / "private" / "households")) for folder in (out, other)]
    assert kept[0].columns == ["group_id", "household", *(["value"] if sensitive == "ill" else [])]
    one, two = (sorted(map(tuple, table.collect())) for table in kept)
    assert one == two and len(one) == len(table["id"])
    again = verify(out, spark=spark)
    assert again.ok and row_of(again, "household_k_anonymity") == row_of(ours, "household_k_anonymity")
