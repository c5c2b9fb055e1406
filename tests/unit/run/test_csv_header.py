"""What the first line of a CSV says before Spark starts; whatever is not plain is left to Spark."""

from __future__ import annotations

import pytest

from ppdp_spark.run.inputs.csv_header import file_problem
from ppdp_spark.spec import ColumnsSpec, InputSpec

COLUMNS = {"identifiers": ["id"], "quasi_identifiers": {"age": "numeric"}, "sensitive": "job"}
EXPECTED = ColumnsSpec.model_validate(COLUMNS).named


def problem(path, content, written="utf-8", **said):
    path.write_bytes(content.encode(written))
    return file_problem(InputSpec.model_validate({"path": str(path), **said}), EXPECTED)


def test_every_column_with_a_role_is_expected():
    assert sorted(EXPECTED) == ["age", "id", "job"]


@pytest.mark.parametrize(
    ("content", "said", "told"),
    [
        ("", {}, "is empty: it has no header and no rows"),
        ("\n", {}, "is empty"),
        ("id,age,job\n", {}, "has a header and no rows"),
        ("id,age,job\n\n \n", {}, "has a header and no rows"),
        ("id;age;job\n1;2;x\n", {}, "did you mean `;`?"),
        ("1,2,x\n3,4,y\n", {}, "its first line has 3 columns, none of them named in the spec"),
    ],
)
def test_what_is_wrong_is_told(tmp_path, content, said, told):
    assert told in problem(tmp_path / "a.csv", content, **said)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("id,age,job\n1,2,x\n", {}),
        ("\ufeffid,age,job\n1,2,x", {}),
        ("id;age;job\n1;2;x\n", {"separator": ";"}),
        ("id|age|job\n1|2|x\n", {"options": {"sep": "|"}}),
        ('"id\nof a person",age\n1,2\n', {}),
        ("größe;age\n1;2\n", {"separator": ";", "encoding": "ISO-8859-1"}),
        ("id,age\n1,2\n", {"encoding": "no such encoding"}),
    ],
)
def test_nothing_is_said_of_files_that_may_do(tmp_path, content, said):
    written = "ISO-8859-1" if said.get("encoding") == "ISO-8859-1" else "utf-8"
    assert problem(tmp_path / "a.csv", content, written, **said) is None


def test_folders_and_compressed_files_are_left_to_spark(tmp_path):
    for name in ("table.csv", "table.csv.gz"):
        (tmp_path / name).mkdir()
        assert file_problem(InputSpec.model_validate({"path": str(tmp_path / name)}), EXPECTED) is None
