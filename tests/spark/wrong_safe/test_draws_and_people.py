"""Releases once called safe that were not: repeated draws, people twice, priors, promises."""

from __future__ import annotations

import json
from typing import ClassVar

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ppdp_spark import anonymize, check, explore, suppress, verify
from ppdp_spark.commands.sweep import sweep
from ppdp_spark.errors import BudgetError, DataError, InfeasibleError, SpecError
from ppdp_spark.spark.data.identifiers import repeats_told, some_hash_repeats
from support.released.published_records import AGES, POINT


class TestTheSameDraw:
    """Running again on the same data does not draw anew."""

    SKEWED = ("a",) * 60 + ("b",) * 24 + ("c",) * 12 + ("d",) * 6 + ("e",) * 6

    def spec(self, budget):
        return {
            "columns": {**AGES, "sensitive": "d"},
            "privacy": {"k_anonymity": 2},
            "suppression": {"method": "r", "l": 3, "budget": budget},
            "output": {"overwrite": True},
        }

    def columns(self):
        return {"age": list(range(len(self.SKEWED))), "d": list(self.SKEWED)}

    def test_kept_rows_are_the_same_at_every_run(self, run, tmp_path):
        kept = []
        for _ in range(2):
            run(suppress, self.columns(), self.spec(1.0))
            kept.append(sorted(pq.read_table(tmp_path / "out" / "private" / "kept")["age"].to_pylist()))
        assert kept[0] == kept[1]
        assert len(kept[0]) < len(self.SKEWED)
        key = tmp_path / ".releases" / "draw.key"
        assert key.stat().st_mode & 0o777 == 0o600
        key.unlink()
        others = set()
        for _ in range(8):
            if len(others) > 1:
                break
            run(suppress, self.columns(), self.spec(1.0))
            key.unlink()
            others.add(tuple(sorted(pq.read_table(tmp_path / "out" / "private" / "kept")["age"].to_pylist())))
        assert len(others) > 1

    def test_another_name_of_the_dataset_draws_the_same(self, run, tmp_path):
        kept = []
        for name in ("out", "renamed"):
            run(suppress, self.columns(), self.spec(1.0), name)
            kept.append(sorted(pq.read_table(tmp_path / name / "private" / "kept")["age"].to_pylist()))
        assert kept[0] == kept[1]

    def test_the_variants_of_a_sweep_draw_as_their_release_does(self, run, spark, tmp_path):
        done, _ = run(anonymize, self.columns(), self.spec(1.0))
        path = tmp_path / "spec.json"
        given = {"version": 1, "dataset": "out", "input": {"path": str(tmp_path / "out.parquet")}}
        given |= {**self.spec(1.0), "output": {"path": str(tmp_path / "out")}}
        path.write_text(json.dumps(given))
        swept = sweep(path, {"privacy.k_anonymity": [2, 3]}, spark=spark)
        gone = [choice.run.summary["release"]["suppressed"]["total"] for choice in swept.choices]
        assert gone == [done.summary["release"]["suppressed"]["total"]] * 2
        assert not (tmp_path / "out" / "sweep" / ".releases").exists()

    def test_after_a_budget_error_the_next_run_draws_the_same(self, run):
        rates = []
        for _ in range(2):
            with pytest.raises(BudgetError, match="draws the same") as told:
                run(anonymize, self.columns(), self.spec(0.01))
            rates.append(str(told.value))
        assert len(set(rates)) == 1

    def test_a_damaged_key_is_told(self, run, tmp_path):
        (tmp_path / ".releases").mkdir()
        (tmp_path / ".releases" / "draw.key").write_text("none")
        with pytest.raises(DataError, match="is damaged"):
            run(suppress, self.columns(), self.spec(1.0))


