"""Several releases together: all of them and each two of them, for every attribute that several publish."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from ppdp_spark.core.criteria.base import VerdictRow
from ppdp_spark.report.format.quoted_names import name as quoted
from ppdp_spark.report.sentences.attack import COMPOSED, COMPOSED_COLUMNS, COMPOSED_PEOPLE, PINNED
from ppdp_spark.run.manifest import known_attributes, published_attributes
from ppdp_spark.spark.composition.common_cells import cells_of, unplaced
from ppdp_spark.spark.composition.fused_beliefs import Beliefs, concluded, settled
from ppdp_spark.spark.composition.people_in_groups import fitting
from ppdp_spark.spark.composition.published_groups import CommonValues, PublishedGroups
from ppdp_spark.spark.engine import column_names as C
from ppdp_spark.spark.engine.aggregates import only_row
from ppdp_spark.spark.engine.held_tables import held_tables

SURE = 1e-9
"""How far a share may be from the exact root: thresholds are compared on the unsafe side."""


@dataclass(frozen=True)
class ComposedSet:
    """What some releases, by their places, tell together of one attribute."""

    attribute: str
    places: tuple[int, ...]
    beliefs: Beliefs


@dataclass(frozen=True)
class Composition:
    """What several releases tell together.

    where
        releases   what they are called
        fitting    people of the table who fit a group of each
        published  people that each has
        far        people who fit too many groups to be looked at
        sets       by attribute: all releases that publish it, then each two of them
        crossed    columns that are sensitive in one release and shown in another, with both
        apart      sensitive attributes that are not combined, and why
    """

    releases: tuple[str, ...]
    fitting: tuple[int, ...]
    published: tuple[int, ...]
    far: int
    sets: tuple[ComposedSet, ...]
    crossed: tuple[tuple[str, str, str], ...]
    apart: tuple[tuple[str, str], ...]

    def rows(self, threshold: float | None, *, pins: bool) -> list[VerdictRow]:
        """The verdict: people pinned to one value, the largest posterior, and what could not be looked at.

        `pins` demands that nobody is pinned; with a threshold, more is demanded.
        """
        rows = [row for each in self.sets for row in self._of_set(each, threshold, pins=pins)]
        demanded = pins or threshold is not None
        if self.crossed:
            status = "fail" if demanded else "measured"
            witness = {"columns": [f"{column}: {one}, {other}" for column, one, other in self.crossed]}
            level = "no sensitive column of one is shown in another"
            number = len(self.crossed)
            rows.append(
                VerdictRow(
                    COMPOSED_COLUMNS, level, float(number), 0.0, "<=", 0, number, status, witness=witness
                )
            )
        if self.far:
            status = "fail" if demanded else "measured"
            level = "everybody fits few enough groups to be looked at"
            rows.append(VerdictRow(COMPOSED_PEOPLE, level, float(self.far), 0.0, "<=", 0, self.far, status))
        return rows

    def _of_set(self, each: ComposedSet, threshold: float | None, *, pins: bool) -> Iterator[VerdictRow]:
        found, level = each.beliefs, f"{each.attribute}: {self.named(each)}"
        about = {"sensitive": each.attribute, "releases": [self.releases[place] for place in each.places]}
        demanded = pins or threshold is not None
        yield VerdictRow(
            criterion=PINNED,
            level=level,
            value=float(found.pinned),
            threshold=0.0 if demanded else None,
            relation="<=",
            groups=found.cells,
            violations=found.pinned if demanded else 0,
            status=("fail" if found.pinned else "pass") if demanded else "measured",
            parameters=about,
        )
        beyond = found.beyond or 0
        worst = found.worst[0] if found.worst else {}
        yield VerdictRow(
            criterion=COMPOSED,
            level=level,
            value=found.highest,
            threshold=threshold,
            relation="<=",
            groups=found.cells,
            violations=beyond,
            status="measured" if threshold is None else "fail" if beyond else "pass",
            witness={key: worst[key] for key in ("groups", "people", "value") if key in worst},
            parameters=about,
        )

    def named(self, each: ComposedSet) -> str:
        """The releases of a set in words."""
        return " + ".join(self.releases[place] for place in each.places)

    def warnings(self, basis: str) -> list[str]:
        """What of the releases could not be combined, or is to be doubted."""
        told = [f"column {quoted(column)} is not combined: {reason}" for column, reason in self.apart]
        told += [
            f"column {quoted(column)} is sensitive in {one} and shown in {other}, which is not combined"
            for column, one, other in self.crossed
        ]
        for name, people, fit in zip(self.releases, self.published, self.fitting, strict=True):
            if fit > people and basis != "overlaps":
                told.append(
                    f"{fit:,} people of the table fit groups of {name}, which has {people:,}: who is not in "
                    "it is taken to be"
                )
        contradicted = max((each.beliefs.contradicted for each in self.sets), default=0)
        if contradicted:
            told.append(
                f"no value of {contradicted:,} people agrees with all releases: their values have "
                "changed, or they are not in all of them"
            )
        if not all(each.beliefs.settled for each in self.sets):
            told.append("what counting rules out was not followed to the end: more people may be pinned")
        return told

    def to_dict(self) -> dict[str, Any]:
        sets = [
            {"attribute": each.attribute, "releases": list(each.places), **each.beliefs.to_dict()}
            for each in self.sets
        ]
        told = zip(self.releases, self.published, self.fitting, strict=True)
        return {
            "releases": [{"name": n, "people": p, "fitting": f} for n, p, f in told],
            "far": self.far,
            "sets": sets,
            "crossed": [{"column": c, "sensitive_in": s, "shown_in": o} for c, s, o in self.crossed],
            "apart": [{"column": column, "reason": reason} for column, reason in self.apart],
        }


def composed(
    spark: SparkSession,
    releases: Sequence[PublishedGroups],
    people: DataFrame,
    *,
    threshold: float | None,
    names: Sequence[str],
    focus: int | None = None,
) -> Composition:
    """What follows for people from releases in whose groups they are, see `people_in_groups`.

    `focus` is the place of one release, if only pairs with that one are looked at beside all together.
    """
    limit = None if threshold is None else threshold - SURE if threshold < 1 else 1.0
    with held_tables() as hold:
        people, everywhere = hold(people), list(range(len(releases)))
        fit = [
            F.coalesce(F.sum(F.when(F.col(fitting(p)) > 0, F.col(C.PEOPLE))), F.lit(0)).alias(f"p{p}")
            for p in everywhere
        ]
        told = only_row(people.agg(*fit, unplaced(people, everywhere).alias("far")))
        sets = []
        for attribute, places in _sets(releases, focus):
            chosen = [releases[place] for place in places]
            values = CommonValues.of(spark, chosen, attribute)
            groups = [hold(values.groups(spark, release, attribute)) for release in chosen]
            cells, done = settled(cells_of(people, places), groups, values, hold)
            found = concluded(cells, values, len(places), limit, settled=done)
            sets.append(ComposedSet(attribute, places, found))
        return Composition(
            tuple(names),
            tuple(int(told[f"p{place}"]) for place in everywhere),
            tuple(int(release.manifest["rows"]["published"]) for release in releases),
            int(told["far"]),
            tuple(sets),
            tuple(_crossed(releases, names)),
            tuple(_apart(releases)),
        )


def _sets(releases: Sequence[PublishedGroups], focus: int | None) -> Iterator[tuple[str, tuple[int, ...]]]:
    """For every attribute that several releases publish: all of these together, and each two."""
    attributes = dict.fromkeys(name for release in releases for name in release.attributes)
    for attribute in attributes:
        places = tuple(place for place, release in enumerate(releases) if attribute in release.attributes)
        if len(places) < 2 or (focus is not None and focus not in places):
            continue
        yield attribute, places
        if len(places) > 2:
            pairs = combinations(places, 2)
            yield from ((attribute, pair) for pair in pairs if focus is None or focus in pair)


def _crossed(releases: Sequence[PublishedGroups], names: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Columns that one release protects and another shows beside people."""
    for place, release in enumerate(releases):
        for attribute in published_attributes(release.manifest):
            for other, shown in enumerate(releases):
                if other != place and attribute["column"] in shown.shown_columns:
                    yield attribute["column"], names[place], names[other]


def _apart(releases: Sequence[PublishedGroups]) -> Iterator[tuple[str, str]]:
    """Sensitive attributes that are not combined, and why; and what of linked ones is not used."""
    stated = [published_attributes(release.manifest) for release in releases]
    columns = dict.fromkeys(each["column"] for attributes in stated for each in attributes)
    for column in columns:
        cases = [each["case"] for attributes in stated for each in attributes if each["column"] == column]
        if len(cases) < 2:
            yield column, "one release publishes it"
        elif sum(case == "svpi" for case in cases) < 2:
            yield column, "people have several values of it"
        elif any(case != "svpi" for case in cases):
            yield column, "people have several values of it in some of the releases, which are left out"
    for release in releases:
        for column in known_attributes(release.manifest):
            yield column, f"`{release.place}` shows it beside others, and what these tell of it is not used"
