"""Spoiled releases: the oracle must object to each, or its silence on good ones means nothing."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support.oracle.criteria import findings
from support.oracle.judging import agree, examine
from support.oracle.reading import Objection
from support.oracle.tables import Trial

Rows = list[dict[str, Any]]


def good(case: str, form: str) -> tuple[Trial, dict[str, Rows]]:
    """Six people in two groups, safe under all that is demanded, and their published tables."""
    single = case == "svpi"
    values = ["x", "y", "z", "x", "y", "z"]
    column = values if single else [[v] for v in values]
    kind = pa.string() if single else pa.list_(pa.string())
    table = pa.table({"age": [1, 2, 3, 7, 8, 9], "sex": list("fmffmf"), "s": pa.array(column, kind)})
    privacy: dict[str, Any] = {"k_anonymity": 3}
    privacy["skyline"] = {"default": [{"l": 0, "k": 1, "m": 0, "c": 0.8}]}
    if single:
        privacy["l_diversity"] = {"kind": "distinct", "l": 3}
    document = {
        "columns": {
            "quasi_identifiers": {"age": {"type": "numeric"}, "sex": {"type": "categorical"}},
            "sensitive": {"column": "s", "case": case},
        },
        "nulls": "category",
        "privacy": privacy,
        "output": {"form": form},
    }
    groups = [1, 1, 1, 2, 2, 2]
    if form == "bucketized":
        people = [
            {"group_id": g, **row} for g, row in zip(groups, table.drop(["s"]).to_pylist(), strict=True)
        ]
        counts = [{"group_id": g, "s": v, "count": 1} for g, v in zip(groups, values, strict=True)]
        return Trial(0, table, document), {"qi": people, "sensitive": counts}
    low, high = {1: 1, 2: 7}, {1: 3, 2: 9}
    rows = [
        {
            "group_id": g,
            "age": f"[{low[g]}-{high[g]}]",
            "age_min": low[g],
            "age_max": high[g],
            "sex": "{f, m}",
            "s": v,
        }
        for g, v in zip(groups, column, strict=True)
    ]
    return Trial(0, table, document), {"": rows}


def written(folder: Path, tables: dict[str, Rows]) -> Path:
    """The tables as a release folder."""
    for name, rows in tables.items():
        data = folder / "release" / "data" / name
        data.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.Table.from_pylist(rows), data / "part.parquet")
    (folder / "release" / "release.json").write_text(json.dumps({}))
    return folder


def move_a_value(tables: dict[str, Rows]) -> None:
    rows = tables.get("", tables.get("sensitive", []))
    rows[0]["s"], rows[4]["s"] = rows[4]["s"], rows[0]["s"]


def drop_a_row(tables: dict[str, Rows]) -> None:
    tables.get("", tables.get("qi", [])).pop()


def repeat_a_row(tables: dict[str, Rows]) -> None:
    rows = tables.get("", tables.get("qi", []))
    rows.append(dict(rows[0]))


def change_a_value(tables: dict[str, Rows]) -> None:
    rows = tables.get("", tables.get("sensitive", []))
    rows[0]["s"] = "w" if isinstance(rows[0]["s"], str) else ["w"]


def narrow_a_range(tables: dict[str, Rows]) -> None:
    for row in tables[""][:3]:
        row.update(age="[1-2]", age_max=2)


def misprint_a_label(tables: dict[str, Rows]) -> None:
    for row in tables[""][:3]:
        row["age"] = "[1-4]"


def swap_labels(tables: dict[str, Rows]) -> None:
    for row in tables[""]:
        row.update(age="[7-9]" if row["group_id"] == 1 else "[1-3]")


def two_descriptions(tables: dict[str, Rows]) -> None:
    tables[""][0].update(age="[1-4]", age_max=4)


def describe_as_one_category(tables: dict[str, Rows]) -> None:
    for row in tables[""][:3]:
        row["sex"] = "f"


def leave_a_label_open(tables: dict[str, Rows]) -> None:
    for row in tables[""][:3]:
        row["sex"] = "{f, m"


def split_a_group(tables: dict[str, Rows]) -> None:
    for row in tables.get("", tables.get("qi", []))[2:3] + tables.get("sensitive", [])[2:3]:
        row["group_id"] = 3


def move_a_person(tables: dict[str, Rows]) -> None:
    tables["qi"][0]["group_id"] = 2


def count_twice(tables: dict[str, Rows]) -> None:
    tables["sensitive"][0]["count"] = 2


def name_a_value_twice(tables: dict[str, Rows]) -> None:
    tables["sensitive"][1]["s"] = tables["sensitive"][0]["s"]


BOTH = [move_a_value, drop_a_row, repeat_a_row, change_a_value, split_a_group]
GENERALIZED = [
    *BOTH,
    narrow_a_range,
    misprint_a_label,
    swap_labels,
    two_descriptions,
    describe_as_one_category,
    leave_a_label_open,
]
BUCKETIZED = [*BOTH, move_a_person, count_twice, name_a_value_twice]
SPOILED = [("generalized", spoil) for spoil in GENERALIZED] + [("bucketized", spoil) for spoil in BUCKETIZED]


@pytest.mark.parametrize("form", ["generalized", "bucketized"])
@pytest.mark.parametrize("case", ["svpi", "mvpi-set", "mvpi-multiset"])
def test_a_good_release_passes(tmp_path, case, form):
    trial, tables = good(case, form)
    assert len(examine(written(tmp_path, tables), trial)) == 2


@pytest.mark.parametrize("case", ["svpi", "mvpi-set", "mvpi-multiset"])
@pytest.mark.parametrize(("form", "spoil"), SPOILED)
def test_a_spoiled_release_is_objected_to(
    tmp_path, case: str, form: str, spoil: Callable[[dict[str, Rows]], None]
):
    trial, tables = good(case, form)
    spoil(tables)
    with pytest.raises(Objection):
        examine(written(tmp_path, tables), trial)


def test_two_merged_groups_show_too_wide_a_range(tmp_path):
    trial, tables = good("svpi", "generalized")
    for row in tables[""]:
        row.update(group_id=1, age="[1-3]", age_min=1, age_max=3)
    with pytest.raises(Objection, match="place"):
        examine(written(tmp_path, tables), trial)


def test_records_that_should_have_been_cut(tmp_path):
    """HIV always beside TB: whoever has TB only with HIV has HIV, which the counts alone do not tell."""
    trial, tables = good("mvpi-set", "generalized")
    document = copy.deepcopy(trial.document)
    document["privacy"] = {"skyline": {"values": {"x": [{"l": 1, "k": 0, "m": 0, "c": 0.7}]}}}
    records = [["x", "y"], ["z"], ["z"], ["x", "y"], ["z"], ["z"]]
    table = trial.table.set_column(2, "s", pa.array(records, pa.list_(pa.string())))
    for row, record in zip(tables[""], records, strict=True):
        row["s"] = record
    with pytest.raises(Objection, match="broken"):
        examine(written(tmp_path, tables), Trial(0, table, document))


def test_a_verdict_that_tells_another_value(tmp_path):
    trial, tables = good("svpi", "generalized")
    found = findings(examine(written(tmp_path, tables), trial), trial.document)

    class Row:
        def __init__(self, one: Any, more: float) -> None:
            self.criterion, self.level, self.value = one.criterion, one.level, one.value + more

    agree(found, [Row(one, 0) for one in found])
    for changed in range(len(found)):
        with pytest.raises(Objection):
            agree(found, [Row(one, 1e-6 * (at == changed)) for at, one in enumerate(found)])
    with pytest.raises(Objection):
        agree(found, [Row(one, 0) for one in found[1:]])
