"""Groups that are large in the sample and stand for few people of the population, and the other way round."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ppdp_spark import anonymize, check, eligibility, verify
from ppdp_spark.errors import DataError, InfeasibleError
from ppdp_spark.spark.partition import fragments

K, POPULATION = 4, 400
SPEC: dict[str, Any] = {
    "columns": {
        "identifiers": ["id"],
        "weight": "w",
        "quasi_identifiers": {"age": "numeric", "zip": "numeric"},
        "sensitive": "ill",
    },
    "privacy": {"k_anonymity": K, "l_diversity": {"kind": "distinct", "l": 2}},
    "output": {"bounds": "tight"},
}
DEMANDED = {**SPEC["privacy"], "estimated_population": POPULATION}


def surveyed(rows=240, seed=5) -> dict[str, list[Any]]:
    """People of whom the young were asked much more often than the old; weights are no sums of bits."""
    rng = random.Random(seed)
    age = [rng.randrange(20, 60) for _ in range(rows)]
    return {
        "id": list(range(rows)),
        "age": age,
        "zip": [rng.randrange(30) for _ in range(rows)],
        "w": [round(rng.choice([3.1, 7.7]) if a < 40 else rng.choice([120.4, 333.3]), 1) for a in age],
        "ill": [rng.choice("abcd") for _ in range(rows)],
    }


def changed(columns=None, privacy=None, **rest):
    found = {**SPEC, "columns": {**SPEC["columns"], **(columns or {})}, **rest}
    return {**found, "privacy": SPEC["privacy"] if privacy is None else privacy}


def units(weight) -> int:
    """Millionths of a person, as the decimal text of a weight says, rounded down."""
    return int(Decimal(repr(weight)) * 10**6 // 1)


def published(out: Path, table: str = "data") -> pd.DataFrame:
    return pd.read_parquet(out / "release" / table)


def sums_by_group(table, out: Path) -> dict[int, int]:
    """What each group stands for, by the ranges that are published: groups of Mondrian do not overlap."""
    sums: dict[int, int] = defaultdict(int)
    boxes = published(out).groupby("group_id").first()
    for age, place, weight in zip(table["age"], table["zip"], table["w"], strict=True):
        inside = boxes[
            boxes.age_min.le(age) & boxes.age_max.ge(age) & boxes.zip_min.le(place) & boxes.zip_max.ge(place)
        ]
        (group,) = inside.index
        sums[group] += units(weight)
    return sums


def weighted_penalty(table, out: Path, sums: dict[int, int], name: str) -> float:
    """The share of a column's range that published ranges span, in the mean over the population."""
    boxes, span = published(out).groupby("group_id").first(), max(table[name]) - min(table[name])
    widths = (boxes[f"{name}_max"] - boxes[f"{name}_min"]).to_dict()
    return sum(sums[g] * widths[g] / span for g in sums) / sum(sums.values())


def row_of(run, criterion):
    (found,) = [row for row in run.verdict.rows if row.criterion == criterion]
    return found


def test_every_group_stands_for_so_many_people(run):
    """k young people of the sample are few of the population: that must not pass where more are demanded."""
    table = surveyed()
    alone, out = run(anonymize, table, SPEC, "alone")
    few = sums_by_group(table, out)
    measured = row_of(alone, "estimated_population")
    assert alone.ok and min(few.values()) < POPULATION * 10**6
    assert (measured.status, measured.value) == ("measured", min(few.values()) / 10**6)
    assert few[measured.witness["group"]] == min(few.values())
    together, out = run(anonymize, table, changed(privacy=DEMANDED))
    sums, found = sums_by_group(table, out), row_of(together, "estimated_population")
    assert together.ok and 1 < len(sums) < len(few)
    assert min(sums.values()) / 10**6 == found.value >= POPULATION and found.status == "pass"
    assert "estimated" in found.level and row_of(together, "k_anonymity").value >= K
    kept = pq.read_table(out / "private" / "weights").to_pylist()
    assert {(out / "private" / name).stat().st_mode & 0o777 for name in ("weights", "weights/..")} == {0o700}
    told: dict[int, int] = defaultdict(int)
    for one in kept:
        told[one["group_id"]] += one["weight"]
    assert told == sums and len(kept) == len(table["id"])
    stated = json.loads((out / "release" / "release.json").read_text())
    assert stated["weights"] == {"publish": False} and "w" not in published(out).columns
    facts = together.summary["release"]["weights"]
    total = sum(map(units, table["w"])) / 10**6
    assert (facts["input"], facts["published"], facts["suppressed"]) == (total, total, 0)
    assert together.metrics.weighted.population == total and together.metrics.weighted.queries is None
    lost = together.metrics.weighted.ncp
    # Penalties of groups are rounded to a millionth before they are added up.
    wanted = {name: weighted_penalty(table, out, sums, name) for name in ("age", "zip")}
    assert lost == pytest.approx(wanted, abs=5e-7)
    assert lost != together.metrics.ncp and together.metrics.weighted.gcp == pytest.approx(
        sum(lost.values()) / 2
    )


