"""What a new release tells together with earlier ones of its dataset, before it is published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame

from ppdp_spark.core.criteria.base import VerdictRow
from ppdp_spark.errors import DataError
from ppdp_spark.report.format.quoted_names import name as quoted
from ppdp_spark.report.format.quoted_names import printable
from ppdp_spark.run.registry import Registry
from ppdp_spark.run.storage import MANIFEST, RELEASE, Folder
from ppdp_spark.spark.composition.composed_releases import Composition, composed
from ppdp_spark.spark.composition.people_in_groups import people_in_groups
from ppdp_spark.spark.composition.published_groups import PublishedGroups, short_names
from ppdp_spark.spec import ReleaseSpec

MOST_EARLIER = 12
"""Earlier releases that are looked at, the newest."""


@dataclass(frozen=True)
class EarlierReleases:
    """Releases that were published before, and those that cannot be looked at, with the reason."""

    found: tuple[PublishedGroups, ...]
    unread: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, registry: Registry, record: Mapping[str, Any], new: PublishedGroups) -> EarlierReleases:
        """Those of the registry that are not this one again; `new` is what is about to be published."""
        found: list[PublishedGroups] = []
        unread: list[tuple[str, str]] = []
        try:
            others = registry.others(record)
        except (OSError, DataError):
            return cls((), ((str(registry.folder), "the registry cannot be read"),))
        for each in others:
            place = printable(each.get("path") or "unknown").removesuffix(f"/{RELEASE}/{MANIFEST}")
            try:
                release = _opened(Folder.at(place), each)
                reason = _obstacle(release, new) if len(found) < MOST_EARLIER else "newer ones are enough"
            except (OSError, DataError, KeyError, TypeError):
                reason = "its files are not there any more, or are not what was published"
            if reason:
                unread.append((place, reason))
            else:
                found.append(release)
        return cls(tuple(found), tuple(unread))

    @property
    def warnings(self) -> list[str]:
        """What was not looked at, if anything."""
        if not self.unread:
            return []
        listed = "; ".join(f"{place}: {reason}" for place, reason in self.unread)
        return [
            f"{len(self.unread):,} earlier releases of this dataset were not looked at: what they tell "
            f"together with this one is not known ({listed})"
        ]


def _opened(root: Folder, record: Mapping[str, Any]) -> PublishedGroups:
    """The release of a record, if it is still the one that was published."""
    if (root / RELEASE).digest(MANIFEST) != record["manifest"]:
        raise DataError("another release took its place")
    return PublishedGroups.at(root)


def _obstacle(release: PublishedGroups, new: PublishedGroups) -> str | None:
    """Why a release cannot be judged together with the new one; None if it can be."""
    lacking = [name for name in release.names if name not in new.names]
    if lacking:
        return f"it shows {', '.join(map(quoted, lacking))}, of which this spec says nothing"
    if not set(release.attributes) & set(new.attributes):
        return "they have no sensitive column with one value per person in common"
    ranging = {*release.manifest["columns"].get("ranging", ()), *new.manifest["columns"].get("ranging", ())}
    if ranging:
        return f"people have several values of {', '.join(map(quoted, sorted(ranging)))}"
    return None


@dataclass(frozen=True)
class AuditedComposition:
    """What was found of a release together with earlier ones."""

    rows: tuple[VerdictRow, ...] = ()
    facts: Mapping[str, Any] | None = None
    warnings: tuple[str, ...] = ()


def audited_composition(
    spec: ReleaseSpec, people: DataFrame, new: PublishedGroups, earlier: EarlierReleases
) -> tuple[AuditedComposition, EarlierReleases]:
    """The verdict on a release together with those before it, for the people it was made from.

    Nobody may be pinned to one value where the spec demands anything about values; `composition.at_most`
    demands more. Releases that turn out not to be comparable come back as not looked at.
    """
    releases = [new, *earlier.found]
    names = ["this release", *short_names([release.place for release in earlier.found])]
    threshold = spec.composition.at_most
    pins = any(family.traits.sensitive for part in spec.privacy.parts.values() for family, _ in part.demanded)
    try:
        found = _composed(people, releases, names, threshold)
    except DataError as error:
        unread = tuple((release.place, str(error)) for release in earlier.found)
        left = EarlierReleases((), (*earlier.unread, *unread))
        return AuditedComposition(warnings=tuple(left.warnings)), left
    facts = {**found.to_dict(), "basis": "run", "threshold": threshold}
    warnings = (*found.warnings("run"), *earlier.warnings)
    rows = tuple(found.rows(threshold, pins=pins))
    return AuditedComposition(rows, facts, warnings), earlier


def _composed(
    people: DataFrame, releases: Sequence[PublishedGroups], names: Sequence[str], threshold: float | None
) -> Composition:
    fits = people_in_groups(people, dict(enumerate(releases)), None, "the table")
    session = people.sparkSession
    return composed(session, releases, fits, threshold=threshold, names=names, focus=0)
