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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from reproduction import ROOT, Record, adult_path, table, write_results
from scipy.sparse import csc_array
from scipy.special import gammaln, xlogy

from ppdp_spark import anonymize
from ppdp_spark.core.data.hierarchy import Hierarchy
from ppdp_spark.spark.session import local_session

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

ATTRIBUTES = ("age", "workclass", "education", "marital-status", "race", "sex", "native-country")
SURE = 0.9
SCALINGS = 30
LEAST_WEIGHT = 0.5
"""How much the whole table counts, in people, beside those who may be in the group."""


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
class Group:
    """A group as the reader has it, and the truth.

    where
        box   first and last leaf under the label of each attribute, shape (2, attributes)
        true  the codes of its people, which the reader has not
    """

    box: Codes
    true: Codes

    @property
    def people(self) -> int:
        """How many people are in it."""
        return len(self.true)


@dataclass(frozen=True)
class Reader:
    """Somebody who knows the distribution, from other people of the same kind.

    where
        trees    the hierarchies
        known    codes of these people
        weights  how much each of them counts for each group, see `placed`
    """

    trees: tuple[Hierarchy, ...]
    known: Codes
    weights: csc_array

    @classmethod
    def of(cls, trees: tuple[Hierarchy, ...], known: Codes, groups: Sequence[Group]) -> Reader:
        """The reader of a release."""
        return cls(trees, known, placed(known, groups))

    def prior(self, attribute: int, number: int, box: Codes) -> Floats:
        """Shares of the leaves of an attribute among people who may be in a group."""
        low, high = (int(end) for end in box[:, attribute])
        column, width = self.known[:, attribute], high - low + 1
        in_range = (column >= low) & (column <= high)
        whole = np.bincount(column[in_range] - low, minlength=width) + 1e-3
        part = slice(*self.weights.indptr[number : number + 2])
        like = np.bincount(
            column[self.weights.indices[part]] - low, weights=self.weights.data[part], minlength=width
        )
        found: Floats = like + LEAST_WEIGHT * whole / whole.sum()
        return np.asarray(found / found.sum())


def placed(known: Codes, groups: Sequence[Group]) -> csc_array:
    """How much each known person counts for each group, shape (people, groups).

    Labels overlap where what lies between two cuts has no node of its own: a person may fit several groups.
    Weights of a person add up to one, and those of a group to its people (iterative scaling).
    """
    low, high = (np.array([group.box[end] for group in groups]) for end in (0, 1))
    fits = np.ones((len(known), len(groups)), np.bool_)
    for j in range(known.shape[1]):
        fits &= (known[:, j, None] >= low[None, :, j]) & (known[:, j, None] <= high[None, :, j])
    weights = csc_array(fits.astype(np.float64))
    sizes = np.array([group.people for group in groups], np.float64)
    for _ in range(SCALINGS):
        rows = weights.sum(axis=1)
        weights.data /= rows[weights.indices]
        columns = np.maximum(weights.sum(axis=0), 1e-300)
        weights.data *= np.repeat(sizes / columns, np.diff(weights.indptr))
    return weights


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


def guesses(reader: Reader, k: int, number: int, group: Group, *, aware: bool) -> Iterator[Guess]:
    """The most probable leaf of each attribute that is published as a node above several."""
    for attribute in range(group.box.shape[1]):
        low, high = (int(end) for end in group.box[:, attribute])
        if low == high:
            continue
        found = reader.prior(attribute, number, group.box)
        if aware:
            found = shares(group.people, k, found, children_of(reader.trees[attribute], low, high))
        yield Guess(attribute, low + int(found.argmax()), float(found.max()))


def attacked(reader: Reader, k: int, groups: Sequence[Group], *, aware: bool) -> Record:
    """How often the reader is sure of finer values, and right, over all groups."""
    sure = right = small = 0
    for number, group in enumerate(groups):
        found = guesses(reader, k, number, group, aware=aware)
        hits = [group.true[:, g.attribute] == g.leaf for g in found if g.posterior >= SURE]
        sure, right = sure + group.people * len(hits), right + int(sum(hit.sum() for hit in hits))
        if hits:
            refined = int(np.logical_and.reduce(hits).sum())
            small += refined if refined < k else 0
    return {"sure": sure, "right": right / sure if sure else None, "in small classes": small}


def groups_of(trees: tuple[Hierarchy, ...], release: pa.Table, true: Codes) -> list[Group]:
    """The groups of a release."""
    spans = [{label: _span(tree, number) for number, label in enumerate(tree.labels)} for tree in trees]
    numbers, rows = (np.asarray(release.column(name)) for name in ("group_id", "row"))
    labels = [release.column(name).to_pylist() for name in ATTRIBUTES]
    found = []
    for number in np.unique(numbers):
        places = np.flatnonzero(numbers == number)
        ends = [span[told[places[0]]] for span, told in zip(spans, labels, strict=True)]
        found.append(Group(np.array(ends).T, true[rows[places]]))
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
        "cuts": "median",
        "output": {"path": str(folder / f"k{k}")},
    }
    run = anonymize(spec, table=people, trial=True)
    return run.release.select(*ATTRIBUTES, "row", "group_id").toArrow()


def measured(k: int, reader: Reader, groups: Sequence[Group]) -> Record:
    """One release, for a reader without and with knowledge of the program."""
    large = sum(group.people for group in groups if group.people >= 2 * k)
    values = sum(group.people * int((group.box[0] < group.box[1]).sum()) for group in groups)
    record: Record = {"k": k, "people": sum(group.people for group in groups), "groups": len(groups)}
    record |= {"in groups of 2k or more": large, "generalized values": values}
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
    records = []
    with tempfile.TemporaryDirectory() as folder:
        for k in (5, 10, 50):
            release = released([texts[row] for row in published], k, Path(folder), files)
            groups = groups_of(trees, release, codes[published])
            records.append(measured(k, Reader.of(trees, codes[known], groups), groups))
    local_session("local[2]").stop()
    write_results(given.out, "downcoding", {"records": records}, page(records))


if __name__ == "__main__":
    main()