def test_verify_needs_the_owners_table_of_weights(run, tmp_path, spark):
    """The files do not show weights: without the owner's table, or with another one, nothing passes."""
    first, out = run(anonymize, surveyed(80), changed(privacy={"k_anonymity": K, "estimated_population": 40}))
    again = verify(out, spark=spark)
    assert again.ok and row_of(again, "estimated_population") == row_of(first, "estimated_population")
    (file,) = (out / "private" / "weights").glob("*.parquet")
    kept = pq.read_table(file)
    pq.write_table(kept.slice(1), file)
    row = row_of(verify(out, spark=spark), "estimated_population")
    assert row.status == "fail" and "not that of this release" in row.witness["reason"]
    few = pa.array([1] * len(kept), pa.int64())
    pq.write_table(kept.set_column(1, "weight", few), file)
    row = row_of(verify(out, spark=spark), "estimated_population")
    assert row.status == "fail" and row.value < 1
    (out / "release").rename(tmp_path / "shared")
    shared = verify(tmp_path / "shared", spark=spark)
    row = row_of(shared, "estimated_population")
    assert not shared.ok and row.status == "fail" and "is not there" in row.witness["reason"]
    assert row_of(shared, "k_anonymity").status == "pass"


@pytest.mark.parametrize("form", ["generalized", "bucketized"])
def test_published_weights_stand_beside_everybody(run, spark, form):
    """Unchanged, by row and in sum; what is changed later is noticed, and what is unique stops the run."""
    table, bounds = surveyed(80), {} if form == "bucketized" else {"bounds": "tight"}
    published_too = {"column": "w", "publish": True}
    spec = changed({"weight": published_too}, {"k_anonymity": K}, output={"form": form, **bounds})
    odd = {**table, "w": [0.123456, *table["w"][1:]]}
    with pytest.raises(
        DataError, match=r"`columns\.weight`: 1 person has values that nobody else has in `w`"
    ):
        run(anonymize, odd, spec, "odd")
    found, out = run(anonymize, table, spec)
    place = out / "release" / "data" / ("qi" if form == "bucketized" else "")
    rows = pd.read_parquet(place)
    assert sorted(rows["w"]) == sorted(table["w"]) and found.ok
    if form == "bucketized":
        held = zip(table["age"], table["zip"], table["w"], strict=True)
        assert sorted(held) == sorted(zip(rows["age"], rows["zip"], rows["w"], strict=True))
        assert "estimated_population" not in {row.criterion for row in found.verdict.rows}
    else:
        sums = rows.groupby("group_id")["w"].apply(lambda held: sum(map(units, held)))
        assert row_of(found, "estimated_population").value == sums.min() / 10**6
        assert sums.to_dict() == sums_by_group(table, out)
    assert not (out / "private" / "weights").exists()
    stated = json.loads((out / "release" / "release.json").read_text())["weights"]
    total = sum(map(units, table["w"]))
    assert stated["column"] == "w" and Decimal(stated["population"]) * 10**6 == total
    assert row_of(found, "weight_conservation").status == "pass"
    alike, known = rows.groupby(["group_id", "w"]).size(), row_of(found, "known_weight")
    assert (known.value, known.status, known.groups) == (alike.min(), "measured", rows["group_id"].nunique())
    assert list(known.witness.values()) == [(alike == 1).sum()]
    (file,) = place.glob("*.parquet")
    changed_later = pq.read_table(file)
    at, more = changed_later.column_names.index("w"), [w + 0.001 for w in changed_later["w"].to_pylist()]
    pq.write_table(changed_later.set_column(at, "w", pa.array(more)), file)
    assert row_of(verify(out, spark=spark), "weight_conservation").status == "fail"


def test_a_unique_weight_that_is_declared_is_told(run):
    """Whoever declares that nobody outside can know the weights publishes them, with a warning."""
    table, both = surveyed(40), {"column": "w", "publish": True}
    table["w"][0] = 0.5
    spec = changed({"weight": both, "may_single_out": ["w"]}, {"k_anonymity": K})
    found, _ = run(anonymize, table, spec)
    assert found.summary["release"]["as_is"] == {"columns": ["w"], "singled_out": 1}
    warned = " ".join(found.summary["warnings"])
    assert (
        "1 person has values that nobody else has" in warned
        and "1 of 40 rows have a weight below 1" in warned
    )


