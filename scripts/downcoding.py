"""Downcoding: what a reader of a release with hierarchies infers of values finer than the published ones.

    python scripts/downcoding.py [--out benchmarks/downcoding] [--hierarchies FOLDER]

The Adult table is read from $PPDP_ADULT, else from ../shared/data/adult.csv beside the repository, and its
hierarchies from the folder `adult-hierarchies` beside it. Half of the people are published; the other half is
what the reader knows of the distribution. The reader also knows the program: a group that was not cut has no
cut with k people on each side, and its label is the lowest node above all of its people.
"""

from __future__ import annotations

import argparse
import csv
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from reproduction import ROOT, Record, adult_path, table, write_results
from scipy.special import gammaln, xlogy

from ppdp_spark import anonymize
from ppdp_spark.core.data.hierarchy import Hierarchy
from ppdp_spark.spark.session import local_session

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

ATTRIBUTES = ("age", "workclass", "education", "marital-status", "race", "sex", "native-country")
SURE = 0.9
LEAST_WEIGHT = 2.0
"""How much the whole table counts, in people, beside those of the reader's half who are like the group."""


def shares(people: int, k: int, prior: Floats, children: Codes) -> Floats:
    """The expected share of each leaf in a group that was not cut, for somebody who knows the program.

    Values are drawn from `prior`, people apart, given that every cut leaves fewer than k people on a side
    and that not all people are under one child of the label. With 2k people or more there is then one leaf
    with fewer than k people on either side of it, so the sum goes over that leaf and the numbers beside it.

    where
        people    in the group
        prior     of each leaf under the label; sums to 1
        children  the child of the label that each leaf is under
    """
    if people < 2 * k:
        return prior
    expected, weight = np.zeros(len(prior)), 0.0
    for leaf in range(len(prior)):
        inside = children == children[leaf]
        for sign, share in ((1.0, prior), (-1.0, np.where(inside, prior, 0.0))):
            chance, (left, middle, right) = _beside(
                people, k, share[:leaf].sum(), share[leaf], share[leaf + 1 :].sum()
            )
            weight += sign * chance
            expected[leaf] += sign * middle
            for side, number in ((slice(0, leaf), left), (slice(leaf + 1, None), right)):
                if number:
                    expected[side] += sign * number * share[side] / share[side].sum()
    found: Floats = expected / (people * weight) if weight > 0 else prior
    return found


def _beside(
    people: int, k: int, left: float, middle: float, right: float
) -> tuple[float, tuple[float, float, float]]:
    """The probability that fewer than k people are on either side, and the numbers of people, times that."""
    a, b = np.meshgrid(np.arange(k), np.arange(k), indexing="ij")
    rest = people - a - b
    chance = gammaln(people + 1) - gammaln(a + 1) - gammaln(b + 1) - gammaln(rest + 1)
    weights = np.exp(chance + xlogy(a, left) + xlogy(b, right) + xlogy(rest, middle))
    return weights.sum(), ((weights * a).sum(), (weights * rest).sum(), (weights * b).sum())


@dataclass(frozen=True)
class Reader:
    """Somebody who knows the distribution, from other people of the same kind."""

    trees: tuple[Hierarchy, ...]
    known: Codes

    def prior(self, attribute: int, box: Codes) -> Floats:
        """Shares of the leaves of an attribute in a group's box, for people like those of the group."""
        low, high = box[:, attribute]
        in_range = (self.known >= box[0]) & (self.known <= box[1])
        column, width = self.known[:, attribute], high - low + 1
        whole = np.bincount(column[in_range[:, attribute]] - low, minlength=width) + 1e-3
        like = np.bincount(column[in_range.all(axis=1)] - low, minlength=width)
        found: Floats = like + LEAST_WEIGHT * whole / whole.sum()
        shares_of: Floats = found / found.sum()
        return shares_of


def children_of(tree: Hierarchy, low: int, high: int) -> Codes:
    """The child of the node above the leaves low … high that each of them is under."""
    level = int(np.argmax(tree.nodes[:, low] == tree.nodes[:, high]))
    found: Codes = tree.nodes[max(0, level - 1), low : high + 1].astype(np.int64)
    return found


@dataclass(frozen=True)
class Guess:
    """A finer value of everybody in a group: the leaf, how sure the reader is, and whether it is right."""

    attribute: int
    leaf: int
    posterior: float


def guesses(reader: Reader, k: int, people: int, box: Codes, *, aware: bool) -> Iterator[Guess]:
    """The most probable leaf of each attribute that is published as a node above several."""
    for attribute in range(box.shape[1]):
        low, high = (int(end) for end in box[:, attribute])
        if low == high:
            continue
        found = reader.prior(attribute, box)
        if aware:
            found = shares(people, k, found, children_of(reader.trees[attribute], low, high))
        yield Guess(attribute, low + int(found.argmax()), float(found.max()))


