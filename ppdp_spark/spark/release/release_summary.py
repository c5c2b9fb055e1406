"""The owner's summary of a release: aggregates of what came in, what is published, and how good it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ppdp_spark.core.data.weight_units import in_people
from ppdp_spark.run.storage import Folder
from ppdp_spark.run.summary import one_or_all
from ppdp_spark.spark.data.profile import Profile, SensitiveDomain
from ppdp_spark.spark.data.survey_weights import WeightFacts
from ppdp_spark.spark.data.tables import Roles
from ppdp_spark.spec import ReleaseSpec

LISTED_VALUES = 1_000
"""Sensitive values whose counts are listed, the most frequent first."""


def release_summary(
    spec: ReleaseSpec,
    profile: Profile,
    roles: Roles,
    *,
    source: str,
    metrics: Mapping[str, Any],
    release: Folder,
) -> dict[str, Any]:
    """What the summary has of the table, of the release and of its quality.

    where
        source   name of the table
        metrics  of the groups
        release  folder of what is published
    """
    return {
        "input": {
            "rows": profile.rows,
            "fingerprint": profile.fingerprint,
            "source": source,
            "unassigned": list(roles.unassigned),
            "nulls": profile.nulls,
        },
        "release": _release(spec, profile, metrics, release),
        "sensitive": one_or_all([_sensitive(domain) for domain in profile.domains]),
        "metrics": measured_facts(spec, metrics),
    }


def _release(
    spec: ReleaseSpec, profile: Profile, metrics: Mapping[str, Any], release: Folder
) -> dict[str, Any]:
    people, sizes = metrics["people"], [info.size for _, info in release.files(".parquet")]
    suppressed = profile.rows - people
    return {
        "form": spec.output.form,
        "rows": people,
        **({"written": metrics["written"]} if "written" in metrics else {}),
        "groups": metrics["groups"],
        "suppressed": {
            "nulls": profile.rows - profile.took_part,
            "frequent": profile.took_part - profile.kept,
            "unplaced": profile.kept - people,
            "total": suppressed,
            "rate": suppressed / profile.rows,
        },
        "files": len(sizes),
        "bytes": sum(sizes),
    }


def _sensitive(domain: SensitiveDomain) -> dict[str, Any]:
    listed = sorted(zip(domain.labels, domain.counts, strict=True), key=lambda pair: (-pair[1], pair[0]))
    values = [{"value": label, "count": count} for label, count in listed[:LISTED_VALUES]]
    about = {} if domain.sensitivity is None else domain.sensitivity.declaration()
    return {"column": domain.column, "case": domain.case, **about, "distinct": len(listed), "values": values}


def _weighted(found: Mapping[str, Any]) -> dict[str, Any]:
    """The same of the population that the published people stand for."""
    ncp, queries = found["ncp"], found.get("queries")
    measured = {"population": in_people(found["units"]), "ncp": ncp, "gcp": sum(ncp.values()) / len(ncp)}
    return measured | ({} if queries is None else {"queries": queries})


def weight_facts(weighed: WeightFacts, published: int) -> dict[str, Any]:
    """What became of the weights of a table, in people: all of it is published or suppressed."""
    left = weighed.units - published
    shares = {"published": in_people(published), "suppressed": in_people(left)}
    return {**weighed.to_dict(), **shares, "rate": left / max(1, weighed.units)}


def measured_facts(spec: ReleaseSpec, metrics: Mapping[str, Any]) -> dict[str, Any]:
    """What the summary says of the quality of groups."""
    mean, ncp, k = metrics["people"] / metrics["groups"], metrics["ncp"], spec.privacy.k_anonymity
    sizes = {key: metrics[key] for key in ("smallest", "largest")}
    measured = {
        "sizes": {**sizes, "mean": mean, "histogram": metrics["histogram"]},
        "discernibility": metrics["discernibility"],
        "ncp": ncp,
        "gcp": sum(ncp.values()) / len(ncp),
    }
    if k is not None:
        measured["average_class_ratio"] = mean / k
    if "weighted" in metrics:
        measured["weighted"] = _weighted(metrics["weighted"])
    if metrics.get("queries"):
        measured["queries"] = metrics["queries"]
    return measured
