"""What `discover` is asked, and what it returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike, fspath
from typing import Annotated, Any, TypeAlias

from pydantic import Field
from typing_extensions import Self

from ppdp_spark.report.discovery_tables import discovery_tables
from ppdp_spark.report.format.quoted_names import things
from ppdp_spark.run.results import finite
from ppdp_spark.spec import InputSpec
from ppdp_spark.spec.fields import Share, SpecModel

SHARE, MOST = 0.05, 4

SourceLike: TypeAlias = InputSpec | Mapping[str, Any] | str | PathLike[str]
"""What is read: an `InputSpec`, a mapping with its fields, or the path of a file."""


class DiscoveryRequest(SpecModel):
    """Arguments of `discover`.

    where
        input  the table to read, if none is given
        share  of all people: what a set must single out
        most   columns of a set at the most
    """

    input: InputSpec | None = None
    share: Share = SHARE
    most: Annotated[int, Field(strict=True, ge=1, le=MOST)] = MOST

    @classmethod
    def of(cls, source: SourceLike | None, *, share: float, most: int) -> Self:
        """The arguments as they are given; one `SpecError` with every mistake in them."""
        given = {"path": fspath(source)} if isinstance(source, str | PathLike) else source
        arguments: dict[str, Any] = {"input": given, "share": share, "most": most}
        return cls(**arguments)


@dataclass(frozen=True)
class SinglingSet:
    """Columns that together single people out, and no part of them does so enough.

    where
        columns  their names
        people   how many people have values in them that nobody else has, exactly
        share    of all people
    """

    columns: tuple[str, ...]
    people: int
    share: float

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {"columns": list(self.columns), "people": self.people, "share": self.share}


@dataclass(frozen=True)
class DiscoveredColumn:
    """A column: figures, what it looks like, and the role proposed for it. It quotes no value.

    where
        values   how many different values it has, null included
        nulls    rows without a value
        alone    people whose value nobody else has
        looks    such as `identifier`, `date of birth`, `postcode`, `free text`; `sensitive` by its name only
        role     `identifier`, `quasi-identifier`, `sensitive` or `none`: a suggestion
        because  the reason for it
    """

    name: str
    type: str
    values: int
    nulls: int
    alone: int
    looks: tuple[str, ...]
    role: str
    because: str

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {**vars(self), "looks": list(self.looks)}


@dataclass(frozen=True, repr=False)
class Discovery:
    """Which sets of columns single people out, what columns look like, and a spec proposed from it.

    where
        rows      rows of the table, each taken for one person
        share     the share of the people that a set must single out to be named
        needed    that share in people
        most      the most columns of a set
        sets      all minimal sets, smallest first
        columns   every column that was compared
        left_out  columns whose types have no known equality
        counted   sets of several columns that were counted
        spared    sets that were excluded by exact bounds
        spec      YAML with the reasons as comments
        stages    what took how long
    """

    rows: int
    share: float
    needed: int
    most: int
    sets: tuple[SinglingSet, ...]
    columns: tuple[DiscoveredColumn, ...]
    left_out: tuple[str, ...]
    counted: int
    spared: int
    spec: str = ""
    stages: tuple[dict[str, Any], ...] = field(default=(), compare=False)

    def __repr__(self) -> str:
        return f"Discovery({things(len(self.sets), 'set', 'sets')} of {len(self.columns):,} columns)"

    @property
    def ok(self) -> bool:
        """A discovery demands nothing, and never fails."""
        return True

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        plain = {
            **vars(self),
            "sets": [each.to_dict() for each in self.sets],
            "columns": [each.to_dict() for each in self.columns],
            "left_out": list(self.left_out),
            "stages": list(self.stages),
        }
        return finite(plain)  # type: ignore[no-any-return]

    def __rich__(self) -> Any:
        return discovery_tables(self.to_dict())