class TestOneRowEach:
    """Two people with six rows each are two people."""

    COLUMNS: ClassVar = {
        "person": ["alice"] * 6 + ["bob"] * 6,
        "visit": list(range(12)),
        "age": [30] * 6 + [60] * 6,
        "disease": ["flu", "hiv", "cold", "asthma", "gout", "angina"] * 2,
    }

    def spec(self, *identifiers, **more):
        return {
            "columns": {"identifiers": list(identifiers), **AGES, "sensitive": "disease", **more},
            "privacy": {"k_anonymity": 6, "l_diversity": {"kind": "distinct", "l": 6}},
        }

    @pytest.mark.parametrize("command", [anonymize, check, explore])
    def test_a_repeated_identifier_stops_the_run(self, run, command):
        with pytest.raises(
            DataError, match="2 values of `person` stand on several rows, one of them on 6"
        ) as told:
            run(command, self.COLUMNS, self.spec("visit", "person"))
        assert "alice" not in str(told.value) and "`visit`" not in str(told.value)
        assert "may_repeat" in str(told.value) and "mvpi-set" in str(told.value)

    def test_suppress_stops_too(self, run):
        spec = {**self.spec("person"), "suppression": {"method": "r", "l": 2, "budget": 1}}
        with pytest.raises(DataError, match="`person`"):
            run(suppress, self.COLUMNS, spec)

    def test_what_does_not_tell_people_apart_may_repeat(self, run):
        assert run(anonymize, self.COLUMNS, self.spec("visit", "person", may_repeat=["person"]))[0].ok
        with pytest.raises(SpecError, match=r"`columns.may_repeat.0` \(persn\).*did you mean `person`"):
            run(anonymize, self.COLUMNS, self.spec("person", may_repeat=["persn"]))

    def test_all_identifiers_are_told_at_once(self, run):
        columns = {**self.COLUMNS, "number": [None, None, *range(10)], "zero": [0.0, -0.0, *range(1, 11)]}
        with pytest.raises(DataError) as told:
            run(anonymize, columns, self.spec("person", "number", "zero", "visit"))
        text = str(told.value)
        assert "1 values of `number` stand on several rows, one of them on 2 (2 rows have none)" in text
        assert "1 values of `zero` stand on several rows" in text and "2 values of `person`" in text

    def test_a_collision_of_hashes_is_not_a_repeat(self, spark):
        from pyspark.sql import functions as F

        table = spark.range(10).repartition(4)
        assert some_hash_repeats(table, F.col("id") % 9)
        assert not some_hash_repeats(table, F.xxhash64("id"))
        assert repeats_told(table, "id", F.col("id")) is None

    def test_what_cannot_be_compared_is_told(self, run):
        columns = {**self.COLUMNS, "m": pa.array([[("a", 1)]] * 12, pa.map_(pa.string(), pa.int64()))}
        with pytest.raises(DataError, match="`m` is map<string,bigint>, which cannot be compared"):
            run(anonymize, columns, self.spec("m"))


class TestSuppliedPriors:
    """A misspelt value in a table of priors would leave the value it was meant for unprotected."""

    COLUMNS: ClassVar = {
        "sex": ["m"] * 30 + ["f"] * 30,
        "age": list(range(30)) * 2,
        "d": ["HIV"] * 30 + ["b"] * 30,
    }

    def spec(self, folder, entries, **more):
        path = folder / "priors.csv"
        lines = ["sex,value,probability", *(",".join(map(str, entry)) for entry in entries)]
        path.write_text("\n".join(lines) + "\n")
        prior = {"attributes": ["sex"], "path": str(path), **more}
        return {
            "columns": {"quasi_identifiers": {"sex": "categorical", "age": "numeric"}, "sensitive": "d"},
            "privacy": {"robustness": {"r": 2, "model": "joint", "priors": [prior]}},
            "suppression": {"budget": 1.0},
            "output": {"form": "bucketized"},
        }

    def test_unknown_values_are_named_with_the_nearest(self, run, tmp_path):
        told = [("m", "Hiv", 0.9), ("m", "B", 0.01), ("f", "Hiv", 0.01), ("f", "B", 0.9)]
        with pytest.raises(DataError, match="`Hiv`, which no row has; did you mean `HIV`") as caught:
            run(anonymize, self.COLUMNS, self.spec(tmp_path, told))
        assert "`B`" in str(caught.value) and not (tmp_path / "out" / "release").exists()
        with pytest.raises(DataError, match="did you mean `HIV`"):
            run(check, self.COLUMNS, self.spec(tmp_path, told), "checked")

    def test_values_that_may_be_absent_are(self, run, tmp_path):
        shares = {"HIV": 0.4, "b": 0.4, "TB": 0.2}
        told = [(sex, value, share) for sex in "mf" for value, share in shares.items()]
        done, _ = run(anonymize, self.COLUMNS, self.spec(tmp_path, told, may_be_absent=["TB"]))
        assert done.ok

    def test_values_are_compared_as_numbers(self, run, tmp_path):
        columns = {"g": [1] * 6, "sex": ["m"] + ["f"] * 5, "d": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]}
        values = []
        for written in ("1", "1.0"):
            spec = self.spec(tmp_path, [("m", written, 0.9), ("f", written, 0.01)])
            spec["columns"] = {"group": "g", "quasi_identifiers": {"sex": "categorical"}, "sensitive": "d"}
            judged, _ = run(check, columns, spec, f"by{len(values)}")
            (row,) = [row for row in judged.verdict.rows if row.criterion == "robustness"]
            values.append((row.value, row.status))
        assert values[0] == values[1] and values[0][1] == "fail" and values[0][0] > 0.9