def test_the_sample_and_the_population_are_judged_apart_in_any_table(run):
    """Many people who stand for few, and one who stands for many: each passes one demand only."""
    table: dict[str, list[Any]] = {"id": list(range(21)), "g": [0] * 20 + [1], "w": [1] * 20 + [5_000]}
    table |= {"ill": ["a", "b"] * 10 + ["a"]}
    columns = {"identifiers": ["id"], "weight": "w", "group": "g", "sensitive": "ill"}
    privacy = {"k_anonymity": 10, "estimated_population": 100}
    found, _ = run(check, table, {"columns": columns, "privacy": privacy})
    sample, population = (row_of(found, name) for name in ("k_anonymity", "estimated_population"))
    assert (sample.value, sample.witness, sample.violations) == (1.0, {"group": 1}, 1)
    assert (population.value, population.witness, population.violations) == (20.0, {"group": 0}, 1)
    assert not found.ok and {row.criterion for row in found.verdict.failures} == set(privacy)
    columns["weight"] = {"column": "w", "publish": True}
    found, _ = run(check, table, {"columns": columns, "privacy": {"k_anonymity": 2}}, "measured")
    assert row_of(found, "estimated_population").status == "measured"
    known = row_of(found, "known_weight")
    assert (known.value, known.status, known.groups) == (1.0, "measured", 2)
    assert found.summary["release"]["groups"] == 2


def test_weights_that_are_none_stop_the_run(run):
    table = surveyed(40)
    table["w"] = [None, float("nan"), 0.0, -1.0, float("inf"), *table["w"][5:]]
    for command in (anonymize, check, eligibility):
        with pytest.raises(DataError) as caught:
            run(command, table, changed())
        told = "\n".join(caught.value.problems)
        assert "2 of 40 rows have none" in told and "2 of 40 rows have a weight that is not above 0" in told
        assert "1 of 40 rows have a weight above 1,000,000,000,000" in told and "333" not in told
    with pytest.raises(DataError, match="`w` is string; weights are numbers"):
        run(check, {**table, "w": ["1"] * 40}, changed())


