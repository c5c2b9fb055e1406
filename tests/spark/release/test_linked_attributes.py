"""Releases that keep the values of a person together, seen by somebody who knows some of them.

The attack reads the published files with pyarrow, finds people by what it knows and counts what is left:
nothing of the package is used to read or to count.
"""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import chain, combinations
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ppdp_spark import anonymize, check, eligibility, verify
from ppdp_spark.errors import DataError, InfeasibleError
from ppdp_spark.run.storage import Folder, table_digests

NAMES, KNOWN = ("ill", "job", "pay"), ("job", "pay")
ALPHA = Fraction(7, 10)


def people(number: int = 240, seed: int = 2) -> pa.Table:
    """People whose ill depends on the job: not much, but for the young, of whom the job tells it."""
    rng, rows = random.Random(seed), []
    for _ in range(number):
        age, job = rng.randrange(20, 80), rng.choice(["cook", "smith"])
        ill = ("flu" if job == "cook" else "gout") if age < 30 else rng.choice(["flu", "gout", None])
        rows.append((age, rng.choice("fm"), ill, job, rng.choice([1.5, 2.5])))
    age, sex, *held = zip(*rows, strict=True)
    columns = dict(zip(NAMES, map(list, held), strict=True))
    return pa.table({"age": pa.array(age, pa.int32()), "sex": list(sex), **columns})


def spec(folder: Path, form: str, known: tuple[str, ...] = KNOWN):
    own = {"ill": {"alpha_k": {"alpha": 0.7, "k": 2}}, "job": {"l_diversity": {"kind": "distinct", "l": 2}}}
    return {
        "version": 1,
        "dataset": "linked",
        "columns": {
            "quasi_identifiers": {"age": "numeric", "sex": "categorical"},
            "sensitive": list(NAMES),
            "sensitive_linked": {"known": list(known)} if known else {},
        },
        "privacy": {"k_anonymity": 5, "per_attribute": own},
        "output": {"path": str(folder / form), "form": form},
    }


def records_in(data: Path, form: str) -> dict[int, list[tuple]]:
    """The records of each group, in the order in which they are published."""
    found: dict[int, list[tuple]] = defaultdict(list)
    for row in pq.read_table(data if form == "generalized" else data / "sensitive").to_pylist():
        found[row["group_id"]] += [tuple(row[name] for name in NAMES)] * row.get("count", 1)
    return found


def worst_share(groups: dict[int, list[tuple]], asked: str, known: tuple[str, ...]) -> Fraction:
    """The largest posterior of anybody's value of one attribute, for whoever knows others."""
    left: dict[tuple, Counter] = defaultdict(Counter)
    for group, records in groups.items():
        for record in records:
            told = dict(zip(NAMES, record, strict=True))
            cell = (group, *(told[name] for name in known))
            left[cell][told[asked]] += 1
    return max(Fraction(max(found.values()), found.total()) for found in left.values())


@pytest.mark.parametrize("form", ["generalized", pytest.param("bucketized", marks=pytest.mark.slow)])
def test_whoever_knows_any_of_what_is_declared_learns_no_more_than_the_bound(
    spark, tmp_path, monkeypatch, form
):
    """Cut on the driver first, where the young cannot be a fragment of their own."""
    from ppdp_spark.spark.partition import fragments

    monkeypatch.setattr(fragments, "FRAGMENT_ROWS", 60)
    table = people()
    run = anonymize(spec(tmp_path, form), table=spark.createDataFrame(table).repartition(3))
    assert run.ok
    data = tmp_path / form / "release" / "data"
    groups = records_in(data, form)
    assert len(groups) > 3 and min(map(len, groups.values())) >= 5
    for known in chain.from_iterable(combinations(KNOWN, size) for size in range(3)):
        assert worst_share(groups, "ill", known) <= ALPHA
    assert worst_share(groups, "job", ("pay",)) < 1
    published = Counter(record for records in groups.values() for record in records)
    assert published == Counter(zip(*(table[name].to_pylist() for name in NAMES), strict=True))
    for records in groups.values():
        assert records == sorted(records, key=lambda r: (r[0] is None, r[0] or "", *r[1:]))
    told = {
        (r.parameters.get("sensitive"), tuple(r.parameters.get("known", ()))): r for r in run.verdict.rows
    }
    assert told["ill", KNOWN].value == float(worst_share(groups, "ill", KNOWN))
    assert {("job", ("pay",)), (None, ())} <= set(told)
    if form == "bucketized":
        assert run.sensitive_table.columns == ["group_id", *NAMES, "count"]
        with pytest.raises(DataError, match="linked"):
            print(run.sensitive_tables)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["generalized", "bucketized"])
def test_the_files_do_not_depend_on_the_order_or_the_partitions_of_rows(spark, tmp_path, monkeypatch, form):
    from ppdp_spark.spark.partition import fragments

    monkeypatch.setattr(fragments, "FRAGMENT_ROWS", 60)
    table, files = people(), []
    for name, parts, rows in (("one", 1, range(240)), ("other", 7, range(239, -1, -1))):
        shuffled = spark.createDataFrame(table.take(list(rows))).repartition(parts)
        anonymize(spec(tmp_path / name, form), table=shuffled)
        files.append(table_digests(Folder.at(tmp_path / name / form / "release")))
        assert verify(tmp_path / name / form, spark=spark).ok
    assert files[0] == files[1]