class TestPromises:
    """A verdict without a promise is not a pass."""

    @pytest.mark.parametrize("command", [check, explore])
    def test_only_absent_values(self, run, command):
        columns = {"g": [1, 1, 2, 2], "d": ["HIV", "flu", "HIV", "flu"]}
        skyline = {"values": {"Hiv": [POINT]}, "may_be_absent": ["Hiv"]}
        spec = {"columns": {"group": "g", "sensitive": "d"}, "privacy": {"skyline": skyline}}
        judged, _ = run(command, columns, spec)
        assert not judged.ok

    @pytest.mark.parametrize(
        "privacy",
        [
            {"t_closeness": {"t": 1.0}},
            pytest.param({"t_closeness": {"t": 1.0, "distance": "ordered"}}, marks=pytest.mark.slow),
            {"beta_likeness": {"beta": 1000, "kind": "basic"}},
        ],
    )
    def test_criteria_that_people_alone_satisfy(self, run, tmp_path, privacy):
        columns = {"age": list(range(20, 60)), "d": ["HIV", "flu", "gout", "TB"] * 10}
        spec = {"columns": {**AGES, "sensitive": "d"}, "privacy": privacy}
        with pytest.raises(InfeasibleError, match="guarantees"):
            run(anonymize, columns, spec)
        assert not (tmp_path / "out" / "release").exists()
        done, _ = run(anonymize, columns, {**spec, "privacy": {**privacy, "k_anonymity": 4}}, "with-k")
        assert done.ok

    def test_old_releases_that_name_a_value_nobody_has(self, run, spark):
        columns = {"age": list(range(20, 60)), "d": ["HIV", "flu"] * 20}
        skyline = {"default": [{"l": 0, "k": 0, "m": 0, "c": 0.9}]}
        spec = {"columns": {**AGES, "sensitive": "d"}, "privacy": {"skyline": skyline}}
        _, out = run(anonymize, columns, spec)
        assert verify(str(out), spark=spark).ok
        path = out / "release" / "release.json"
        manifest = json.loads(path.read_text())
        manifest["privacy"]["skyline"]["values"] = {"Hiv": [POINT]}
        path.write_text(json.dumps(manifest))
        assert "named_values" not in {row.criterion for row in verify(str(out), spark=spark).verdict.rows}
        path.write_text(json.dumps({**manifest, "version": "0.1.0"}))
        rows = verify(str(out), spark=spark).verdict.rows
        assert [row.level for row in rows if row.criterion == "named_values"] == ["σ = Hiv occurs"]


def test_a_null_set_is_a_set_of_one_null(run):
    columns = {"g": [1] * 4 + [2] * 4, "d": [None] * 4 + [["a"], ["b"], ["c"], []]}
    points = [{"l": 0, "k": 0, "m": 0, "c": 0.6}]
    spec = {
        "columns": {"group": "g", "sensitive": {"column": "d", "case": "mvpi-set"}},
        "privacy": {"skyline": {"default": points}},
    }
    judged, _ = run(check, columns, spec)
    found = {row.level: row.value for row in judged.verdict.rows if row.status == "fail"}
    assert found == {"σ = (null), (ℓ, k, m) = (0, 0, 0)": 1.0}
