"""Releases once called safe that were not: records of sets, and values of one name."""

from __future__ import annotations

import json
import random
from decimal import Decimal
from fractions import Fraction
from itertools import combinations

import pyarrow as pa
import pytest

from ppdp_spark import anonymize, check, explore, verify
from ppdp_spark.errors import InfeasibleError, SpecError
from support.released.published_records import AGES, POINT, published


def breach_of_records(groups, value, length):
    """The largest P(value | the ℓ values come only with it), records of a group dealt at random."""
    best = Fraction(0)
    for records in groups:
        others = sorted({x for record in records for x in record} - {value})
        for known in combinations(others, min(length, len(others))):
            left = [record for record in records if value in record or not set(known) & set(record)]
            if left:
                best = max(best, Fraction(sum(value in record for record in left), len(left)))
    return best


def records_by_group(out):
    groups = {}
    for row in published(out):
        groups.setdefault(row["group_id"], []).append(tuple(row["cond"]))
    return list(groups.values())


class TestRecords:
    """Sets in generalized releases stand side by side in a row."""

    @pytest.mark.parametrize("case", ["mvpi-set", "mvpi-multiset"])
    def test_a_certain_conclusion_from_whole_records_is_refused(self, run, case):
        columns = {"age": [30] * 4, "cond": [["s"], ["x"], ["x"], ["x"]]}
        skyline = {"values": {"s": [{"l": 1, "k": 0, "m": 0, "c": 0.7}]}}
        spec = {
            "columns": {**AGES, "sensitive": {"column": "cond", "case": case}},
            "privacy": {"skyline": skyline},
        }
        with pytest.raises(InfeasibleError, match="skyline"):
            run(anonymize, columns, spec)
        bucketized, _ = run(anonymize, columns, {**spec, "output": {"form": "bucketized"}}, "apart")
        (row,) = [row for row in bucketized.verdict.rows if row.criterion == "skyline"]
        ratio = Fraction(3, 4) if case == "mvpi-set" else 3 * Fraction(3, 4) ** 3
        assert row.value == pytest.approx(float(1 / (1 + ratio)))
        judged, _ = run(check, columns, spec, "checked")
        (row,) = [row for row in judged.verdict.rows if row.criterion == "skyline"]
        assert (row.value, row.status) == (1.0, "fail")

    @pytest.mark.parametrize("case", [pytest.param("mvpi-set", marks=pytest.mark.slow), "mvpi-multiset"])
    def test_no_published_record_is_beyond_the_confidence(self, run, case):
        rng = random.Random(case)
        conditions = ["asthma", "cough", "flu", "HIV", "TB"]
        records = [[x for x in conditions if rng.random() < 0.25] for _ in range(400)]
        records = [[*r, *r[:1]] if case == "mvpi-multiset" else r for r in records]
        columns = {"age": [rng.randint(20, 60) for _ in records], "cond": pa.array(records)}
        points = [{"l": l, "k": 0, "m": 0, "c": c} for l, c in ((0, 0.5), (1, 0.6), (2, 0.8))]
        spec = {
            "columns": {**AGES, "sensitive": {"column": "cond", "case": case}},
            "privacy": {"k_anonymity": 5, "skyline": {"default": points}},
        }
        done, out = run(anonymize, columns, spec)
        assert done.ok
        groups = records_by_group(out)
        assert len(groups) > 5
        told = {row.level: Fraction(row.value) for row in done.verdict.rows if row.criterion == "skyline"}
        for value in conditions:
            for point in points:
                truth = breach_of_records(groups, value, point["l"])
                assert truth < point["c"]
                stated = told[f"σ = {value}, (ℓ, k, m) = ({point['l']}, 0, 0)"]
                assert truth <= stated + Fraction(1, 10**9)
                assert point["l"] or truth == pytest.approx(float(stated))

    def test_a_value_twice_in_a_multiset_is_one_person(self, run):
        columns = {"age": [30] * 4, "cond": [["s", "s", "s"], ["x"], ["x"], ["y"]]}
        spec = {
            "columns": {**AGES, "sensitive": {"column": "cond", "case": "mvpi-multiset"}},
            "privacy": {"skyline": {"values": {"s": [{"l": 0, "k": 0, "m": 0, "c": 0.3}]}}},
        }
        done, out = run(anonymize, columns, spec)
        assert done.ok
        assert sorted(map(len, records_by_group(out)[0])) == [1, 1, 1, 3]
        assert verify(out).ok


class TestNamesOfValues:
    """A value that a spec names must be one that occurs."""

    @pytest.mark.parametrize(
        ("values", "name", "near"),
        [(["HIV", "flu"], "Hiv", "HIV"), (["HIV", "flu"], "HIV ", "HIV"), (["HIV", "flu"], "cancer", None)],
    )
    def test_a_name_that_no_row_has_stops_every_command(self, run, values, name, near):
        columns = {"age": list(range(20, 60)), "d": values * 20}
        spec = {
            "columns": {**AGES, "sensitive": "d"},
            "privacy": {"k_anonymity": 2, "skyline": {"values": {name: [POINT]}}},
        }
        for command in (anonymize, check, explore):
            with pytest.raises(SpecError) as told:
                run(command, columns, spec, command.__name__)
            assert f"did you mean `{near}`?" in str(told.value) or near is None
            assert "may_be_absent" in str(told.value)

    @pytest.mark.parametrize(
        ("column", "name"),
        [
            pytest.param(pa.array([5.0, 6.0] * 20), 5, marks=pytest.mark.slow),
            (pa.array([Decimal("5.00"), Decimal("6.00")] * 20, pa.decimal128(5, 2)), 5),
            pytest.param(pa.array([True, False] * 20), "True", marks=pytest.mark.slow),
            (pa.array([True, False] * 20), True),
            (pa.array([1e10, 2.0] * 20), 10000000000),
        ],
    )
    def test_numbers_and_booleans_are_compared_as_such(self, run, column, name):
        columns = {"age": list(range(20, 60)), "d": column}
        spec = {
            "columns": {**AGES, "sensitive": "d"},
            "privacy": {"skyline": {"values": {name: [{**POINT, "c": 0.8}]}}},
        }
        done, out = run(anonymize, columns, spec)
        assert done.ok
        assert done.summary["release"]["groups"] < 20
        assert verify(out).ok

    def test_what_may_be_absent_may(self, run):
        columns = {"age": list(range(20, 60)), "d": ["HIV", "flu"] * 20}
        skyline = {"values": {"cancer": [POINT]}, "may_be_absent": ["cancer"]}
        spec = {"columns": {**AGES, "sensitive": "d"}, "privacy": {"k_anonymity": 4, "skyline": skyline}}
        assert run(anonymize, columns, spec)[0].ok
        with pytest.raises(InfeasibleError, match="shown alone"):
            run(anonymize, columns, {**spec, "privacy": {"skyline": skyline}}, "nothing")

    def test_a_release_that_promises_nothing_does_not_verify(self, run):
        columns = {"age": list(range(20, 60)), "d": ["HIV", "flu"] * 20}
        spec = {"columns": {**AGES, "sensitive": "d"}, "privacy": {"k_anonymity": 4}}
        _, out = run(anonymize, columns, spec)
        manifest = out / "release" / "release.json"
        told = json.loads(manifest.read_text())
        told["privacy"] = {"skyline": {"values": {"Hiv": [POINT]}, "default": []}}
        manifest.write_text(json.dumps(told))
        found = verify(out)
        assert [row.criterion for row in found.verdict.failures] == ["guarantees"]
