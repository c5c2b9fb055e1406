"""Names of columns and data sets are the user's: whatever characters they have, names is all they are."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ppdp_spark import ReleaseSpec, anonymize, check, suppress, verify
from ppdp_spark.errors import DataError, PpdpError

pytestmark = pytest.mark.usefixtures("compiled")  # names are told in the code that Spark makes

HOSTILE = "<script>alert('x')</script><img src=x onerror=\"alert(1)\">&amp;"
ORDERED = ["a.b", "a`b`", 'it\'s "x"\nline', "../../up", " "]
CATEGORIES = [HOSTILE, "a,b;c={d}(\t)${e}", "q0", "ünï cödé \u202e" + "x" * 300]
SENSITIVE, KEPT = "sens.`it`ive\n<b>", "kept `as` is."


@pytest.fixture(scope="module")
def people(spark):
    rows = range(60)
    columns = {name: pa.array([(i * (j + 2)) % 30 for i in rows]) for j, name in enumerate(ORDERED)}
    columns |= {name: pa.array([f"c{(i + j) % 3}" for i in rows]) for j, name in enumerate(CATEGORIES)}
    columns |= {SENSITIVE: pa.array([f"s{i % 4}{HOSTILE}" for i in rows]), KEPT: pa.array(["k"] * len(rows))}
    return spark.createDataFrame(pa.table(columns))


def spec_of(out: Path, **changes) -> ReleaseSpec:
    plain = {
        "version": 1,
        "dataset": f"../../{HOSTILE}\n`'\"",
        "input": {"path": "unused.parquet"},
        "columns": {
            "quasi_identifiers": {name: {} for name in [*ORDERED, *CATEGORIES]},
            "sensitive": SENSITIVE,
            "publish_as_is": [KEPT],
        },
        "privacy": {"k_anonymity": 3, "l_diversity": {"kind": "distinct", "l": 2}},
        "output": {"path": str(out)},
        **changes,
    }
    return ReleaseSpec.parse(plain)


class Tags(HTMLParser):
    def __init__(self, markup: str) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.feed(markup)

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))


def assert_harmless(page: Path) -> None:
    """No name became a tag or an attribute of the page."""
    seen = Tags(page.read_text()).seen
    assert "alert" in page.read_text(), "the names are on the page"
    assert not [tag for tag, _ in seen if tag == "img"]
    assert not [name for _, attributes in seen for name in attributes if name.startswith("on")]
    assert not re.search(r"<script>\s*alert", page.read_text())


@pytest.mark.parametrize("form", ["generalized", pytest.param("bucketized", marks=pytest.mark.slow)])
def test_columns_with_odd_names_are_published_under_them(people, spark, tmp_path, form):
    out = tmp_path / "o[u]t {x} ünï 'q'"
    run = anonymize(spec_of(out, output={"path": str(out), "form": form}), table=people)
    assert run.ok and verify(out, spark=spark).ok
    data = out / "release/data"
    names = pq.read_schema(next((data if form == "generalized" else data / "qi").glob("*.parquet"))).names
    assert {*ORDERED, *CATEGORIES, KEPT} <= set(names)
    if form == "generalized":
        assert SENSITIVE in names and {f"{name}_min" for name in ORDERED} <= set(names)
    assert {path.name for path in tmp_path.iterdir()} - {".releases"} == {out.name}
    assert_harmless(out / "private/report.html")


def test_check_and_suppress_with_odd_names(people, tmp_path):
    found = check(spec_of(tmp_path / "checked"), table=people)
    assert found.verdict.rows
    assert_harmless(tmp_path / "checked/private/check/report.html")
    suppression = {"method": "r", "l": 2, "budget": 1}
    suppress(spec_of(tmp_path / "kept", suppression=suppression), table=people)
    assert set(pq.read_table(tmp_path / "kept/private/kept").column_names) >= {*ORDERED, SENSITIVE}


def test_names_that_differ_in_case_only_are_refused(spark, tmp_path):
    table = spark.createDataFrame(pa.table({"age": [1, 2], "AGE": [1, 2], "job": ["a", "b"]}))
    columns = {"quasi_identifiers": {"age": {}}, "sensitive": "job"}
    with pytest.raises(DataError, match="case only"):
        anonymize(spec_of(tmp_path / "out", columns=columns), table=table)
    assert not (tmp_path / "out/release").exists()


@pytest.mark.parametrize("name", ["group_id", "age_min", "AGE_MAX", "Group_ID"])
def test_names_that_we_publish_ourselves_are_refused(spark, tmp_path, name):
    table = spark.createDataFrame(pa.table({"age": [1, 2], name: [1, 2], "job": ["a", "b"]}))
    columns = {"quasi_identifiers": {"age": {}, name: {}}, "sensitive": "job"}
    with pytest.raises(DataError, match="share a name"):
        anonymize(spec_of(tmp_path / "out", columns=columns), table=table)


def test_a_message_about_a_missing_column_is_one_line_a_problem(spark, tmp_path):
    table = spark.createDataFrame(pa.table({"line\nbreak": [1], "job": ["a"]}))
    columns = {"quasi_identifiers": {"line\nbroke": {}, "\x1b[31mred": {}}, "sensitive": "job"}
    with pytest.raises(PpdpError) as caught:
        anonymize(spec_of(tmp_path / "out", columns=columns), table=table)
    problems = caught.value.problems  # type: ignore[attr-defined]
    assert len(problems) == 2 and all(problem.isprintable() for problem in problems), json.dumps(problems)
