"""What r-robust releases are good for: COUNT queries answered from them, against the truth.

    python scripts/reproduce_robustness.py [--quick] [--rows 50000] [--out benchmarks/robustness]

A query asks how many people lie in ranges of d quasi-identifiers and have a sensitive value. The releases:
ℓ-diverse Mondrian (no value has more than 1/r of a group, with generalized or with untouched
quasi-identifiers), Anatomy with ℓ = r, ART in its published form (Δ condition, binary model), ART and
Mondrian robust in the joint model. All but the first publish quasi-identifiers as they are and the values of
each group beside them. People who find no group are not published; they count in the truth. The exact
posteriors of a reader who knows the priors say whom each release protects. On a few hundred people ART is
also run as it is printed [ART, Section V]. The Adult table is read from $PPDP_ADULT, else from
../shared/data/adult.csv beside the repository; the census is ours.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from literal_art import People, literal_art
from numpy.typing import NDArray
from reproduction import NO_FIGURES, ROOT, Record, adult_path, pyplot, save, table, write_results

from ppdp_spark.core.criteria.base import LocalCriterion
from ppdp_spark.core.criteria.robustness import (
    RRobustness,
    SignatureGroups,
    exact_work,
    joint_posteriors,
    relaxed,
)
from ppdp_spark.core.criteria.robustness.priors import PeoplePriors
from ppdp_spark.core.data.boxes import Box, Interval, Members
from ppdp_spark.core.data.coded_people import Axis, Sensitive
from ppdp_spark.core.data.groups import FloatArray, IntArray
from ppdp_spark.core.partition.art import AnatomyPlacement, ArtPlacement, TreePlacement
from ppdp_spark.core.partition.mondrian import partition
from ppdp_spark.core.partition.placement import Placed
from ppdp_spark.core.utility.queries import (
    Domain,
    Holders,
    Query,
    bucketized_answers,
    draw_queries,
    generalized_answers,
    true_answers,
)
from ppdp_spark.core.utility.relative_error import relative_errors

FLOOR_SHARE = 1e-4
"""True counts below this share of the people (and below one person) are taken as large as that."""

QUERIES, QUICK_QUERIES = 1_000, 400
LEVELS, QUICK_LEVELS = (2, 3, 4, 5, 6), (4,)
SHOWN_LEVEL = 4
CENSUS_ROWS = 50_000
SENSITIVE = "occupation"
NUMERIC = ("age", "hours", "income")
ADULT = ("age", "workclass", "education", "marital-status", "race", "sex", "native-country")
CENSUS = ("age", "sex", "education", "marital", "race", "state", "hours", "income")
ATTRIBUTE_SETS = (("sex",), ("race", "sex"), ("age", "sex"))

GENERALIZED, DIVERSE, ANATOMY = "Mondrian, ℓ-diverse, generalized", "Mondrian, ℓ-diverse", "Anatomy"
PUBLISHED, JOINT, ROBUST = "ART, published form", "ART, joint", "Mondrian, robust joint"
METHODS = (GENERALIZED, DIVERSE, ANATOMY, PUBLISHED, JOINT, ROBUST)
LITERAL = "ART, as printed"
SMALL_METHODS = (LITERAL, PUBLISHED, JOINT)
SMALL_PEOPLE, SMALL_LEVEL = 400, 2
JUDGED, JUDGED_LEVELS = (DIVERSE, ANATOMY, PUBLISHED, JOINT), (2, 4)
UNDECIDED, EXACT_WORK = 1e-9, 2**16


@dataclass(frozen=True)
class Study:
    """A table of people as codes from 1, in the order of numbers and of names.

    It is also what a task sees of its people: `codes`, `sensitive` and `axes`.
    """

    names: tuple[str, ...]
    codes: IntArray
    sensitive: Sensitive

    @classmethod
    def of(cls, names: Sequence[str], columns: dict[str, NDArray[Any]]) -> Study:
        codes = [np.unique(columns[name], return_inverse=True)[1] + 1 for name in names]
        labels, values = np.unique(columns[SENSITIVE], return_inverse=True)
        sensitive = Sensitive.single(values.astype(np.int32), len(labels))
        return cls(tuple(names), np.column_stack(codes).astype(np.int32), sensitive)

    @cached_property
    def axes(self) -> list[Axis]:
        steps = 1 / np.maximum(self.codes.max(axis=0) - 1, 1)
        return [Axis(float(step), -float(step)) for step in steps]

    @cached_property
    def priors(self) -> PeoplePriors:
        """How often each value occurs among people of a signature, for every attribute set."""
        rows, tables = [], []
        for attributes in ATTRIBUTE_SETS:
            keys = self.codes[:, [self.names.index(name) for name in attributes]]
            _, number = np.unique(keys, axis=0, return_inverse=True)
            counts = np.zeros((number.max() + 1, self.sensitive.width))
            np.add.at(counts, (number.ravel(), self.sensitive.values), 1.0)
            rows.append(number.ravel().astype(np.int32))
            tables.append(counts / counts.sum(axis=1, keepdims=True))
        return PeoplePriors(tuple(rows), tuple(tables))

    @cached_property
    def places(self) -> list[IntArray]:
        return list(self.codes.T)

    def some(self, number: int) -> Study:
        """So many of the people, evenly spaced, as a table of their own."""
        kept = np.linspace(0, len(self.codes) - 1, min(number, len(self.codes))).astype(np.int64)
        values, width = self.sensitive.values[kept], self.sensitive.width
        return Study(self.names, self.codes[kept], Sensitive.single(values, width))

    def queries(self, number: int) -> tuple[Query, ...]:
        domains = [Domain(1, int(high)) for high in self.codes.max(axis=0)]
        return draw_queries(domains, self.sensitive.width, number)


def released(study: Study, method: str, r: int) -> Placed:
    """Who is in which group; whoever is in none is suppressed."""
    if method in (GENERALIZED, DIVERSE):
        found = partition(study.codes, study.sensitive, study.axes, (relaxed(r),))
        return Placed(found.order, found.starts)
    if method == LITERAL:
        return _as_printed(study, r)
    labels = tuple("+".join(attributes) for attributes in ATTRIBUTE_SETS)
    robustness = {
        ANATOMY: None,
        PUBLISHED: RRobustness(r, "binary", labels, unique=True),
        JOINT: RRobustness(r, "joint", labels),
        ROBUST: RRobustness(r, "joint", labels),
    }[method]
    criteria: tuple[LocalCriterion, ...] = (relaxed(r),)
    if robustness is None:
        return AnatomyPlacement(criteria, None, r).cut(study, PeoplePriors((), ()))
    place = TreePlacement if method == ROBUST else ArtPlacement
    return place(criteria, robustness, 2).cut(study, study.priors)


def _as_printed(study: Study, r: int) -> Placed:
    """The groups of the paper's own algorithm, by code that shares nothing with the package."""
    columns = [study.codes[:, [study.names.index(name) for name in names]] for names in ATTRIBUTE_SETS]
    people = People.learned(
        study.sensitive.values.tolist(), [[tuple(row) for row in column.tolist()] for column in columns]
    )
    groups = literal_art(people, Fraction(r))
    bounds = np.cumsum([0, *map(len, groups)])
    return Placed(np.array([i for group in groups for i in group], np.int64), bounds)


