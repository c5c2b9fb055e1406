"""Releases and tables with several sensitive attributes, seen by somebody who knows all but one of them.

The attack reads the published files with pyarrow and enumerates who may have what: nothing of the package is
used to read or to count.
"""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import permutations
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from ppdp_spark import anonymize, attack, check, eligibility, explore, verify
from ppdp_spark.errors import DataError, InfeasibleError
from ppdp_spark.run.storage import Folder, table_digests

ILLS, JOBS = ["cold", "flu", "gout", None], ["clerk", "cook", "nurse", "smith"]
ALPHA = Fraction(1, 2)


def people(number: int = 36, seed: int = 1) -> pa.Table:
    """A few people of whom everybody with an ill has its own job: the strongest link there can be."""
    rng = random.Random(seed)
    place = [rng.randrange(4) for _ in range(number)]
    return pa.table(
        {
            "age": pa.array([rng.randrange(20, 60) for _ in range(number)], pa.int32()),
            "sex": [rng.choice("fm") for _ in range(number)],
            "ill": [ILLS[i] for i in place],
            "job": [JOBS[i] for i in place],
            "income": [1_000.0 * rng.randrange(1, 9) for _ in range(number)],
        }
    )


def spec(folder: Path, form: str, sensitive=("ill", "job"), **more):
    return {
        "version": 1,
        "dataset": "several",
        "columns": {
            "quasi_identifiers": {"age": "numeric", "sex": "categorical"},
            "sensitive": list(sensitive),
        },
        "privacy": {"k_anonymity": 3, "alpha_k": {"alpha": 0.5, "k": 3}, **more},
        "output": {"path": str(folder / form), "form": form},
    }


def groups_in(data: Path, form: str) -> dict[int, dict[str, list]]:
    """The values of each attribute in each group, in the order in which they are published."""
    found: dict[int, dict[str, list]] = defaultdict(lambda: {"ill": [], "job": []})
    if form == "generalized":
        for row in pq.read_table(data).to_pylist():
            for name in ("ill", "job"):
                found[row["group_id"]][name].append(row[name])
        return found
    for table in sorted(data.glob("sensitive*")):
        for row in pq.read_table(table).to_pylist():
            (name,) = set(row) - {"group_id", "count"}
            found[row["group_id"]][name] += [row[name]] * row["count"]
    return found


@pytest.mark.parametrize("form", ["generalized", pytest.param("bucketized", marks=pytest.mark.slow)])
def test_whoever_knows_one_attribute_learns_no_more_of_another_than_the_group_tells(spark, tmp_path, form):
    table = people()
    run = anonymize(spec(tmp_path, form), table=spark.createDataFrame(table).repartition(3))
    assert run.ok
    groups = groups_in(tmp_path / form / "release" / "data", form)
    assert len(groups) > 3
    for held in groups.values():
        size = len(held["ill"])
        assert size == len(held["job"]) >= 3
        for known, asked in (("ill", "job"), ("job", "ill")):
            # Any columns of the published values, beside the order in which they are published.
            worlds = [tuple(zip(held[known], other, strict=True)) for other in _orders(held[asked])]
            for value in set(held[known]):
                posterior = Counter(b for world in worlds for a, b in world if a == value)
                for other, number in posterior.items():
                    share = Fraction(held[asked].count(other), size)
                    assert Fraction(number, posterior.total()) == share <= ALPHA
            # The order itself tells nothing: it is that of the values.
            order = sorted(held[asked], key=lambda text: (text is None, text))
            assert held[asked] == order
    for name in ("ill", "job"):
        published = Counter(value for held in groups.values() for value in held[name])
        assert published == Counter(table[name].to_pylist())
    told = {(row.parameters.get("sensitive"), row.criterion) for row in run.verdict.rows}
    assert {("ill", "alpha_k_anonymity"), ("job", "alpha_k_anonymity"), (None, "unlinked")} <= told
    assert verify(tmp_path / form, spark=spark).ok


def _orders(values: list) -> list[tuple]:
    """Ways to deal out values; a sample of them that deals everything to everybody equally often."""
    if len(values) <= 6:
        return list(permutations(values))
    return [tuple(values[i:] + values[:i]) for i in range(len(values))]