def attacked(reader: Reader, k: int, groups: list[tuple[Codes, Codes]], *, aware: bool) -> Record:
    """How often the reader is sure of finer values, and right, over all groups with their boxes."""
    sure = right = small = 0
    for true, box in groups:
        certain = [g for g in guesses(reader, k, len(true), box, aware=aware) if g.posterior >= SURE]
        hits = [true[:, guess.attribute] == guess.leaf for guess in certain]
        sure, right = sure + len(true) * len(certain), right + int(sum(hit.sum() for hit in hits))
        if hits:
            refined = int(np.logical_and.reduce(hits).sum())
            small += refined if refined < k else 0
    return {"sure": sure, "right": right / sure if sure else None, "in small classes": small}


def boxes(trees: tuple[Hierarchy, ...], release: pa.Table, true: Codes) -> list[tuple[Codes, Codes]]:
    """Of each group: the true codes of its people, which the reader has not, and the box of its labels."""
    spans = [{label: _span(tree, number) for number, label in enumerate(tree.labels)} for tree in trees]
    groups = np.asarray(release.column("group_id"))
    rows, found = np.asarray(release.column("row")), []
    labels = [release.column(name).to_pylist() for name in ATTRIBUTES]
    for group in np.unique(groups):
        places = np.flatnonzero(groups == group)
        ends = [span[told[places[0]]] for span, told in zip(spans, labels, strict=True)]
        found.append((true[rows[places]], np.array(ends).T))
    return found


def _span(tree: Hierarchy, label: int) -> tuple[int, int]:
    """The first and the last leaf under a node."""
    under = np.flatnonzero((tree.nodes == label).any(axis=0))
    return int(under[0]), int(under[-1])


def adult(path: Path, trees: tuple[Hierarchy, ...]) -> tuple[list[list[str]], Codes]:
    """The people of Adult without missing values: their texts, and codes in the order of the leaves."""
    with path.open(newline="") as lines:
        rows = [row for row in csv.DictReader(lines, skipinitialspace=True) if "?" not in row.values()]
    texts = [[row[name] for name in ATTRIBUTES] for row in rows]
    codes = [{leaf: code for code, leaf in enumerate(tree.leaves)} for tree in trees]
    return texts, np.array([[of[text] for of, text in zip(codes, row, strict=True)] for row in texts])


def released(texts: list[list[str]], k: int, folder: Path, files: dict[str, str]) -> pa.Table:
    """The release, with the number of each row beside it so that guesses can be judged."""
    spark = local_session("local[2]")
    columns: dict[str, Any] = {
        name: list(column) for name, column in zip(ATTRIBUTES, zip(*texts, strict=True), strict=True)
    }
    people = spark.createDataFrame(pa.table({**columns, "row": list(range(len(texts)))}))
    spec = {
        "version": 1,
        "dataset": "downcoding",
        "columns": {
            "quasi_identifiers": {name: {"hierarchy": files[name]} for name in ATTRIBUTES},
            "publish_as_is": ["row"],
            "may_single_out": ["row"],
        },
        "privacy": {"k_anonymity": k},
        "output": {"path": str(folder / f"k{k}")},
    }
    run = anonymize(spec, table=people, trial=True)
    return run.release.select(*ATTRIBUTES, "row", "group_id").toArrow()


def measured(k: int, reader: Reader, groups: list[tuple[Codes, Codes]]) -> Record:
    """One release, for a reader without and with knowledge of the program."""
    large = [(true, box) for true, box in groups if len(true) >= 2 * k]
    cells = sum(len(true) * int((box[0] < box[1]).sum()) for true, box in groups)
    record: Record = {"k": k, "people": sum(len(true) for true, _ in groups), "groups": len(groups)}
    record |= {"in groups of 2k or more": sum(len(true) for true, _ in large), "generalized values": cells}
    for name, aware in (("by the distribution", False), ("by the program, too", True)):
        found = attacked(reader, k, groups, aware=aware)
        record |= {f"{key}, {name}": value for key, value in found.items()}
    print(record, flush=True)
    return record


def page(records: list[Record]) -> str:
    """The page beside the JSON."""
    told = __doc__.split("\n\n")[2].strip()
    return (
        f"# Downcoding\n\n{told}\n\nA value is *generalized* if it is published as a node above several "
        f"leaves. The reader is *sure* of a leaf from a posterior of {SURE:g} on; *right* is the share of "
        "these values that are that leaf. *In small classes* are people whose sure values are all right and "
        f"are shared, in their group, by fewer than k.\n\n{table(records)}"
    )


def main() -> None:
    """Publish, attack, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "downcoding")
    parser.add_argument("--hierarchies", type=Path, default=adult_path().parent / "adult-hierarchies")
    given = parser.parse_args()
    files = {name: str(given.hierarchies / f"adult_hierarchy_{name}.csv") for name in ATTRIBUTES}
    trees = tuple(Hierarchy.read(file) for file in files.values())
    texts, codes = adult(adult_path(), trees)
    half = np.random.default_rng(1).permutation(len(texts))
    published, known = np.sort(half[: len(texts) // 2]), half[len(texts) // 2 :]
    reader, records = Reader(trees, codes[known]), []
    with tempfile.TemporaryDirectory() as folder:
        for k in (5, 10, 50):
            release = released([texts[row] for row in published], k, Path(folder), files)
            records.append(measured(k, reader, boxes(trees, release, codes[published])))
    local_session("local[2]").stop()
    write_results(given.out, "downcoding", {"records": records}, page(records))


if __name__ == "__main__":
    main()
