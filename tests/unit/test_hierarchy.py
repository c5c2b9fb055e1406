"""Hierarchies: what is refused, the order of leaves, and the lowest node above a range."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ppdp_spark.core.data.hierarchy import Hierarchy
from ppdp_spark.errors import DataError, InternalError
from support.places import ROOT

EDUCATION = ROOT / "conf/hierarchies/education.csv"


@st.composite
def trees(draw: st.DrawFn) -> list[list[str]]:
    """Rows of a random tree, shuffled; nodes without siblings may carry the label of their child."""
    levels = draw(st.integers(1, 5))
    count = draw(st.integers(1, 14))
    rows = [[f"leaf{i}"] for i in range(count)]
    groups = {row[0]: [row] for row in rows}
    for level in range(1, levels):
        width = draw(st.integers(1, max(1, len(groups))))
        merged: dict[int, list[list[str]]] = {}
        for members in groups.values():
            merged.setdefault(draw(st.integers(0, width - 1)), []).extend(members)
        groups = {}
        for node, members in merged.items():
            repeats = len({row[-1] for row in members}) == 1 and draw(st.booleans())
            label = members[0][-1] if repeats else f"n{level}.{node}"
            for row in members:
                row.append(label)
            groups[label] = members
    return draw(st.permutations(rows))


def leaf_sets(rows: list[list[str]]) -> list[tuple[str, set[str]]]:
    """Every node with its leaves, lowest level first; the implicit root last."""
    nodes = []
    for level in range(len(rows[0])):
        for label in dict.fromkeys(row[level] for row in rows):
            nodes += [(label, {row[0] for row in rows if row[level] == label})]
    return [*nodes, ("*", {row[0] for row in rows})]


@settings(max_examples=150, deadline=None)
@given(trees())
def test_cover_is_the_lowest_common_ancestor(rows: list[list[str]]) -> None:
    tree = Hierarchy.from_rows(rows)
    nodes = leaf_sets(rows)
    lo, hi = np.triu_indices(len(tree))
    cover = tree.cover(lo, hi)
    for first, last, label, count in zip(lo, hi, cover.label, cover.leaves, strict=True):
        inside = set(tree.leaves[first : last + 1])
        expected = min((node for node in nodes if inside <= node[1]), key=lambda node: len(node[1]))
        assert count == len(expected[1])
        assert {leaf for name, leaves in nodes if name == tree.labels[label] for leaf in leaves} == expected[
            1
        ]


@settings(max_examples=150, deadline=None)
@given(trees())
def test_every_node_is_a_range_of_codes(rows: list[list[str]]) -> None:
    tree = Hierarchy.from_rows(rows)
    assert [tree.leaves[code] for code in range(len(tree))] == [rows[i][0] for i in tree.leaf_order]
    assert sorted(tree.leaf_order) == list(range(len(rows)))
    for label, leaves in leaf_sets(rows):
        codes = sorted(tree.leaves.index(leaf) for leaf in leaves)
        assert codes == list(range(codes[0], codes[0] + len(codes))), label


@settings(max_examples=50, deadline=None)
@given(trees())
def test_leaves_that_are_in_order_stay_in_order(rows: list[list[str]]) -> None:
    once = Hierarchy.from_rows(rows)
    again = Hierarchy.from_rows([rows[i] for i in once.leaf_order])
    assert again.leaves == once.leaves
    assert list(again.leaf_order) == list(range(len(rows)))


def test_torn_nodes_are_brought_together_in_file_order() -> None:
    tree = Hierarchy.from_rows([("c", "Y"), ("a", "X"), ("d", "Y"), ("b", "X")])
    assert tree.leaves == ("c", "d", "a", "b")
    assert tree.levels == 3
    assert [tree.labels[i] for i in tree.cover(np.array([0, 0]), np.array([1, 2])).label] == ["Y", "*"]


def test_nothing_can_be_changed() -> None:
    tree = Hierarchy.from_rows([("a", "X"), ("b", "X")])
    for array in (tree.leaf_order, tree.nodes, tree.sizes):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    with pytest.raises(AttributeError):
        tree.labels = ()  # type: ignore[misc]


def test_ready_hierarchy_of_education() -> None:
    tree = Hierarchy.read(EDUCATION)
    assert (len(tree), tree.levels) == (16, 4)
    cover = tree.cover(np.array([12, 14, 0, 5]), np.array([15, 15, 15, 5]))
    assert [tree.labels[i] for i in cover.label] == ["With diploma", "Advanced degree", "*", "10th"]
    assert cover.leaves.tolist() == [8, 2, 16, 1]
    assert cover.level.tolist() == [2, 1, 3, 0]


def test_single_leaf_is_its_own_root() -> None:
    tree = Hierarchy.from_rows([("a",)])
    assert (tree.labels, tree.levels) == (("a",), 1)
    assert tree.cover(np.array([0]), np.array([0])).leaves.tolist() == [1]


def test_no_ranges() -> None:
    none = np.array([], dtype=np.int64)
    assert len(Hierarchy.from_rows([("a",), ("b",)]).cover(none, none).label) == 0


@pytest.mark.parametrize(("lo", "hi"), [(-1, 0), (0, 2), (1, 0)])
def test_codes_outside_the_tree_are_refused(lo: int, hi: int) -> None:
    with pytest.raises(InternalError, match=r"not inside 0\.\.1"):
        Hierarchy.from_rows([("a",), ("b",)]).cover(np.array([0, lo]), np.array([0, hi]))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "has no rows"),
        ([("a", "X"), ("b",), ("c", "X"), ("d", "X", "Y")], r"rows 2, 4 should have 2 columns"),
        ([("a", "X"), ("", "X"), ("c", "")], r"rows 2, 3 should have no empty cell"),
        ([("a", "X"), ("b", "X"), ("a", "X")], r"the leaf `a` is in rows 1, 3"),
        (
            [("a", "X", "*"), ("b", "Y", "*"), ("c", "X", "Z")],
            r"`X` in column 2 has two parents: `\*` in row 1, `Z` in row 3",
        ),
        ([("a", "b"), ("b", "b")], r"`b` stands for different leaves in columns 1 and 2"),
        ([("*", "X"), ("b", "Y")], r"`\*` stands for different leaves in columns 1 and 3"),
    ],
)
def test_trees_that_are_none_are_refused(rows: list[tuple[str, ...]], message: str) -> None:
    with pytest.raises(DataError, match=message):
        Hierarchy.from_rows(rows)


def test_all_problems_are_listed_at_once() -> None:
    with pytest.raises(DataError) as caught:
        Hierarchy.from_rows([("a", "X"), ("a",), ("b", "")])
    assert len(caught.value.problems) == 3


@pytest.mark.parametrize(
    ("text", "leaves", "labels"),
    [
        ("a,X,*\nb,X,*\n", ("a", "b"), {"a", "b", "X", "*"}),
        ("a;X;*\r\nb;X;*\r\n", ("a", "b"), {"a", "b", "X", "*"}),
        ("\ufeffa, or b;X\n\nc, d, e;X\n", ("a, or b", "c, d, e"), {"a, or b", "c, d, e", "X"}),
        ('"a,b",X\n"c;d",X\n', ("a,b", "c;d"), {"a,b", "c;d", "X"}),
        ("é\nß\n", ("é", "ß"), {"é", "ß", "*"}),
    ],
)
def test_files(tmp_path: Path, text: str, leaves: tuple[str, ...], labels: set[str]) -> None:
    path = tmp_path / "tree.csv"
    path.write_bytes(text.encode())
    tree = Hierarchy.read(path)
    assert tree.leaves == leaves
    assert set(tree.labels) == labels


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "has no rows"),
        (b"\xff\xfe", "is not UTF-8"),
        (b"a,X\n\nb\n", r"row 3 should have 2 columns"),
        (b'a,X\n"b,X\n' + b"x" * 200_000, "is not a CSV file"),
    ],
)
def test_files_that_are_no_hierarchy(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "tree.csv"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message):
        Hierarchy.read(path)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="does not exist"):
        Hierarchy.read(tmp_path / "none.csv")
    with pytest.raises(DataError, match="cannot be read"):
        Hierarchy.read(tmp_path)
    with pytest.raises(DataError, match="cannot be read"):
        Hierarchy.read("a\0b")


def test_uncovered_values_are_listed() -> None:
    tree = Hierarchy.from_rows([("a",), ("b",)])
    assert tree.missing(["b", "z", "c", "z"]) == ["c", "z"]
    tree.require_cover(["a", "b"], "letter")
    with pytest.raises(DataError, match=r"`letter` has no leaf for 2 of its values \('c', 'z'\)"):
        tree.require_cover(["a", "z", "c"], "letter")
    with pytest.raises(DataError, match=r"for 30 of its values .* and 20 more") as caught:
        tree.require_cover([f"{i:02}" + "x" * 90 for i in range(30)], "letter")
    assert str(caught.value).count("x") == 10 * 38