def test_a_person_has_one_weight(run):
    """It is not added up over the person's rows; rows that disagree stop the run, also between groups."""
    table: dict[str, list[Any]] = {"who": [i // 2 for i in range(40)], "w": [10 + i // 20 for i in range(40)]}
    table |= {"age": [20 + i // 10 for i in range(40)], "ill": ["abcd"[i % 4] for i in range(40)]}
    columns = {"person": "who", "weight": "w", "quasi_identifiers": {"age": "numeric"}}
    columns |= {"sensitive": {"column": "ill", "case": "mvpi-set"}}
    spec = {"columns": columns, "privacy": {"k_anonymity": 5, "estimated_population": 50}}
    found, _ = run(eligibility, table, spec)
    assert row_of(found, "estimated_population").value == 210
    with pytest.raises(DataError, match="rows disagree about `w` within 1 of 20 people"):
        run(eligibility, {**table, "w": [99, *table["w"][1:]]}, spec, "odd")
    columns["group"], table["g"] = "g", [i % 2 for i in range(40)]
    found, _ = run(check, table, spec, "groups")
    assert row_of(found, "estimated_population").value == 210
    with pytest.raises(DataError, match="1 people have several weights"):
        run(check, {**table, "w": [99, *table["w"][1:]]}, spec, "odd")


def test_too_few_people_to_publish_anything(run):
    privacy = {"k_anonymity": K, "estimated_population": 10**9}
    with pytest.raises(InfeasibleError, match=r"estimated_population .*, needed >= 1e\+09"):
        run(anonymize, surveyed(40), changed(privacy=privacy))


@pytest.mark.slow
def test_fragments_that_stand_for_too_few_are_put_together(run, monkeypatch):
    """The driver cuts by age, and all young people together stand for too few: that cut must go."""
    monkeypatch.setattr(fragments, "FRAGMENT_ROWS", 200)
    table = surveyed(800)
    table["w"] = [0.5 if age < 30 else 40.0 for age in table["age"]]
    columns = {"quasi_identifiers": {"age": {"weight": 9}, "zip": {}}}
    found, out = run(anonymize, table, changed(columns, DEMANDED))
    sums = sums_by_group(table, out)
    assert found.ok and len(sums) > 4 and min(sums.values()) >= POPULATION * 10**6
    assert row_of(found, "estimated_population").value == min(sums.values()) / 10**6


@pytest.mark.slow
def test_nothing_depends_on_the_order_of_rows(run):
    """Verdicts, the owner's table and the files of a release; weights that nobody demands decide nothing."""
    table, files = surveyed(), []
    turned = {name: held[::-1] for name, held in table.items()}
    for name, given, privacy in (("one", table, DEMANDED), ("two", turned, DEMANDED), ("alone", table, None)):
        found, out = run(anonymize, given, changed(privacy=privacy), name)
        every = sorted(
            [*(out / "release/data").glob("*.parquet"), *(out / "private/weights").glob("*.parquet")]
        )
        files.append(([path.read_bytes() for path in every], found.verdict.rows))
    assert files[0] == files[1]
    _, without = run(anonymize, table, changed({"weight": None}), "without")
    (file,) = (without / "release/data").glob("*.parquet")
    assert file.read_bytes() == files[2][0][1]


@pytest.mark.slow
@pytest.mark.parametrize("sensitive", ["ill", ["ill", "job"]])
def test_both_writers_keep_the_same_weights(run, monkeypatch, sensitive, spark):
    """By tasks or by Spark, of one table of values or of two; what is kept is what `verify` finds."""
    table = surveyed(80)
    table["job"] = ["xyz"[i % 3] for i in range(80)]
    spec = changed({"sensitive": sensitive}, {"k_anonymity": K}, output={"form": "bucketized"})
    ours, out = run(anonymize, table, spec, "ours")
    monkeypatch.setattr("ppdp_spark.spark.release.publication.writable", lambda *_: False)
    theirs, other = run(anonymize, {name: held[::-1] for name, held in table.items()}, spec, "theirs")
    one, two = (
        pd.read_parquet(folder / "private" / "weights").sort_values(["group_id", "weight"])
        for folder in (out, other)
    )
    assert one.to_numpy().tolist() == two.to_numpy().tolist() and len(one) == 80
    assert ours.ok and ours.verdict.rows == theirs.verdict.rows and verify(other, spark=spark).ok


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "columns", "privacy", "rest"),
    [
        ("anatomy", {}, {"l_diversity": {"kind": "distinct", "l": 2}}, {"partitioner": "anatomy"}),
        ("blind", {}, {"k_anonymity": 4}, {"partitioner": "blind"}),
        ("sets", {"sensitive": {"column": "ill", "case": "mvpi-set"}}, DEMANDED, {}),
        ("homes", {"household": "home"}, {"k_anonymity": 4, "estimated_population": 300}, {}),
        ("two", {"sensitive": ["ill", "job"]}, DEMANDED, {}),
        ("coupled", {}, {"skyline": {"default": [{"l": 0, "k": 1, "m": 1, "c": 0.9}]}}, {}),
        ("suppressed", {}, {"k_anonymity": 4}, {"suppression": {"method": "r", "l": 4, "budget": 0.9}}),
    ],
)
def test_weights_go_with_whatever_else_there_is(run, spark, name, columns, privacy, rest):
    """The sums of published groups are those of the verdict, and weights are published or suppressed."""
    table = surveyed(120)
    table |= {"home": [i // 2 for i in range(120)], "job": ["xyz"[i % 3] for i in range(120)]}
    if name == "sets":
        table["ill"] = [[ill] for ill in table["ill"]]
        privacy = {"k_anonymity": 4, "estimated_population": 300}
    if name == "suppressed":
        table["ill"] = ["a" if i % 3 else ill for i, ill in enumerate(table["ill"])]
    spec = changed({"identifiers": ["id"], **columns}, privacy, **rest)
    found, out = run(anonymize, table, spec)
    facts = found.summary["release"]["weights"]
    assert facts["published"] + facts["suppressed"] == pytest.approx(facts["input"], abs=1e-9)
    kept = pd.read_parquet(out / "private" / "weights")
    sums = kept.groupby("group_id")["weight"].sum()
    assert kept["weight"].sum() / 10**6 == facts["published"] == found.metrics.weighted.population
    assert kept.groupby("group_id").size().to_dict() == published(out).groupby("group_id").size().to_dict()
    assert found.ok and row_of(found, "estimated_population").value == sums.min() / 10**6
    again = verify(out, spark=spark)
    assert again.ok and row_of(again, "estimated_population") == row_of(found, "estimated_population")
    if name in ("blind", "homes", "sets", "coupled", "two"):
        assert sums.to_dict() == sums_by_group(table, out) and facts["suppressed"] == 0
    if name == "suppressed":
        assert facts["suppressed"] > 0
