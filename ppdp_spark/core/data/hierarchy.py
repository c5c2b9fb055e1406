"""Generalization hierarchies: from leaves up to one root, and the lowest node above a range of leaves."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ppdp_spark.core.data.groups import IntArray
from ppdp_spark.errors import DataError, InternalError

IMPLICIT_ROOT = "*"
LISTED_VALUES = 10


class Cover(NamedTuple):
    """The lowest nodes above ranges of leaves, one entry a range.

    where
        label   index into `Hierarchy.labels`
        level   how far up the node is; 0 is a leaf
        leaves  leaves under the node, for the normalized certainty penalty
    """

    label: IntArray
    level: IntArray
    leaves: IntArray


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """A tree over categories whose leaves are coded 0, 1, 2, ... so that every node is a range of codes.

    A cut between two codes then never tears a node apart more than its place in the tree demands.

    where
        labels      texts of all nodes, each once; a text stands for the same leaves at every level
        leaves      texts of the leaves, in the order of their codes
        leaf_order  row of the file that each code comes from, shape (leaves,)
        nodes       label index of the ancestor of each leaf, shape (levels, leaves); level 0 is the leaf
        sizes       leaves under each label, shape (labels,)
    """

    labels: tuple[str, ...]
    leaves: tuple[str, ...]
    leaf_order: IntArray
    nodes: IntArray
    sizes: IntArray

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Hierarchy:
        """The hierarchy in an ARX-style CSV file: no header, one row per leaf, columns from leaf to root.

        Commas or semicolons separate; cells are taken as they are, spaces included. Without a single
        root an implicit one, `*`, is added.
        """
        numbered = _csv_rows(str(path))
        name = f"the hierarchy `{path}`"
        return cls._checked([row for _, row in numbered], [number for number, _ in numbered], name)

    @classmethod
    def from_rows(cls, rows: Iterable[Sequence[str]]) -> Hierarchy:
        """The hierarchy in rows of texts, each from a leaf up; rows are numbered from 1 in errors."""
        listed = [tuple(row) for row in rows]
        return cls._checked(listed, list(range(1, len(listed) + 1)), "the hierarchy")

    @classmethod
    def _checked(cls, rows: Sequence[Sequence[str]], numbers: Sequence[int], name: str) -> Hierarchy:
        problems = list(_shape_problems(rows, numbers))
        if not problems:
            if len({row[-1] for row in rows}) > 1:
                rows = [(*row, IMPLICIT_ROOT) for row in rows]
            problems = list(_tree_problems(rows, numbers)) or list(_label_problems(rows))
        if problems:
            raise DataError([f"{name}: {problem}" for problem in problems])
        return cls._built(rows)

    @classmethod
    def _built(cls, rows: Sequence[Sequence[str]]) -> Hierarchy:
        index: dict[str, int] = {}
        nodes = np.array([[index.setdefault(cell, len(index)) for cell in row] for row in rows]).T
        order = _contiguous_order(nodes)
        nodes = np.ascontiguousarray(nodes[:, order])
        sizes = np.zeros(len(index), dtype=np.int64)
        for level in nodes:
            found, counts = np.unique(level, return_counts=True)
            sizes[found] = counts
        for array in (order, nodes, sizes):
            array.setflags(write=False)
        return cls(tuple(index), tuple(rows[i][0] for i in order), order, nodes, sizes)

    @property
    def levels(self) -> int:
        """Levels of the tree, leaves and root included."""
        return len(self.nodes)

    def __len__(self) -> int:
        return len(self.leaves)

    def cover(self, lo: IntArray, hi: IntArray) -> Cover:
        """The lowest node that contains all leaves lo..hi (both included), for arrays of ranges."""
        first, last = np.asarray(lo), np.asarray(hi)
        if first.size and (first.min() < 0 or last.max() >= len(self) or (first > last).any()):
            raise InternalError(f"a range of codes is not inside 0..{len(self) - 1}")
        level = np.argmax(self.nodes[:, first] == self.nodes[:, last], axis=0)
        label = self.nodes[level, first]
        return Cover(label, level, self.sizes[label])

    def missing(self, values: Iterable[str]) -> list[str]:
        """The values that are no leaves, each once, sorted."""
        return sorted(set(values).difference(self.leaves))

    def require_cover(self, values: Iterable[str], column: str) -> None:
        """Raise unless every value of a column is a leaf; the message lists at most ten that are not."""
        uncovered = self.missing(values)
        if uncovered:
            listed = ", ".join(repr(value[:40]) for value in uncovered[:LISTED_VALUES])
            more = f" and {len(uncovered) - LISTED_VALUES} more" if len(uncovered) > LISTED_VALUES else ""
            raise DataError(
                f"the hierarchy of `{column}` has no leaf for {len(uncovered)} of its values "
                f"({listed}{more}): add a row for each"
            )


def _contiguous_order(nodes: IntArray) -> IntArray:
    """Rows sorted by root, then level by level down; nodes in the order of their first row."""
    ranks = []
    for level in nodes:
        _, first, inverse = np.unique(level, return_index=True, return_inverse=True)
        ranks.append(first[inverse.reshape(-1)])
    order: IntArray = np.lexsort(ranks)
    return order


def _numbered(numbers: Sequence[int]) -> str:
    shown = ", ".join(map(str, numbers[:LISTED_VALUES]))
    more = f" and {len(numbers) - LISTED_VALUES} more" if len(numbers) > LISTED_VALUES else ""
    return ("row " if len(numbers) == 1 else "rows ") + shown + more


def _shape_problems(rows: Sequence[Sequence[str]], numbers: Sequence[int]) -> Iterator[str]:
    """No rows, rows of different lengths, empty cells, a leaf with two rows."""
    if not rows:
        yield "has no rows: give one row per leaf, from the leaf to the root"
        return
    lengths = [len(row) for row in rows]
    usual = Counter(lengths).most_common(1)[0][0]
    odd = [number for number, length in zip(numbers, lengths, strict=True) if length != usual]
    if odd:
        yield f"{_numbered(odd)} should have {usual} columns like the others"
    blank = [number for number, row in zip(numbers, rows, strict=True) if not row or "" in row]
    if blank:
        yield f"{_numbered(blank)} should have no empty cell"
    places: dict[str, list[int]] = {}
    for number, row in zip(numbers, rows, strict=True):
        if row:
            places.setdefault(row[0], []).append(number)
    for leaf, found in places.items():
        if len(found) > 1:
            yield f"the leaf `{leaf[:40]}` is in {_numbered(found)}: keep one"


def _tree_problems(rows: Sequence[Sequence[str]], numbers: Sequence[int]) -> Iterator[str]:
    """Nodes with two parents; columns are counted from 1, the leaves."""
    for column, (lower, upper) in enumerate(pairwise(zip(*rows, strict=True)), start=1):
        parent: dict[str, tuple[str, int]] = {}
        reported = set()
        for number, node, above in zip(numbers, lower, upper, strict=True):
            known, first = parent.setdefault(node, (above, number))
            if known != above and node not in reported:
                reported.add(node)
                yield (
                    f"`{node[:40]}` in column {column} has two parents: `{known[:40]}` in row {first}, "
                    f"`{above[:40]}` in row {number}"
                )


def _label_problems(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """A text that stands for different leaves in different columns: a reader could not tell which."""
    seen: dict[str, tuple[int, list[int]]] = {}
    for column, cells in enumerate(zip(*rows, strict=True), start=1):
        under: dict[str, list[int]] = {}
        for row, cell in enumerate(cells):
            under.setdefault(cell, []).append(row)
        for cell, leaves in under.items():
            first, known = seen.setdefault(cell, (column, leaves))
            if known != leaves:
                yield f"`{cell[:40]}` stands for different leaves in columns {first} and {column}: rename one"


def _csv_rows(path: str) -> list[tuple[int, list[str]]]:
    """Rows of a CSV file with their line numbers, without blank lines."""
    try:
        text = _content(path).decode("utf-8-sig")
    except FileNotFoundError:
        raise DataError(f"the hierarchy `{path}` does not exist: correct the path in the spec") from None
    except UnicodeDecodeError:
        raise DataError(f"the hierarchy `{path}` is not UTF-8 text: save it as UTF-8") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or (str(error) if "://" in path else "not a usable path")
        raise DataError(f"the hierarchy `{path}` cannot be read: {reason}") from None
    try:
        return _separated(text)
    except csv.Error as error:
        raise DataError(f"the hierarchy `{path}` is not a CSV file: {error}") from None


def _content(path: str) -> bytes:
    """The bytes of a file on this machine or on another store."""
    if "://" not in path:
        return Path(path).read_bytes()
    from ppdp_spark.stores.addresses import read_bytes

    return read_bytes(path)


def _separated(text: str) -> list[tuple[int, list[str]]]:
    """Split by semicolons if that gives every row the same number of columns, two or more; else by commas."""
    parsed = []
    for delimiter in ";,":
        reader = csv.reader(StringIO(text, newline=""), delimiter=delimiter)
        rows = [(reader.line_num, row) for row in reader if row]
        lengths = {len(row) for _, row in rows}
        if len(lengths) == 1 and lengths != {1}:
            return rows
        parsed.append((max(lengths, default=0), rows))
    by_semicolon, by_comma = parsed
    return by_semicolon[1] if by_semicolon[0] > by_comma[0] else by_comma[1]
