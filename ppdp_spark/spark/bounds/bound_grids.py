"""Grids for the bounds of ordered quasi-identifiers, and whose own value lies on a line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ppdp_spark.core.data.attributes import Attribute, Ordered
from ppdp_spark.core.data.grid import Grid, Numbers, public_step
from ppdp_spark.core.data.groups import IntArray
from ppdp_spark.errors import DataError
from ppdp_spark.spark.data.profile import Profile, quasi_value, take_part
from ppdp_spark.spark.data.tables import Roles
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.engine.tasks import in_tasks
from ppdp_spark.spark.engine.versions import to_arrow

if TYPE_CHECKING:
    from ppdp_spark.spec import ReleaseSpec


def with_grids(table: DataFrame, spec: ReleaseSpec, roles: Roles, profile: Profile) -> Profile:
    """The profile with a grid for every ordered quasi-identifier, without lines that are one person's value.

    As it is, where the spec asks for no grids. One pass over the rows, which looks at values on lines only.
    """
    if spec.output.bounds_rule != "grid":
        return profile
    grids = {j: _grid(attribute, profile.rows) for j, attribute in _ordered(profile.attributes)}
    lines = {j: grid.lines_within(*_range(profile.attributes[j])) for j, grid in grids.items()}
    once = held_once(table, spec, roles, lines)
    attributes, problems = list(profile.attributes), []
    for j, attribute in _ordered(profile.attributes):
        grid = grids[j].without(once[j])
        attributes[j] = replace(attribute, grid=grid)
        if not grid.covers(*_range(attribute)):
            problems.append(
                f"column `{attribute.name}` has one person's value at the very end of what {attribute.type} "
                "can hold, and no bound lies beyond it; replace it by null, or use a wider type"
            )
    if problems:
        raise DataError(problems)
    return replace(profile, attributes=tuple(attributes))


def _ordered(attributes: Sequence[Attribute]) -> Iterator[tuple[int, Ordered]]:
    """Ordered quasi-identifiers that have any value, by their place."""
    for j, attribute in enumerate(attributes):
        if isinstance(attribute, Ordered) and attribute.low is not None:
            yield j, attribute


def _range(attribute: Attribute) -> tuple[float | int, float | int]:
    assert isinstance(attribute, Ordered) and attribute.low is not None and attribute.high is not None
    return attribute.low, attribute.high


def _grid(attribute: Ordered, rows: int) -> Grid:
    low, high = _range(attribute)
    return Grid.over(attribute.written, public_step(attribute.written, low, high, rows), low, high)


def people_alone(
    table: DataFrame, spec: ReleaseSpec, roles: Roles, profile: Profile, printed: Mapping[str, Numbers]
) -> dict[str, int]:
    """How many of the printed values exactly one person has, by quasi-identifier.

    All of them are counted, lines of a grid too: that nobody has one of these alone is not taken on trust.
    """
    places = {attribute.name: (j, attribute) for j, attribute in _ordered(profile.attributes)}
    asked = {places[name][0]: values for name, values in printed.items() if name in places}
    once = held_once(table, spec, roles, asked)
    return {name: len(once[j]) for name, (j, _) in places.items() if j in once}


def held_once(
    table: DataFrame, spec: ReleaseSpec, roles: Roles, asked: Mapping[int, Numbers]
) -> dict[int, Numbers]:
    """Of the values asked about, those that exactly one of the people who take part has.

    where
        asked  values by the place of the quasi-identifier, in physical form
    """
    wanted = {j: values for j, values in asked.items() if len(values)}
    found = {j: values[:0] for j, values in asked.items()}
    if not wanted:
        return found
    names = list(roles.kinds)
    rows = table.where(take_part(table, spec, roles)) if spec.nulls == "suppress" else table
    shown = rows.select(
        *(quasi_value(names[j], roles.kinds[names[j]], table).alias(C.code(j)) for j in wanted)
    )
    task = CountValues({j: np.sort(as_bits(values)) for j, values in wanted.items()})
    counted = in_tasks(shown, task, "place int, bits bigint, people bigint").groupBy("place", "bits")
    once = to_arrow(counted.agg(F.sum("people").alias("people")).where(F.col("people") == 1))
    place, bits = (once.column(name).to_numpy() for name in ("place", "bits"))
    for j, values in wanted.items():
        found[j] = np.sort(bits[place == j].view(values.dtype))
    return found


def as_bits(values: Numbers) -> IntArray:
    """Physical numbers as 64-bit integers that are equal where the numbers are."""
    return np.ascontiguousarray(values).view(np.int64)


@dataclass(frozen=True, eq=False)
class CountValues:
    """How many rows of a partition have each of the values asked about, those that any has.

    A row may have several values, each once.

    where
        asked  for each column `q0`, `q1`, … by its place: the bits of values, ascending
    """

    asked: Mapping[int, NDArray[np.int64]]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        counts = {j: np.zeros(len(values), np.int64) for j, values in self.asked.items()}
        for batch in batches:
            for j, values in self.asked.items():
                held = batch.column(C.code(j))
                held = held.flatten() if pa.types.is_list(held.type) else held
                bits = as_bits(held.drop_null().to_numpy(zero_copy_only=False))
                place = np.minimum(np.searchsorted(values, bits), len(values) - 1)
                counts[j] += np.bincount(place[values[place] == bits], minlength=len(values))
        for j, people in counts.items():
            some = np.flatnonzero(people)
            yield pa.RecordBatch.from_pydict(
                {
                    "place": pa.array(np.full(len(some), j), pa.int32()),
                    "bits": pa.array(self.asked[j][some]),
                    "people": pa.array(people[some]),
                }
            )