def exposed(study: Study, placed: Placed, r: int) -> list[Record]:
    """Groups in which somebody's exact joint posterior is above 1/r, one record an attribute set.

    A posterior within rounding of 1/r is not counted as above it.
    """
    found: list[Record] = []
    group = np.repeat(np.arange(len(placed.bounds) - 1), np.diff(placed.bounds))
    counts = np.zeros((len(placed.bounds) - 1, study.sensitive.width), np.int64)
    np.add.at(counts, (group, study.sensitive.values[placed.order]), 1)
    known = zip(ATTRIBUTE_SETS, study.priors.rows, study.priors.tables, strict=True)
    for attributes, rows, shares in known:
        described = _signed(group, rows[placed.order], shares, counts)
        cheap = exact_work(described) <= EXACT_WORK
        kept = cheap[group]
        some = _signed((np.cumsum(cheap) - 1)[group[kept]], rows[placed.order][kept], shares, counts[cheap])
        values = np.nan_to_num(joint_posteriors(some).values)
        worst = np.maximum.reduceat(values, some.offsets[:-1]).max(axis=1) if len(some) else np.zeros(0)
        record = {"attributes": ", ".join(attributes), "groups": len(counts)}
        record |= {"beyond": int(np.count_nonzero(worst > (1 + UNDECIDED) / r))}
        found.append(
            record | {"unknown": int(np.count_nonzero(~cheap)), "worst": float(worst.max(initial=0.0))}
        )
    return found


