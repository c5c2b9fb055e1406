"""From groups to the files of a release: sorted, numbered, and written in the form of the spec."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame

from ppdp_spark.errors import InternalError
from ppdp_spark.run.storage import DATA, EXTREMA, HOUSEHOLDS, WEIGHTS, Folder
from ppdp_spark.spark.data.layout import Layout
from ppdp_spark.spark.release.forms import form_of
from ppdp_spark.spark.release.numbering import number_groups, order_groups
from ppdp_spark.spark.release.publication import Publication
from ppdp_spark.spec import ReleaseSpec


def publish(
    groups: DataFrame,
    layout: Layout,
    spec: ReleaseSpec,
    *,
    metrics: Mapping[str, Any],
    release: Folder,
    owned: Folder,
    scratch: Folder,
) -> tuple[str, ...]:
    """Write everybody in the groups to the release; the names of the owner's tables in `owned`, if any."""
    order = order_groups(groups, layout.attributes, metrics["ncp"], metrics["people"])
    robustness = spec.privacy.robustness
    publication = Publication(
        number_groups(groups, order, layout),
        layout,
        order,
        names=spec.columns.as_is,
        folder=release / DATA,
        unfinished=release.parent / "unfinished",
        scratch=scratch,
        owned=None if robustness is None else owned / EXTREMA,
        sets=0 if robustness is None else len(robustness.priors),
        households=owned / HOUSEHOLDS if layout.households else None,
        weights=owned / WEIGHTS if layout.weights_owned else None,
    )
    written = form_of(spec).write(publication)
    expected = metrics.get("written", metrics["people"])
    require_conserved(expected if written is None else written, expected)
    tables = {
        EXTREMA: publication.owned,
        HOUSEHOLDS: publication.households,
        WEIGHTS: publication.weights,
    }
    return tuple(name for name, folder in tables.items() if folder is not None)


def require_conserved(published: int, expected: int) -> None:
    """Nobody may be lost on the way, or come out twice."""
    if published != expected:
        raise InternalError(f"{expected:,} rows went in and {published:,} came out: nothing was published")
