"""The partitioners by name, and what is known of each before any data is read.

How they make groups stands in this folder, and in `spark/partition`, where a registry of the same names has
what runs them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

PartitionerName = Literal["mondrian", "art", "anatomy", "blind"]

CutsName = Literal["loss", "median"]
"""Which cuts are tried, and in which order, by partitioners that cut."""


@dataclass(frozen=True)
class Partitioner:
    """A way to put people into groups.

    where
        name             what specs and manifests call it
        needs            the criterion of `privacy` that it makes its groups by, if it needs one
        instead          what to suggest to somebody who does not want that criterion
        leaves_people    whether people may find no place, whichever criteria are demanded
        several          whether it can look at several sensitive attributes
        each_value_once  whether it makes the groups of ART, which in the binary model have each value at most
                         once [ART, Section V]
        blind            whether it makes groups without a look at sensitive values; the release is refused if
                         one of them fails
    """

    name: PartitionerName
    needs: str | None = None
    instead: str = ""
    leaves_people: bool = False
    several: bool = False
    each_value_once: bool = False
    blind: bool = False

    @property
    def needs_sensitive(self) -> bool:
        """Whether it looks at sensitive values even if no criterion does."""
        return self.needs is not None


_ALL = (
    Partitioner("mondrian", several=True),
    Partitioner("art", "robustness", "mondrian or anatomy", leaves_people=True, each_value_once=True),
    Partitioner("anatomy", "l_diversity", "mondrian", leaves_people=True),
    Partitioner("blind", blind=True),
)

PARTITIONERS: dict[str, Partitioner] = {partitioner.name: partitioner for partitioner in _ALL}
