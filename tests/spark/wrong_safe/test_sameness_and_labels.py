"""Releases once called safe that were not: values that print alike, and forged labels."""

from __future__ import annotations

import pyarrow.parquet as pq
import pytest

from ppdp_spark import anonymize, check
from ppdp_spark.errors import DataError, InfeasibleError
from support.released.published_records import AGES, published


class TestSameness:
    """−0.0 is 0.0 and NaN is null, in every column and command."""

    def test_two_zeros_are_one_value(self, run):
        columns = {"age": list(range(20, 40)), "d": [0.0, -0.0] * 10}
        privacy = {"l_diversity": {"kind": "distinct", "l": 2}}
        with pytest.raises(InfeasibleError):
            run(anonymize, columns, {"columns": {**AGES, "sensitive": "d"}, "privacy": privacy})
        table = {"g": [1, 1, 2, 2], "d": [0.0, -0.0, -0.0, 0.0]}
        judged, _ = run(check, table, {"columns": {"group": "g", "sensitive": "d"}, "privacy": privacy}, "c")
        assert not judged.ok

    def test_zeros_in_sets_are_one_value(self, run):
        columns = {"age": [30] * 4, "cond": [[0.0, -0.0], [-0.0], [1.0], []]}
        spec = {
            "columns": {**AGES, "sensitive": {"column": "cond", "case": "mvpi-set"}},
            "privacy": {"skyline": {"default": [{"l": 0, "k": 0, "m": 0, "c": 0.6}]}},
            "output": {"form": "bucketized"},
        }
        _, out = run(anonymize, columns, spec)
        counted = pq.read_table(out / "release" / "data" / "sensitive").to_pylist()
        assert [(row["cond"], row["count"]) for row in counted] == [(0.0, 2), (1.0, 1)]

    def test_nan_is_a_null(self, run):
        nan = float("nan")
        columns = {"age": list(range(20, 40)), "d": [1.0, nan, 2.0, None] * 5}
        spec = {"columns": {**AGES, "sensitive": "d"}, "privacy": {"k_anonymity": 2}}
        done, out = run(anonymize, columns, {**spec, "nulls": "suppress"})
        assert {row["d"] for row in published(out)} == {1.0, 2.0}
        assert done.summary["release"]["suppressed"]["nulls"] == 10
        (absent,) = (row for row in done.verdict.rows if row.criterion == "absent_people")
        assert absent.witness == {"people": 10, "with this value": 10, "value": "no value"}
        with pytest.raises(DataError, match=r"`d` has 10 rows with null or NaN"):
            run(anonymize, columns, {**spec, "nulls": "error"}, "error")
        table = {"g": [1, 1, 2, 2], "d": [nan, None, nan, None]}
        diverse = {"l_diversity": {"kind": "distinct", "l": 2}}
        judged, _ = run(check, table, {"columns": {"group": "g", "sensitive": "d"}, "privacy": diverse}, "c")
        assert not judged.ok

    def test_nan_inside_an_array_is_a_null(self, run):
        columns = {"age": list(range(20, 24)), "d": [[1.0, float("nan")], [1.0], [2.0], [2.0]]}
        spec = {
            "columns": {**AGES, "sensitive": {"column": "d", "case": "mvpi-set"}},
            "privacy": {"k_anonymity": 2},
            "nulls": "error",
        }
        with pytest.raises(DataError, match=r"`d` has 1 rows with null or NaN"):
            run(anonymize, columns, spec)


class TestLabels:
    """Different things have different names."""

    def test_null_and_the_text_of_its_name(self, run):
        values = [None if i % 8 == 0 else "(null)" if i % 4 == 1 else "flu" for i in range(40)]
        columns = {"age": list(range(20, 60)), "d": values}
        default, strict = {"l": 0, "k": 0, "m": 0, "c": 1.0}, {"l": 0, "k": 2, "m": 0, "c": 0.5}
        for name in ("(null)", r"\(null)"):
            skyline = {"default": [default], "values": {name: [strict]}}
            spec = {"columns": {**AGES, "sensitive": "d"}, "privacy": {"skyline": skyline}}
            done, _ = run(anonymize, columns, spec, f"run{len(name)}")
            levels = {row.level: row.threshold for row in done.verdict.rows if row.criterion == "skyline"}
            assert levels[f"σ = {name}, (ℓ, k, m) = (0, 2, 0)"] == 0.5
            assert len(levels) == 3

    def test_sets_of_odd_categories(self, run):
        odd = ["a", "b", "a, b", "{a", "b}", "{a, b}", "a or null", "\\", "\\ or null", ""]
        columns = {"q": [*odd, *odd, None, None], "d": ["x", "y"] * 11}
        spec = {
            "columns": {"quasi_identifiers": {"q": "categorical"}, "sensitive": "d"},
            "privacy": {"k_anonymity": 4},
        }
        _, out = run(anonymize, columns, spec)
        groups = {row["group_id"]: row["q"] for row in published(out)}
        assert len(groups) > 2
        told = [read_label(label) for label in groups.values()]
        assert sorted(x for group in told for x in group if x is not None) == sorted(odd)
        assert sum(None in group for group in told) == 1


def read_label(label):
    """The categories that a label stands for, null as None, read as the documentation says."""
    if label is None:
        return {None}
    held, text, at, parts, braced = set(), "", 0, [], label.startswith("{")
    if braced:
        at = 1
    while at < len(label):
        if label[at] == "\\":
            text, at = text + label[at + 1], at + 2
        elif (braced and label[at] == ",") or label[at] == "}":
            parts.append(text)
            text, at = "", at + (2 if label[at] == "," else 1)
            braced = label[at - 1] != "}"
        elif label[at:] == " or null":
            held.add(None)
            break
        else:
            text, at = text + label[at], at + 1
    return held | set(parts if label.startswith("{") else [text])