def _signed(group: IntArray, rows: IntArray, table: FloatArray, counts: IntArray) -> SignatureGroups:
    """Groups as a reader sees them who knows the priors of one attribute set."""
    distinct, people = np.unique(group * len(table) + rows, return_counts=True)
    of, signature = np.divmod(distinct, len(table))
    offsets = np.searchsorted(of, np.arange(len(counts) + 1))
    return SignatureGroups(offsets, people, table[signature], counts)


def protection(study: Study, levels: Sequence[int]) -> list[Record]:
    """Whom the releases protect: one record a method, r and attribute set."""
    return [
        {"r": r, "method": method, **record}
        for r in levels
        for method in JUDGED
        for record in exposed(study, released(study, method, r), r)
    ]


def estimates(study: Study, placed: Placed, queries: Sequence[Query], *, generalized: bool) -> FloatArray:
    """Answers as a reader of the release works them out."""
    group = np.repeat(np.arange(len(placed.bounds) - 1), np.diff(placed.bounds))
    holders = Holders.of(group, study.sensitive.values[placed.order], study.sensitive.width)
    if generalized:
        return generalized_answers(queries, list(_boxes(study, placed, group)), holders)
    places = [column[placed.order] for column in study.places]
    return bucketized_answers(queries, places, group, holders)