def linked(release: Path, original: pa.Table) -> None:
    """Give the rows of a generalized release their true pairs back, with the digests of its files."""
    (file,) = (release / "data").glob("*.parquet")
    table = pq.read_table(file)
    pairs: dict[int, list[tuple]] = defaultdict(list)
    free = original.to_pylist()
    for row in table.to_pylist():
        mine = [
            p
            for p in free
            if p["sex"] in row["sex"].strip("{}").split(", ") and row["age_min"] <= p["age"] <= row["age_max"]
        ]
        person = mine[0]
        free.remove(person)
        pairs[row["group_id"]].append((person["ill"], person["job"]))
    flat = [pair for group in sorted(pairs) for pair in pairs[group]]
    for i, name in enumerate(("ill", "job")):
        column = pa.array([pair[i] for pair in flat], pa.string())
        table = table.set_column(table.schema.get_field_index(name), name, column)
    pq.write_table(table, file)
    manifest = json.loads((release / "release.json").read_text())
    manifest["files"] = table_digests(Folder.at(release))
    (release / "release.json").write_text(json.dumps(manifest))


def test_rows_that_stay_linked_are_certainty_and_no_command_calls_them_safe(spark, tmp_path):
    """Each column alone is as safe as before; who knows an ill knows the job."""
    table = people()
    given = spec(tmp_path, "generalized")
    given["output"]["bounds"] = "tight"  # which tell who is in which group
    anonymize(given, table=spark.createDataFrame(table))
    release = tmp_path / "generalized" / "release"
    linked(release, table)
    rows = pq.read_table(release / "data").to_pylist()
    jobs = defaultdict(set)
    for row in rows:
        jobs[row["group_id"], row["ill"]].add(row["job"])
    assert all(len(known) == 1 for known in jobs.values())
    judged = verify(release, spark=spark)
    assert [row.criterion for row in judged.verdict.failures] == ["unlinked"]
    shown = spark.read.parquet(str(release / "data"))
    by_group = {
        "columns": {"group": "group_id", "sensitive": ["ill", "job"]},
        "version": 1,
        "dataset": "others",
    }
    for name in ("ill", "job"):
        alone = {**by_group, "columns": {"group": "group_id", "sensitive": name}}
        assert check({**alone, "privacy": {"alpha_k": {"alpha": 0.5, "k": 3}}}, table=shown).ok
    together = check({**by_group, "privacy": {"l_diversity": {"kind": "distinct", "l": 2}}}, table=shown)
    assert {row.parameters["sensitive"] for row in together.verdict.failures} >= {"ill", "job"}
    assert not check({**by_group, "privacy": {"alpha_k": {"alpha": 0.5, "k": 3}}}, table=shown).ok


def test_a_table_in_which_all_pairs_occur_passes_the_check(spark):
    rows = [(g, ill, job) for g in range(3) for ill in "ab" for job in "xyz"]
    table = spark.createDataFrame(rows, "g int, ill string, job string")
    wanted = {"version": 1, "dataset": "pairs", "columns": {"group": "g", "sensitive": ["ill", "job"]}}
    run = check(
        {**wanted, "privacy": {"k_anonymity": 6, "l_diversity": {"kind": "distinct", "l": 2}}}, table=table
    )
    assert run.ok
    found = {
        (row.parameters["sensitive"], row.groups, row.value)
        for row in run.verdict.rows
        if row.criterion == "distinct_l_diversity"
    }
    assert found == {("ill", 9, 2.0), ("job", 6, 3.0)}
    assert run.summary["release"]["groups"] == 3
    three = {**wanted, "privacy": {"l_diversity": {"kind": "distinct", "l": 3}}}
    assert [row.parameters["sensitive"] for row in check(three, table=table).verdict.failures] == ["ill"]


