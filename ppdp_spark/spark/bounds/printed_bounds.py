"""The bounds that a release prints, read from its files, and the verdict on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T

from ppdp_spark.core.criteria.base import VerdictRow
from ppdp_spark.core.data.grid import Grid, Numbers, Scale, Step
from ppdp_spark.errors import DataError
from ppdp_spark.run.storage import MANIFEST, Folder
from ppdp_spark.spark.bounds.bound_grids import as_bits
from ppdp_spark.spark.data.physical import to_physical
from ppdp_spark.spark.data.tables import KINDS
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.engine.tasks import in_tasks
from ppdp_spark.spark.engine.versions import to_arrow
from ppdp_spark.spark.parquet.read_folder import read_folder

ON_GRID, PRINTED = "bounds_on_grid", "printed_values"

MOST_LINES = 10_000_000
"""More lines than any grid of ours has: a manifest that asks for more is not believed."""

NO_ORIGINAL = (
    "who has a value alone shows in the original table only: see the verdict of the run that made this"
)


@dataclass(frozen=True, eq=False)
class PrintedBounds:
    """Distinct ends of the published ranges of one quasi-identifier, in physical form, ascending."""

    scale: Scale
    lows: Numbers
    highs: Numbers

    @property
    def all(self) -> Numbers:
        return np.union1d(self.lows, self.highs)

    def off(self, step: Step) -> int:
        """How many of them are on no line of the step."""
        if not self.all.size:
            return 0
        if (float(self.all[-1]) - float(self.all[0])) / float(step.length(self.scale)) > MOST_LINES:
            return len(self.all)
        grid = Grid.over(self.scale, step, self.all[0], self.all[-1])
        return int((~np.isin(self.lows, grid.lows)).sum() + (~np.isin(self.highs, grid.highs)).sum())


def read_bounds(spark: SparkSession, data: Folder, names: list[str]) -> dict[str, PrintedBounds]:
    """The bounds in the files of a generalized release, by quasi-identifier."""
    if not names:
        return {}
    table = read_folder(spark, data)
    scales = {name: _scale(table, f"{name}_min") for name in names}
    shown = [
        to_physical(C.column(f"{name}_{end}"), scale.kind, scale.places).alias(f"b{2 * i + side}")
        for i, (name, scale) in enumerate(scales.items())
        for side, end in enumerate(("min", "max"))
    ]
    found = in_tasks(table.select(*shown), DistinctNumbers(len(shown)), "place int, bits bigint").distinct()
    listed = to_arrow(found)
    place, bits = (listed.column(name).to_numpy() for name in ("place", "bits"))
    ends = [
        np.sort(bits[place == i].view(np.float64 if scale.kind == "float" else np.int64))
        for i, scale in enumerate(scale for scale in scales.values() for _ in range(2))
    ]
    pairs = zip(ends[::2], ends[1::2], strict=True)
    return {name: PrintedBounds(scales[name], *pair) for name, pair in zip(names, pairs, strict=True)}


def _scale(table: DataFrame, name: str) -> Scale:
    kind = table.schema[name].dataType
    places = kind.scale if isinstance(kind, T.DecimalType) else 0
    return Scale(KINDS.get(type(kind), "integer"), kind.simpleString(), places)


@dataclass(frozen=True)
class DistinctNumbers:
    """Distinct numbers of each column of a partition; those of a group stand together and count once."""

    columns: int

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        found: list[list[NDArray[np.int64]]] = [[np.empty(0, np.int64)] for _ in range(self.columns)]
        for batch in batches:
            for i, seen in enumerate(found):
                bits = as_bits(batch.column(i).drop_null().to_numpy(zero_copy_only=False))
                seen.append(np.unique(bits[np.diff(bits, prepend=~bits[:1]) != 0]))
        for i, seen in enumerate(found):
            numbers = np.unique(np.concatenate(seen))
            place = pa.array(np.full(len(numbers), i), pa.int32())
            yield pa.RecordBatch.from_pydict({"place": place, "bits": pa.array(numbers)})


def bounds_rows(
    printed: Mapping[str, PrintedBounds],
    stated: Mapping[str, Any],
    groups: int,
    people: Callable[[Mapping[str, Numbers]], Mapping[str, int]] | None,
) -> list[VerdictRow]:
    """Whether bounds lie on the grid that the manifest states, and how many people's unique value is one.

    where
        stated  `bounds` of the manifest
        people  counts, by quasi-identifier, the values that one person alone has; None without the table
    """
    grid, rows = stated["rule"] == "grid", []
    if grid:
        steps = stated.get("steps", {})
        off = sum(bounds.off(_step(steps.get(name), bounds)) for name, bounds in printed.items())
        rows.append(_row(ON_GRID, "bounds that are not on the grid", off, groups, demanded=True))
    level = "unique values printed as bounds"
    if people is None:
        reason = {"reason": NO_ORIGINAL}
        return [*rows, VerdictRow(PRINTED, level, None, None, "<=", groups, 0, "measured", reason)]
    counts = people({name: bounds.all for name, bounds in printed.items()})
    witness = {"columns": {name: number for name, number in counts.items() if number}}
    return [*rows, _row(PRINTED, level, sum(counts.values()), groups, demanded=grid, witness=witness)]


def _row(
    name: str,
    level: str,
    number: int,
    groups: int,
    *,
    demanded: bool,
    witness: Mapping[str, Any] | None = None,
) -> VerdictRow:
    status = "measured" if not demanded else "fail" if number else "pass"
    threshold = 0.0 if demanded else None
    wrong = number if demanded else 0
    return VerdictRow(name, level, float(number), threshold, "<=", groups, wrong, status, witness or {})


def _step(text: Any, bounds: PrintedBounds) -> Step:
    """The step of a column as the manifest states it; a column without any bound needs none."""
    if not bounds.all.size:
        return Step(Decimal(1))
    try:
        return Step.read(str(text), bounds.scale)
    except ValueError:
        raise DataError(f"`bounds.steps` in {MANIFEST} has not the step of every range") from None
