"""What is measured of a release besides its criteria, and what that is defined for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from ppdp_spark.core.partition.partitioners import PARTITIONERS
from ppdp_spark.spec.fields import Share, SpecModel
from ppdp_spark.spec.messages import Location

if TYPE_CHECKING:
    from ppdp_spark.spec.release import ReleaseSpec


class AuditSpec(SpecModel):
    """The audit of what a reader concludes who knows the program that made the groups."""

    algorithm: Literal["sample", "full", "none"] = Field(
        default="sample",
        description="Groups that are audited against a reader who knows the program: some, all, or none.",
    )
    at_most: Share | None = Field(
        default=None,
        description="Largest posterior of such a reader; beyond it nothing is published. Needs the full audit.",
    )

    @classmethod
    def combinations(cls, data: Mapping[str, Any]) -> Iterator[tuple[Location, str]]:
        if data.get("at_most") is not None and data.get("algorithm") != "full":
            yield ("at_most",), "is about every group: add `algorithm: full`"


def not_audited(spec: ReleaseSpec) -> str | None:
    """Why the algorithm-aware audit does not look at a release of this spec; None if it does."""
    columns, partitioner = spec.columns, PARTITIONERS[spec.partitioner]
    coupling = [family for family, given in spec.privacy.demanded if family.traits.couples(given)]
    needing = [family for family, _ in spec.privacy.demanded if family.traits.priors or family.traits.weights]
    if not columns.attributes:
        return "there is no sensitive column"
    if len(columns.attributes) > 1:
        return "not defined for several sensitive attributes"
    if columns.attributes[0].case != "svpi":
        return "not defined for several values per person"
    if columns.attributes[0].sensitivity is not None:
        return "not defined where some values need no protection"
    if partitioner.leaves_people:
        return f"not defined for `partitioner: {partitioner.name}`"
    if columns.household is not None:
        return "not defined for `columns.household`"
    if needing:
        return f"not defined for `privacy.{needing[0].field}`"
    if coupling and not partitioner.blind:
        when, _ = coupling[0].traits.coupling
        return f"not defined for `privacy.{coupling[0].field}` {when}".rstrip()
    return None
