"""Passes over groups in tasks, against the same cells as arrays, however rows are cut into batches."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from ppdp_spark.errors import DataError
from ppdp_spark.spark.composition import group_passes
from ppdp_spark.spark.composition.fused_beliefs import Conclude
from ppdp_spark.spark.composition.group_passes import GroupPass
from support.core.composed_worlds import by_cells, group_values

PEOPLE, VALUES, GROUPS = 60, 5, 12
LISTS = {"code": pa.int32(), "least": pa.int64(), "most": pa.int64(), "share": pa.float64()}


@pytest.fixture(scope="module")
def released():
    rng = np.random.default_rng(3)
    truth = rng.integers(0, VALUES, PEOPLE)
    return truth, [rng.permutation(np.arange(PEOPLE) % GROUPS) for _ in range(2)]


def cells_of(releases):
    """Cells of which nothing is known yet, as Spark has them; groups are numbered from 1."""
    places, people = np.unique(np.stack(releases, 1) + 1, axis=0, return_counts=True)
    number = len(people)
    zeros = pa.array(np.zeros(number, np.int64))
    columns = {"t1": zeros, "t2": zeros, "counted": pa.array(np.ones(number, bool))}
    columns |= {"weight": pa.array(people), "people": pa.array(people)}
    columns |= {f"g{r}": pa.array(places[:, r]) for r in range(2)}
    columns["together"] = pa.array([[int(each)] * 2 for each in people])
    columns |= {name: pa.array([[]] * number, pa.list_(kind)) for name, kind in LISTS.items()}
    columns |= {"seen": pa.array(np.zeros(number, np.int32)), "before": zeros}
    told = pa.array(np.zeros(number, bool))
    return pa.table(columns | {"alone": pa.array(np.zeros(number)), "sole": told, "changed": told})


def passed(cells, truth, releases, place, *, entering, batch=7):
    """The cells after a pass, whose rows come as Spark sends them: by group, its counts first."""
    groups = group_values(releases[place], truth, VALUES)
    rows = cells.append_column("home", cells.column(f"g{place}"))
    rows = rows.append_column("cell", pa.array(np.ones(rows.num_rows, bool)))
    number, start = len(groups.size), pa.array(groups.start, pa.int32())
    head = {field.name: pa.nulls(number, field.type) for field in rows.schema}
    head |= {"home": pa.array(np.arange(number) + 1), "cell": pa.array(np.zeros(number, bool))}
    head["people"] = pa.array(groups.size)
    head["code"] = pa.ListArray.from_arrays(start, pa.array(groups.code, pa.int32()))
    head["most"] = pa.ListArray.from_arrays(start, pa.array(groups.count, pa.int64()))
    both = pa.concat_tables([rows, pa.table(head)], promote_options="permissive")
    ordered = both.sort_by([("home", "ascending"), ("cell", "ascending")]).combine_chunks()
    table = np.bincount(truth, minlength=VALUES) / len(truth)
    task = GroupPass(place, entering, table, np.ones(VALUES, bool))
    return pa.Table.from_batches(list(task(ordered.to_batches(max_chunksize=batch)))).select(
        cells.schema.names
    )


@pytest.mark.parametrize("held", [1, 1 << 16])
def test_tasks_find_what_arrays_find(monkeypatch, released, held):
    monkeypatch.setattr(group_passes, "HELD_ROWS", held)
    truth, releases = released
    cells = cells_of(releases)
    for place in range(2):
        cells = passed(cells, truth, releases, place, entering=True)
    for place in [0, 1] * 8:
        cells = passed(cells, truth, releases, place, entering=False)
    batches = cells.combine_chunks().to_batches()
    concluded = Conclude(np.ones(VALUES, bool), ("weight", "g0", "g1"))
    found = pa.Table.from_batches(list(concluded(batches))).to_pandas().set_index(["g0", "g1"])
    share, possible = by_cells(truth, releases, VALUES)
    assert (possible.sum(1) == 1).any() and (possible.sum(1) > 1).any()
    for person, place in enumerate(zip(*(groups + 1 for groups in releases), strict=True)):
        assert found.possible[place] == possible[person].sum()
        assert found.top[place] == pytest.approx(share[person].max())
        assert share[person, found.code[place]] == pytest.approx(share[person].max())


def test_a_group_of_which_nothing_is_published_stops_the_job(released):
    truth, releases = released
    cells = cells_of(releases)
    elsewhere = cells.set_column(cells.schema.get_field_index("g0"), "g0", pa.array([99] * cells.num_rows))
    with pytest.raises(DataError):
        passed(elsewhere, truth, releases, 0, entering=True)