@pytest.mark.slow
def test_a_column_may_be_called_as_ours_are(spark, tmp_path):
    table = people().rename_columns(["age", "sex", "count", "Sensitive", "value"])
    given = spec(tmp_path, "generalized")
    given["columns"] |= {"sensitive": ["count", "Sensitive", "value"], "sensitive_linked": {}}
    given["privacy"] = {"k_anonymity": 5, "l_diversity": {"kind": "distinct", "l": 2}}
    assert anonymize(given, table=spark.createDataFrame(table)).ok


@pytest.mark.slow
def test_anybody_who_checks_the_table_finds_the_same(spark, tmp_path):
    run = anonymize(spec(tmp_path, "generalized"), table=spark.createDataFrame(people()))
    columns = {"group": "group_id", "sensitive": list(NAMES), "sensitive_linked": {"known": list(KNOWN)}}
    given = {"version": 1, "dataset": "others", "columns": columns}
    shown = spark.read.parquet(str(tmp_path / "generalized" / "release" / "data"))
    found = check({**given, "privacy": spec(tmp_path, "")["privacy"]}, table=shown)
    assert found.ok
    ours = {(row.criterion, row.level): (row.value, row.groups) for row in run.verdict.rows if row.parameters}
    theirs = {(row.criterion, row.level): (row.value, row.groups) for row in found.verdict.rows}
    assert {key: theirs[key] for key in ours} == ours and len(ours) == 3


def test_what_is_safe_apart_is_refused_together(spark, tmp_path):
    """Everybody with an ill has its own job: each alone passes, and linked publication must fail."""
    rng = random.Random(1)
    ills = [rng.randrange(3) for _ in range(40)]
    table = spark.createDataFrame(
        pa.table({"age": list(range(40)), "ill": [f"i{i}" for i in ills], "job": [f"j{i}" for i in ills]})
    )
    given = spec(tmp_path, "generalized", ())
    given["columns"] |= {"quasi_identifiers": {"age": "numeric"}, "sensitive": ["ill", "job"]}
    given["privacy"] = {"k_anonymity": 2, "l_diversity": {"kind": "distinct", "l": 2}}
    failed = eligibility(given, table=table).verdict.failures
    assert {tuple(row.parameters["known"]) for row in failed} == {("ill",), ("job",)}
    with pytest.raises(InfeasibleError, match=r"ill given job.*remove `columns.sensitive_linked`"):
        anonymize(given, table=table)
    assert not (tmp_path / "generalized" / "release").exists()
    del given["columns"]["sensitive_linked"]
    assert eligibility(given, table=table).verdict.failures == ()


@pytest.mark.slow
@pytest.mark.parametrize("form", ["generalized", "bucketized"])
def test_a_cell_that_tells_is_found_in_the_files(spark, tmp_path, form):
    """One cook's ill changed for another cook's in every group: whoever knows jobs is surer than allowed."""
    anonymize(spec(tmp_path, form, ("job",)), table=spark.createDataFrame(people()))
    release = tmp_path / form / "release"
    (file,) = (release / "data" if form == "generalized" else release / "data" / "sensitive").glob(
        "*.parquet"
    )
    rows = pq.read_table(file).to_pylist()
    for row in rows:
        if row["group_id"] == 1 and row["job"] == "cook":
            row["ill"] = "flu"
    pq.write_table(pa.Table.from_pylist(rows, pq.read_schema(file)), file)
    manifest = json.loads((release / "release.json").read_text())
    assert manifest["linked"] == {"known": ["job"]}
    manifest["files"] = table_digests(Folder.at(release))
    (release / "release.json").write_text(json.dumps(manifest))
    (failed,) = verify(release, spark=spark).verdict.failures
    assert (failed.criterion, failed.parameters["sensitive"], failed.value) == (
        "alpha_k_anonymity",
        "ill",
        1.0,
    )
    assert "cell" in failed.witness
    manifest["linked"] = {"known": ["age"]}
    (release / "release.json").write_text(json.dumps(manifest))
    with pytest.raises(DataError, match="which sensitive attributes may be known"):
        verify(release, spark=spark)


@pytest.mark.slow
def test_linked_attributes_of_any_type_by_either_writer(spark, tmp_path, monkeypatch):
    """Combinations by tasks and by Spark, with dates, decimals, floats and truth values."""
    from ppdp_spark.spark.release import publication

    rng = random.Random(4)
    kinds = {
        "day": "date'2020-01-0{}'",
        "price": "cast('1.{}0' as decimal(9,2))",
        "told": "{} % 2 = 0",
        "weight": "case {0} when 1 then double('NaN') when 2 then -0.0d else {0} / 7 end",
    }
    rows = [
        ", ".join(f"{sql.format(rng.randrange(1, 3))} as {name}" for name, sql in kinds.items())
        for _ in range(60)
    ]
    union = " union all ".join(f"select {rng.randrange(20, 90)} as age, {row}" for row in rows)
    table = spark.sql(union).localCheckpoint()
    wanted = spec(tmp_path / "tasks", "bucketized", ("told",))
    wanted["columns"] |= {"quasi_identifiers": {"age": "numeric"}, "sensitive": list(kinds)}
    wanted["privacy"] = {"k_anonymity": 4, "l_diversity": {"kind": "distinct", "l": 2}}
    assert anonymize(wanted, table=table).ok
    monkeypatch.setattr(publication, "writable", lambda types: False)
    wanted["output"]["path"] = str(tmp_path / "engine" / "bucketized")
    assert anonymize(wanted, table=table.repartition(4)).ok
    published = [tmp_path / writer / "bucketized" / "release" / "data" for writer in ("tasks", "engine")]
    for name in ("qi", "sensitive"):
        one, other = (spark.read.parquet(str(place / name)).collect() for place in published)
        assert one == other and len(one) > 10