@pytest.mark.slow
def test_one_of_several_attributes_is_explored_in_the_cells_of_the_others(spark):
    """The same as the table whose groups are the cells."""
    rng = random.Random(3)
    rows = [(g, rng.choice("abc"), rng.choice("xy")) for g in range(4) for _ in range(20)]
    table = spark.createDataFrame(
        [(*row, f"{row[0]}{row[2]}") for row in rows], "g int, ill string, job string, cell string"
    )
    columns = {"group": "g", "sensitive": ["ill", "job"]}
    privacy = {
        "k_anonymity": 15,
        "per_attribute": {"ill": {"skyline": {"default": [{"l": 0, "k": 1, "m": 0, "c": 0.9}]}}},
    }
    given = {"version": 1, "dataset": "explored", "columns": columns, "privacy": privacy}
    limits = {"confidence": [0.7], "max_l": 1, "max_m": 1}
    found = explore({**given, "explore": {"sensitive": "ill", **limits}}, table=table)
    alone = {**given, "columns": {"group": "cell", "sensitive": "ill"}, "privacy": {}, "explore": limits}
    cells = explore(alone, table=table)
    ours, theirs = (
        [(each["value"], each["c"], each["surface"]) for each in run.summary["knowledge"]]
        for run in (found, cells)
    )
    assert ours == theirs and len(ours) == 3
    assert {(each["attribute"], *each["known"]) for each in found.summary["knowledge"]} == {("ill", "job")}
    assert found.summary["release"] == {"groups": 8}
    size, *points = found.verdict.rows
    assert (size.criterion, size.groups, size.value) == ("k_anonymity", 4, 20.0)
    assert {row.parameters["sensitive"] for row in points} == {"ill"} and len(points) == 3


def test_attributes_may_have_criteria_of_their_own(spark, tmp_path, monkeypatch):
    """Cut on the driver first, with nulls of any attribute suppressed, and queries about every attribute."""
    from ppdp_spark.spark.partition import fragments

    monkeypatch.setattr(fragments, "FRAGMENT_ROWS", 60)
    monkeypatch.setattr(fragments, "SAMPLE_ROWS", 300)
    own = {
        "income": {"t_closeness": {"t": 0.25, "distance": "ordered"}},
        "ill": {
            "skyline": {
                "default": [{"l": 1, "k": 1, "m": 0, "c": 0.9}],
                "values": {"gout": [{"l": 0, "k": 1, "m": 0, "c": 0.8}]},
            }
        },
    }
    wanted = spec(tmp_path, "generalized", ["ill", "job", "income"], per_attribute=own)
    wanted |= {"nulls": "suppress"}
    wanted["output"]["queries"] = 15
    table = people(300, seed=2)
    run = anonymize(wanted, table=spark.createDataFrame(table).repartition(5))
    assert run.ok
    kept = table.filter(pc.is_valid(table["ill"]))
    shown = pq.read_table(tmp_path / "generalized" / "release" / "data")
    for name in ("ill", "job", "income"):
        assert Counter(shown[name].to_pylist()) == Counter(kept[name].to_pylist())
    rows = {(row.parameters.get("sensitive"), row.criterion) for row in run.verdict.rows}
    assert {("income", "t_closeness"), ("ill", "skyline"), ("job", "alpha_k_anonymity")} <= rows
    assert not {("job", "t_closeness"), ("job", "skyline"), ("income", "skyline")} & rows
    assert run.metrics.queries.number == 45
    assert set(run.metrics.queries.attributes) == {"ill", "job", "income"}
    wanted["privacy"]["per_attribute"]["income"]["t_closeness"]["t"] = 0.0001
    wanted["privacy"]["per_attribute"]["income"]["alpha_k"] = {"alpha": 0.01, "k": 2}
    wanted["output"]["overwrite"] = True
    with pytest.raises(InfeasibleError):
        anonymize(wanted, table=spark.createDataFrame(table))


@pytest.mark.slow
def test_tables_of_several_attributes_and_a_list_of_one(spark, tmp_path):
    table = spark.createDataFrame(people())
    assert eligibility(spec(tmp_path, "bucketized"), table=table).verdict.ok
    several = anonymize(spec(tmp_path / "a", "bucketized"), table=table)
    assert {name: found.columns for name, found in several.sensitive_tables.items()} == {
        "ill": ["group_id", "ill", "count"],
        "job": ["group_id", "job", "count"],
    }
    with pytest.raises(DataError, match="sensitive_tables"):
        print(several.sensitive_table)
    knowing = {
        "version": 1,
        "dataset": "several",
        "columns": {},
        "attack": {"release": several.paths["release"]},
    }
    with pytest.raises(DataError, match="2 sensitive attributes"):
        attack(knowing, spark=spark)
    for name in ("ill", "job"):
        knowing["attack"]["sensitive"] = name
        (row,) = attack(knowing, spark=spark).verdict.rows
        held = groups_in(tmp_path / "a" / "bucketized" / "release" / "data", "bucketized").values()
        shares = (Fraction(max(Counter(group[name]).values()), len(group[name])) for group in held)
        assert row.parameters["sensitive"] == name and row.value == pytest.approx(float(max(shares)))
    one = anonymize(spec(tmp_path / "b", "bucketized", ["ill"]), table=table)
    single = spec(tmp_path / "c", "bucketized")
    single["columns"]["sensitive"] = "ill"
    assert anonymize(single, table=table).ok
    first, second = (tmp_path / name / "bucketized" / "release" / "release.json" for name in "bc")
    assert first.read_bytes() == second.read_bytes()
    assert one.sensitive_table.columns == ["group_id", "ill", "count"]


