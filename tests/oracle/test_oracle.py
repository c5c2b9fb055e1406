"""Releases of random small tables, judged by enumeration of what a reader of the files can infer."""

from __future__ import annotations

import ast
import random
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest

from ppdp_spark import ReleaseSpec, check
from support.oracle.chunks import FEW, chunk_of, judged
from support.oracle.criteria import findings
from support.oracle.judging import agree
from support.oracle.reading import Group, Objection, parse_label
from support.oracle.tables import CASES, privacy
from support.oracle.worlds import Worlds, breach_probability, naive_breach
from support.places import ROOT


def test_some_releases_are_what_they_say(quick, tmp_path):
    judged(quick, chunk_of(0)[:FEW], tmp_path)


def test_the_oracle_shares_no_code_with_the_program():
    allowed = {
        "ppdp_spark": {"ReleaseSpec", "anonymize", "check"},
        "ppdp_spark.errors": {"BudgetError", "DataError", "InfeasibleError", "PpdpError", "SpecError"},
    }
    for file in [*Path(__file__).parent.glob("*.py"), *(ROOT / "tests/support/oracle").glob("*.py")]:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                assert not any(name.name.split(".")[0] == "ppdp_spark" for name in node.names), file.name
            elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "ppdp_spark":
                assert {name.name for name in node.names} <= allowed.get(node.module, set()), file.name


def tiny_release(rng: random.Random, case: str, whole: bool) -> list[Worlds]:
    """One or two groups of at most three people."""
    made = []
    for _ in range(rng.choice([1, 2])):
        size = rng.choice([1, 2, 3])
        lengths = [1] if case == "svpi" else [0, 1, 2]
        records = [[rng.choice("sxy") for _ in range(rng.choice(lengths))] for _ in range(size)]
        records = [sorted(set(one) if case == "mvpi-set" else one) for one in records]
        counts = Counter(value for one in records for value in one)
        said = tuple(map(tuple, records)) if whole or case == "svpi" else None
        made.append(Worlds.of(Group(((),) * size, said, counts), case))
    return made


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_counting_agrees_with_brute_force(case, whole):
    rng = random.Random(f"{case} {whole}")
    for _ in range(40):
        groups = tiny_release(rng, case, whole)
        l, k, m = (rng.choice([0, 1, 2]) for _ in range(3))
        counted = breach_probability(groups, "s", l, k, m)
        assert counted == naive_breach(groups, "s", l, k, m, case == "svpi"), (groups, l, k, m)


@pytest.mark.parametrize(
    ("label", "members", "null"),
    [
        (None, set(), True),
        ("a", {"a"}, False),
        ("", {""}, False),
        ("{a, b} or null", {"a", "b"}, True),
        (r"{a\, b, c}", {"a, b", "c"}, False),
        (r"\{x\}", {"{x}"}, False),
        (r"x\ or null", {"x or null"}, False),
        (r"x\ or null or null", {"x or null"}, True),
        (r"a\\ or null", {"a\\"}, True),
        (r"{\\, \{}", {"\\", "{"}, False),
    ],
)
def test_labels_are_read_back(label, members, null):
    read = parse_label(label)
    assert (read.members, read.null) == (members, null)


@pytest.mark.parametrize("label", ["{a", "{b, a}", "{a}", "a, b", "{a, a}", "\\", "a}"])
def test_labels_that_cannot_be_read_are_objected_to(label):
    with pytest.raises(Objection):
        parse_label(label)


@pytest.mark.parametrize(
    "seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(4, 8))]
)
def test_check_measures_what_the_oracle_finds(quick, seed):
    rng = random.Random(f"check {seed}")
    size = rng.randint(4, 14)
    values = rng.sample(["a", "b", "c", "(null)", "\\"], rng.randint(2, 5))
    table = {"g": [rng.randint(1, 3) for _ in range(size)], "s": [rng.choice(values) for _ in range(size)]}
    demanded = privacy(rng, "svpi", sorted(set(table["s"])))
    columns = {"group": "g", "sensitive": {"column": "s", "case": "svpi"}}
    document = {"version": 1, "dataset": "c", "input": {"path": "x.csv"}, "columns": columns}
    document |= {"privacy": demanded, "output": {}}
    spec = ReleaseSpec.parse({name: given for name, given in document.items() if name != "output"})
    run = check(spec, table=quick.createDataFrame(pa.table(table)))
    groups = []
    for name in sorted(set(table["g"])):
        records = tuple((s,) for g, s in zip(table["g"], table["s"], strict=True) if g == name)
        groups.append(Group(((),) * len(records), records, Counter(s for (s,) in records)))
    found = findings(groups, document)
    demanded_rows = [row for row in run.verdict.rows if row.status != "measured"]
    agree(found, demanded_rows)
    assert run.ok == all(one.holds for one in found)
