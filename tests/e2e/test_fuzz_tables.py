"""Tables of all kinds: always a release that verifies, or a clean error with its exit code."""

from __future__ import annotations

import copy
import datetime as dt
import os
import shutil
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, seed
from hypothesis import strategies as st

from ppdp_spark import ReleaseSpec, anonymize, verify
from ppdp_spark.errors import BudgetError, DataError, InfeasibleError, SpecError
from support.campaigns import ODD_NAMES, campaign
from support.sessions import COMPILED, INTERPRETED, QUICK, set_to

pytestmark = pytest.mark.slow

AT_ONCE = 4
CLEAN = (SpecError, DataError, InfeasibleError, BudgetError)
"""What bad input may end in; any other error, InternalError included, is a bug."""


@dataclass(frozen=True)
class Case:
    """A table and the spec for it."""

    table: pa.Table
    document: dict[str, Any]

    def __repr__(self) -> str:
        columns = {name: self.table[name].to_pylist() for name in self.table.column_names}
        return f"Case({self.table.schema.to_string()}\n{columns}\n{self.document})"


FIRST, LAST, EPOCH = dt.date(1, 1, 1), dt.date(9999, 12, 31), dt.datetime(1970, 1, 1, 0, 0, 0, 1)
POOLS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "int8": (pa.int8(), [-128, -1, 0, 1, 2, 127]),
    "int32": (pa.int32(), [-(2**31), -5, 0, 3, 7, 2**31 - 1]),
    "int64": (pa.int64(), [-(2**63), -(2**63) + 1, -1, 0, 2**53 + 1, 2**63 - 1]),
    "top": (pa.int64(), [2**63 - 1, 2**63 - 2, 2**63 - 9]),
    "bottom": (pa.int64(), [-(2**63), -(2**63) + 3]),
    "small": (pa.int64(), [1, 2, 3, 4, 5]),
    "float": (pa.float32(), [0.1, -0.0, 0.0, 1e38, 1e-45, float("nan")]),
    "double": (pa.float64(), [1.5, -0.0, 0.0, 1e300, 5e-324, float("nan"), -7.25]),
    "extreme": (pa.float64(), [1.7976931348623157e308, -1.7976931348623157e308, 0.0]),
    "infinite": (pa.float64(), [float("inf"), -float("inf"), 1.0]),
    "money": (pa.decimal128(7, 2), [Decimal("0.00"), Decimal("-0.01"), Decimal("99999.99"), Decimal("12.3")]),
    "decimal18": (pa.decimal128(18, 18), [Decimal("0.999999999999999999"), Decimal("-0.5"), Decimal(0)]),
    "decimal38": (pa.decimal128(38, 10), [Decimal("1e27"), Decimal("-1e-10")]),
    "date": (pa.date32(), [FIRST, LAST, dt.date(1582, 10, 10), dt.date(1970, 1, 1), dt.date(2024, 2, 29)]),
    "moment": (pa.timestamp("us", "UTC"), [dt.datetime(1, 1, 2), dt.datetime(9999, 12, 30), EPOCH]),
    "wall": (pa.timestamp("us"), [dt.datetime(1, 1, 1), dt.datetime.max, EPOCH, EPOCH - dt.timedelta(0, 1)]),
    "far dates": (pa.date32(), [-(2**31), 2**31 - 1, 0, -1]),
    "far moments": (pa.timestamp("us", "UTC"), [-(2**63), 2**63 - 1, 0]),
    "far walls": (pa.timestamp("us"), [-(2**63), 2**63 - 1, 0]),
    "text": (pa.string(), ["", " ", "a", "A", "null", "a, b", "{a}", "\0", "🙂", "é", "e\u0301", "x" * 500]),
    "words": (pa.string(), ["cook", "nurse", "smith", "clerk"]),
    "flag": (pa.bool_(), [True, False]),
    "bytes": (pa.binary(), [b"", b"\xff"]),
    "list": (pa.list_(pa.string()), [[], ["a"], ["a", "a", "b"], [None], ["c", "b"]]),
    "numbers": (pa.list_(pa.int64()), [[], [1], [2, 2], [2**63 - 1]]),
    "struct": (pa.struct({"x": pa.int32()}), [{"x": 1}, {"x": None}]),
    "map": (pa.map_(pa.string(), pa.int32()), [[("a", 1)], []]),
    "void": (pa.null(), []),
}  # fmt: skip
LIKELY = ["int32", "int64", "small", "double", "money", "date", "moment", "wall", "text", "words", "flag"]
CLASHING = {"", "AGE", "group_id", "count", "age_min"}
COLUMN_NAMES = ["age", "sex", "job", "city", "note", *(name for name in ODD_NAMES if name not in CLASHING)]