@pytest.mark.slow
@pytest.mark.parametrize("form", ["generalized", "bucketized"])
def test_attributes_of_every_type_by_either_writer(spark, tmp_path, monkeypatch, form):
    """Dates, decimals, truth values, floats with NaN and both zeros, moments, by tasks and by Spark."""
    from ppdp_spark.spark.release import publication

    rng = random.Random(4)
    kinds = {
        "day": "date'2020-01-0{}'",
        "price": "cast('1.{}0' as decimal(9,2))",
        "told": "{} % 2 = 0",
        "weight": "case {0} when 1 then double('NaN') when 2 then -0.0d when 3 then 0.0d else {0} / 7 end",
        "seen": "timestamp'2021-03-0{} 10:00:00'",
        "class": "case when {0} = 5 then null else 'class {0}' end",
    }
    rows = [
        ", ".join(f"{sql.format(rng.randrange(1, 7))} as {name}" for name, sql in kinds.items())
        for _ in range(60)
    ]
    union = " union all ".join(f"select {rng.randrange(20, 90)} as age, {row}" for row in rows)
    table = spark.sql(union).localCheckpoint()
    wanted = spec(tmp_path / "tasks", form, kinds)
    wanted["columns"]["quasi_identifiers"] = {"age": "numeric"}
    wanted["privacy"] = {"k_anonymity": 4, "l_diversity": {"kind": "distinct", "l": 2}}
    by_tasks = anonymize(wanted, table=table)
    assert by_tasks.ok
    monkeypatch.setattr(publication, "writable", lambda types: False)
    wanted["output"] = {"path": str(tmp_path / "engine" / form), "form": form}
    by_engine = anonymize(wanted, table=table.repartition(4))
    assert by_engine.ok
    published = [tmp_path / writer / form / "release" / "data" for writer in ("tasks", "engine")]
    for name in [""] if form == "generalized" else ["qi", *(f"sensitive_{i}" for i in range(1, 7))]:
        one, other = (spark.read.parquet(str(place / name)).collect() for place in published)
        assert one == other and len(one) > 10


def test_fragments_are_counted_attribute_by_attribute(spark):
    """The exact counts by which cuts of the driver are confirmed, against counts by hand."""
    from ppdp_spark.core.data.attributes import Ordered
    from ppdp_spark.spark.data.layout import Layout
    from ppdp_spark.spark.data.profile import SensitiveDomain
    from ppdp_spark.spark.partition.fragments import Cut, Leaf, count_fragments

    rng = random.Random(8)
    rows = [(rng.randrange(1, 10), rng.randrange(3), rng.randrange(2)) for _ in range(50)]
    domains = tuple(
        SensitiveDomain(name, "svpi", "string", tuple("abc"[:width]), (0,) * width)
        for name, width in [("x", 3), ("y", 2)]
    )
    layout = Layout((Ordered("age", "integer", "int", 1, 9),), domains, False, 0)
    table = spark.createDataFrame(rows, "q0 int, sensitive int, sensitive1 int")
    found = count_fragments(table, Cut(0, 4, Leaf(0), Leaf(1)), layout)
    sides = [[row for row in rows if (row[0] > 4) == right] for right in (False, True)]
    assert found.sizes.tolist() == [len(side) for side in sides]
    assert found.counts.tolist() == [
        [sum(row[1] == v for row in side) for v in range(3)]
        + [sum(row[2] == v for row in side) for v in range(2)]
        for side in sides
    ]