def _boxes(study: Study, placed: Placed, group: IntArray) -> Iterator[Box]:
    """Ranges of numbers, sets of categories."""
    none = np.zeros(len(placed.bounds) - 1, np.bool_)
    for name, column in zip(study.names, study.places, strict=True):
        codes = column[placed.order]
        if name in NUMERIC:
            low, high = (f.reduceat(codes, placed.bounds[:-1]) for f in (np.minimum, np.maximum))
            yield Interval(low, high, none, none)
        else:
            width = int(codes.max()) + 1
            keys = np.unique(group.astype(np.int64) * width + codes)
            yield Members(np.arange(len(none)), keys, np.bincount(keys // width, minlength=len(none)), width)


def measured(
    study: Study, levels: Sequence[int], number: int, methods: Sequence[str] = METHODS
) -> list[Record]:
    """One record a method and r: median and mean error, by dimension and by selectivity too."""
    queries, people = study.queries(number), len(study.codes)
    everyone = Holders.of(np.arange(people), study.sensitive.values, study.sensitive.width)
    truths = true_answers(queries, study.places, everyone)
    found = []
    for r in levels:
        for method in methods:
            placed = released(study, method, r)
            answers = estimates(study, placed, queries, generalized=method == GENERALIZED)
            errors = relative_errors(answers, truths, max(1.0, FLOOR_SHARE * people))
            record = {"r": r, "method": method, "median": float(np.median(errors))}
            record |= {"mean": float(errors.mean()), "groups": len(placed.bounds) - 1}
            record["suppressed"] = 1 - len(placed.order) / people
            record["unplaced"] = people - len(placed.order)
            record["by"] = {
                kind: _medians([getattr(query, kind) for query in queries], errors)
                for kind in ("dimension", "selectivity")
            }
            found.append(record)
    return found


def _medians(keys: Sequence[float], errors: FloatArray) -> dict[str, float]:
    chosen = np.array(keys)
    return {f"{key:g}": float(np.median(errors[chosen == key])) for key in np.unique(chosen)}


def read_adult(path: Path) -> Study:
    """Both parts of Adult, rows with a missing value left out."""
    with path.open(newline="") as lines:
        rows = [row for row in csv.DictReader(lines, skipinitialspace=True) if "?" not in row.values()]
    columns = {name: np.array([row[name] for row in rows]) for name in (*ADULT, SENSITIVE)}
    return Study.of(ADULT, {**columns, "age": columns["age"].astype(np.int64)})


def read_census(rows: int) -> Study:
    """The synthetic census of the package, without nulls."""
    from ppdp_spark.spark.session import local_session
    from ppdp_spark.spark.synthetic.census import census

    people = census(local_session(), rows, nulls=False).select(*CENSUS, SENSITIVE).toArrow()
    return census_study(people)


def census_study(people: pa.Table) -> Study:
    """The synthetic census as a study."""
    columns = {name: people.column(name).to_numpy() for name in (*CENSUS, SENSITIVE)}
    texts = {name: columns[name].astype(str) for name in (*CENSUS, SENSITIVE) if name not in NUMERIC}
    return Study.of(CENSUS, columns | texts)


def markdown(results: Record) -> str:
    parts = ["# r-robustness: what the releases are good for\n", f"{_explained(results['queries'])}\n"]
    parts.append("![Median relative error by r, dimension and selectivity](robustness.png)\n")
    for name, data in results["data"].items():
        records = data["records"]
        parts.append(f"## {name}: {data['rows']:,} people, {data['values']} values of {SENSITIVE}\n")
        parts.append("Median relative error by r (suppressed: people without a group, r = ")
        parts[-1] += f"{results['shown']})\n"
        parts.append(table(_by_level(records, results["shown"])))
        parts.append(f"{_compared(records)}\n")
        for kind in ("dimension", "selectivity"):
            parts.append(f"Median by {kind} of the query, r = {results['shown']}\n")
            parts.append(table(_by_kind(records, results["shown"], kind)))
        parts.append(f"{_judged(data['protection'])}\n")
        parts.append(table(_protection(data["protection"])))
        parts.append(f"{_printed(data['small'])}\n")
        parts.append(table(_beside_the_paper(data["small"])))
    return "\n".join(parts)


def _explained(number: int) -> str:
    sets = ", ".join("{" + ", ".join(attributes) + "}" for attributes in ATTRIBUTE_SETS)
    return (
        f"{number:,} random COUNT queries on ranges of one to five quasi-identifiers and one value; "
        f"priors learned from the table for the attribute sets {sets}. At equal r no value has more than "
        "1/r of a group in any release; Anatomy and ℓ-diverse Mondrian promise no more than that, robust "
        "ones bound what a reader who knows the priors infers. All but the generalized release show "
        "quasi-identifiers as they are. Who finds no group is suppressed, and missed in the answers: a value "
        "that more than 1/r of the people of a signature have cannot be hidden among them. "
        "The attribute sets matter, and these were chosen because they leave most people a place: with "
        "{sex}, {education, sex}, {age, sex} 18.8 % of Adult is suppressed at r = 4 (published form; 19.1 % "
        "in the joint model). If only people of equal priors in all sets came together, it would be "
        "20.2 %; "
        "if only {education, sex} counted, so that ages could be mixed freely, 11.2 %. "
        "Made by `python scripts/reproduce_robustness.py`."
    )


def _by_level(records: Sequence[Record], shown: int) -> list[Record]:
    rows = []
    for method in METHODS:
        mine = [record for record in records if record["method"] == method]
        row: Record = {"release": method} | {f"r = {record['r']}": record["median"] for record in mine}
        row["suppressed"] = next(f"{x['suppressed']:.2%}" for x in mine if x["r"] == shown)
        rows.append(row)
    return rows


def _compared(records: Sequence[Record]) -> str:
    """Where published ART has the smaller median."""
    medians = {(record["method"], record["r"]): record["median"] for record in records}
    levels = sorted({r for _, r in medians})
    told = []
    for other in (ANATOMY, GENERALIZED, DIVERSE):
        better = [str(r) for r in levels if medians[PUBLISHED, r] < medians[other, r]]
        told.append(f"than {other} at r = {', '.join(better)}" if better else f"than {other} at no r")
    return f"{PUBLISHED}, has the smaller median error {'; '.join(told)}."


def _judged(records: Sequence[Record]) -> str:
    """What the table of protection says."""
    unknown = sum(record["unknown"] for record in records)
    left = f" Too large to be computed, and counted as if nobody was exposed: {unknown:,}." if unknown else ""
    return (
        "Protection: the share of groups in which a reader who knows the priors of an attribute set, and "
        "computes the exact posteriors of the joint model, believes more than 1/r of somebody. Beside it, in "
        f"brackets, the number of such groups.{left}"
    )


def _protection(records: Sequence[Record]) -> list[Record]:
    rows = dict[tuple[int, str], Record]()
    for x in records:
        row = rows.setdefault(
            (x["r"], x["method"]), {"r": x["r"], "release": x["method"], "groups": x["groups"]}
        )
        row["{" + x["attributes"] + "}"] = f"{x['beyond'] / x['groups']:.2%} ({x['beyond']:,})"
    return list(rows.values())


def _printed(small: Record) -> str:
    """What the table beside the paper's own algorithm says."""
    return (
        f"ART as printed [ART, Section V], on {small['people']} of these people, evenly spaced, with priors "
        f"learned from them, r = {SMALL_LEVEL}: singletons merged bottom-up until every group satisfies the "
        "Δ condition, by code that shares nothing with the package. Beyond 1/r: groups in which the exact "
        "joint posterior is above it for some attribute set."
    )


def _beside_the_paper(small: Record) -> list[Record]:
    return [
        {
            "release": x["method"],
            "groups": x["groups"],
            "without a group": f"{x['unplaced']} ({x['suppressed']:.1%})",
            "median error": x["median"],
            "mean error": x["mean"],
            "beyond 1/r": x["beyond"],
        }
        for x in small["records"]
    ]


def beside_the_paper(study: Study, number: int) -> Record:
    """The package's ART and the printed one on a few hundred people."""
    some = study.some(SMALL_PEOPLE)
    records = measured(some, (SMALL_LEVEL,), number, SMALL_METHODS)
    for record in records:
        found = exposed(some, released(some, record["method"], SMALL_LEVEL), SMALL_LEVEL)
        record["beyond"] = max(x["beyond"] for x in found)
    return {"people": len(some.codes), "records": records}


def _by_kind(records: Sequence[Record], shown: int, kind: str) -> list[Record]:
    return [{"release": x["method"]} | x["by"][kind] for x in records if x["r"] == shown]


def draw(results: Record, folder: Path) -> bool:
    """Errors by r, by dimension and by selectivity as PNG, where matplotlib is installed."""
    plt = pyplot()
    if plt is None:
        return False
    shown, data = results["shown"], results["data"]
    figure, axes = plt.subplots(len(data), 3, figsize=(13, 3.6 * len(data)), squeeze=False)
    for row, (name, study) in zip(axes, data.items(), strict=True):
        for method in METHODS:
            mine = [x for x in study["records"] if x["method"] == method]
            row[0].plot([x["r"] for x in mine], [x["median"] for x in mine], marker="o", label=method)
            at = next(x for x in mine if x["r"] == shown)
            for axis, kind in zip(row[1:], ("dimension", "selectivity"), strict=True):
                axis.plot(list(at["by"][kind]), list(at["by"][kind].values()), marker="o", label=method)
        row[0].set(xlabel="r", ylabel="median relative error", title=name, ylim=(0, None))
        row[1].set(xlabel=f"query dimension (r = {shown})", ylim=(0, None))
        row[2].set(xlabel=f"selectivity (r = {shown})", ylim=(0, None))
    figure.tight_layout(rect=(0, 0.06, 1, 1))
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="lower center", ncol=3)
    save(figure, folder / "robustness.png")
    return True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "robustness")
    parser.add_argument("--rows", type=int, default=CENSUS_ROWS, help="people of the synthetic census")
    parser.add_argument("--quick", action="store_true", help="one r and fewer queries")
    given = parser.parse_args()
    levels, number = (QUICK_LEVELS, QUICK_QUERIES) if given.quick else (LEVELS, QUERIES)
    path = adult_path()
    studies = {"Adult": read_adult(path)} if path.is_file() else {}
    studies["Synthetic census"] = read_census(given.rows)
    results: Record = {"queries": number, "shown": SHOWN_LEVEL, "data": {}}
    for name, study in studies.items():
        facts = {"rows": len(study.codes), "values": study.sensitive.width}
        results["data"][name] = {
            **facts,
            "records": measured(study, levels, number),
            "protection": protection(study, JUDGED_LEVELS),
            "small": beside_the_paper(study, number),
        }
    write_results(given.out, "robustness", results, markdown(results))
    if not draw(results, given.out):
        print(NO_FIGURES)
    if not path.is_file():
        print(f"no Adult table at {path}: set PPDP_ADULT")


if __name__ == "__main__":
    main()