@st.composite
def columns(draw: Callable[..., Any], rows: int) -> pa.Array:
    likely = draw(st.integers(0, 5)) < 5
    kind = draw(st.sampled_from(LIKELY if likely else list(POOLS)))
    data_type, pool = POOLS[kind]
    if not pool:
        return pa.nulls(rows)
    chosen = draw(st.lists(st.sampled_from(range(len(pool))), min_size=1, max_size=len(pool)))
    holes = draw(st.sampled_from([0.0, 0.0, 0.1, 1.0]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    values = [None if rng.random() < holes else pool[rng.choice(chosen)] for _ in range(rows)]
    return pa.array(values, data_type)


def criteria(single: bool) -> st.SearchStrategy[dict[str, Any]]:
    point = st.fixed_dictionaries(
        {
            **{name: st.integers(0, most) for name, most in {"l": 2, "k": 3, "m": 2}.items()},
            "c": st.sampled_from([0.4, 0.8, 1]),
        }
    )
    some: dict[str, st.SearchStrategy[Any]] = {
        "k_anonymity": st.sampled_from([2, 2, 3, 5]),
        "skyline": st.fixed_dictionaries({"default": st.lists(point, min_size=1, max_size=2)}),
    }
    if single:
        some |= {
            "l_diversity": st.sampled_from([{"kind": "distinct", "l": 2}, {"kind": "entropy", "l": 1.5}])
            | st.just({"kind": "recursive", "c": 3, "l": 2}),
            "t_closeness": st.sampled_from([{"t": 0.5}, {"t": 0.9, "distance": "ordered"}]),
            "beta_likeness": st.sampled_from([{"beta": 2}, {"beta": 5, "kind": "basic"}]),
            "delta_disclosure": st.sampled_from([1.5, 5]),
            "alpha_k": st.sampled_from([{"alpha": 0.8, "k": 2}]),
        }
    return st.lists(st.sampled_from(sorted(some)), min_size=1, max_size=2, unique=True).flatmap(
        lambda names: st.fixed_dictionaries({name: some[name] for name in names})
    )


@st.composite
def cases(draw: Callable[..., Any]) -> Case:
    rows = draw(st.sampled_from([40, 20, 30, 40, 25, 40, 7, 2, 1, 0]))
    width = draw(st.integers(2, 5))
    allowed = COLUMN_NAMES + (sorted(CLASHING) if draw(st.integers(0, 9)) == 9 else [])
    names = draw(st.lists(st.sampled_from(allowed), min_size=width, max_size=width, unique=True))
    table = pa.table({name: draw(columns(rows)) for name in names})
    sensitive, *others = names
    qis = others[: draw(st.integers(1, len(others)))]
    document: dict[str, Any] = {
        "version": 1,
        "dataset": draw(st.sampled_from(["people", "../x", "a\nb", "<b>"])),
        "input": {"path": "unused.parquet"},
        "columns": {
            "quasi_identifiers": {name: {} for name in qis},
            "publish_as_is": others[len(qis) :],
            "may_single_out": others[len(qis) :],
        },
        "nulls": draw(st.sampled_from(["category", "category", "category", "suppress", "error"])),
        "output": {"queries": draw(st.sampled_from([0, 0, 3]))},
    }
    listed = isinstance(table.schema.field(sensitive).type, pa.ListType)
    case = draw(st.sampled_from(["mvpi-set", "mvpi-multiset"])) if listed else "svpi"
    if draw(st.integers(0, 9)):
        document["columns"]["sensitive"] = {"column": sensitive, "case": case}
        document["privacy"] = draw(criteria(single=not listed))
        document["output"]["form"] = draw(st.sampled_from(["generalized", "bucketized"]))
    else:
        document["privacy"] = {"k_anonymity": 2}
    if draw(st.integers(0, 3)) == 0:
        method = draw(st.sampled_from(["r", "safe-d", "none"]))
        document["suppression"] = {"method": method, "l": 2, "budget": draw(st.sampled_from([0.9, 1]))}
    if draw(st.integers(0, 5)) == 0:
        document["partitioner"] = draw(st.sampled_from(["anatomy", "art", "mondrian"]))
        robust = {"r": draw(st.sampled_from([1.2, 2])), "priors": [{"attributes": [qis[0]]}]}
        document["privacy"] = {"l_diversity": {"kind": "distinct", "l": 2}, "robustness": robust}
        document.setdefault("suppression", {"budget": 1.0})
    return Case(table, document)


def outcome(spark: Any, case: Case, root: Path) -> str:
    """Publish a case and look at what is left; says what it ended in."""
    out = root / uuid.uuid4().hex
    document = copy.deepcopy(case.document)
    document["output"]["path"] = str(out)
    try:
        table = spark.createDataFrame(case.table)
        try:
            spec = ReleaseSpec.parse(document)
            run = anonymize(spec, table=table)
        except CLEAN as error:
            assert str(error).strip()
            assert not (out / "release").exists()
            return type(error).__name__
        finally:
            left = [path.name for path in out.glob(".*")] if out.exists() else []
            assert not any(name.startswith((".staging", ".replaced")) for name in left), left
        assert run.ok and verify(out, spark=spark).ok
        released = run.summary["release"]
        assert released["rows"] + released["suppressed"]["total"] == case.table.num_rows
        return "released"
    finally:
        shutil.rmtree(out, ignore_errors=True)


@pytest.fixture(scope="module")
def quick(spark) -> Iterator[Any]:
    """The session with settings for tables of a few rows: a fifth of the time."""
    with set_to(spark, QUICK):
        yield spark


def all_at_once(try_one: Callable[[Case], str], some: list[Case]) -> Counter[str]:
    """What cases end in, tried in threads of their own; a bug shows the case it came up with."""

    def tried(case: Case) -> str:
        try:
            return try_one(case)
        except Exception as error:
            raise AssertionError(f"{type(error).__name__}: {error}\n{case!r}") from error

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return Counter(pool.map(tried, some))


BATCHES = st.lists(cases(), min_size=AT_ONCE, max_size=AT_ONCE)


@pytest.mark.parametrize(
    ("expressions", "batches"),
    [
        ("compiled", 12),
        pytest.param("compiled", 20, marks=pytest.mark.nightly),
        pytest.param("interpreted", 105, marks=pytest.mark.nightly),
    ],
)
def test_tables_are_published_or_refused(quick, tmp_path, expressions, batches):
    """The whole way, verification included, for 500 tables; Spark has two ways to evaluate a plan."""
    ended: Counter[str] = Counter()

    @seed(batches)
    @campaign("PPDP_FUZZ_TABLES", batches, derandomize=False)
    @given(BATCHES)
    def published(some: list[Case]) -> None:
        ended.update(all_at_once(lambda case: outcome(quick, case, tmp_path), some))

    with set_to(quick, {**(INTERPRETED if expressions == "interpreted" else COMPILED), **QUICK}):
        published()
    assert ended.total() >= AT_ONCE * int(os.environ.get("PPDP_FUZZ_TABLES") or batches)
    assert ended["released"] > 0.1 * ended.total() and len(ended) > 2, ended
