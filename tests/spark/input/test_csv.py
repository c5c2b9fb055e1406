"""CSV as agencies have it: declared columns keep their text, and what is wrong with a file is told."""

from __future__ import annotations

import pyarrow.parquet as pq
import pytest
from pyspark.sql import types as T

from ppdp_spark import ReleaseSpec, SpecError, anonymize
from ppdp_spark.errors import DataError
from ppdp_spark.spark.input.csv_files import CsvColumns
from ppdp_spark.spark.input.read_table import read_table
from ppdp_spark.spec import InputSpec

POSTCODES = ["08225", "8225", "01067", "00001", "99084", "1e5"]


def read(spark, path, text, *, known=None, **said):
    path.write_bytes(text.encode(said.get("encoding", "utf-8")))
    return read_table(spark, InputSpec.model_validate({"path": str(path), **said}), known)


def cells(table):
    return [tuple(row) for row in table.toArrow().to_pandas().itertuples(index=False)]


def test_a_release_has_the_postcodes_of_the_file(spark, tmp_path):
    """What is declared as a category is published as it is written: no zero lost, `1e5` no number."""
    lines = [f"{i},{20 + i % 7},{POSTCODES[i % 6]},{POSTCODES[i % 5]},j{i % 3}" for i in range(60)]
    (tmp_path / "people.csv").write_text("id,age,home,office,job\n" + "\n".join(lines) + "\n")
    spec = ReleaseSpec.parse(
        {
            "version": 1,
            "dataset": "postcodes",
            "input": {"path": str(tmp_path / "people.csv")},
            "columns": {
                "identifiers": ["id"],
                "quasi_identifiers": {"age": "numeric", "home": "categorical"},
                "sensitive": "job",
                "publish_as_is": ["office"],
            },
            "privacy": {"k_anonymity": 3},
            "output": {"path": str(tmp_path / "out")},
        }
    )
    assert anonymize(spec, spark=spark).ok
    found = pq.read_table(tmp_path / "out/release/data").to_pydict()
    shown = {code for label in found["home"] for code in label.strip("{}").split(", ")}
    assert shown == set(POSTCODES)
    assert sorted(found["office"]) == sorted(POSTCODES[i % 5] for i in range(60))


def test_types_are_told_by_the_cells_unless_a_text_would_lose_a_zero(spark, tmp_path):
    text = "a,b,c,d,e\n1,1,007,2.50,2024-01-02\n,2,12,10,2024-02-01\n-0.5,30,13,-1,\n"
    table = read(spark, tmp_path / "a.csv", text)
    kinds = [field.dataType for field in table.schema.fields]
    assert kinds == [T.DoubleType(), T.IntegerType(), T.StringType(), T.DoubleType(), T.DateType()]
    assert [row[2] for row in cells(table)] == ["007", "12", "13"]
    declared = CsvColumns(texts=frozenset("bd"), numbers=frozenset("c"))
    table = read(spark, tmp_path / "a.csv", text, known=declared)
    assert [row[1:4] for row in cells(table)] == [("1", 7, "2.50"), ("2", 12, "10"), ("30", 13, "-1")]


def test_zero_and_fractions_below_one_are_numbers(spark, tmp_path):
    table = read(spark, tmp_path / "a.csv", "a,b\n0,0.5\n10,-0.25\n-0,0\n")
    assert [field.dataType for field in table.schema.fields] == [T.IntegerType(), T.DoubleType()]


def test_separator_decimal_comma_encoding_and_dates(spark, tmp_path):
    text = "größe;ort;am;punkte\n1,5;Köln;31.12.2024;3\n-,25;Ulm;01.02.2023;4\n2;;05.06.2022;5\n"
    said = {"separator": ";", "decimal": ",", "encoding": "ISO-8859-1", "date_format": "dd.MM.yyyy"}
    table = read(spark, tmp_path / "a.csv", text, **said)
    assert [field.simpleString().split(":")[1] for field in table.schema.fields] == [
        "double",
        "string",
        "date",
        "int",
    ]
    assert [(a, b, str(c), d) for a, b, c, d in cells(table)] == [
        (1.5, "Köln", "2024-12-31", 3),
        (-0.25, "Ulm", "2023-02-01", 4),
        (2.0, None, "2022-06-05", 5),
    ]


@pytest.mark.parametrize(
    ("text", "said", "told"),
    [
        ("", {}, "is empty: it has no header and no rows"),
        ("age;city\n1;a\n", {}, r"the header has one column; did you mean `;`\?"),
        ("age\tcity\n1\ta\n", {}, 'did you mean a tab, written "\\\\t"'),
        ("age,city\n1,a\n", {"separator": ";"}, r"did you mean `,`\?"),
        ("39,State-gov\n50,Private\n", {}, "its first line has 2 columns, none of them named in the spec"),
        ("age,city\n1,a,x\n2\n3,b\n", {}, "2 rows have more or fewer cells than the header"),
        ("age,city\n1,a\n2,K\udcf6ln\n", {}, "1 rows are not UTF-8 text; name their encoding"),
        ("age;city\n1,5;a\nsecret;b\n", {"separator": ";", "decimal": ","}, "1 cells are no numbers"),
    ],
)
def test_what_is_wrong_with_a_file_is_told_without_its_cells(spark, tmp_path, text, said, told):
    known = CsvColumns(numbers=frozenset({"age"}), expected=frozenset({"age", "city"}))
    (tmp_path / "a.csv").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(DataError, match=told) as error:
        read_table(spark, InputSpec.model_validate({"path": str(tmp_path / "a.csv"), **said}), known)
    assert not any(cell in str(error.value) for cell in ("secret", "State-gov", "ln\n"))


def test_spark_options_hold_before_ours(spark, tmp_path):
    path = tmp_path / "a.csv"
    table = read(spark, path, "a|b\n007|1\n", options={"sep": "|", "inferSchema": False})
    assert cells(table) == [("007", "1")]
    table = read(spark, path, "a,b\n007,1\n", options={"header": True, "inferSchema": True})
    assert cells(table) == [("007", 1)]
    table = read(spark, path, "a,b\n1,2,3\n4,5\n", options={"mode": "PERMISSIVE"})
    assert cells(table) == [(1, 2), (4, 5)]
    table = read(spark, path, "a,b\n1,2,3\n4,5\n", options={"mode": "DROPMALFORMED"})
    assert cells(table) == [(4, 5)]


def test_files_with_other_headers_are_not_one_table(spark, tmp_path):
    """Columns in another order would be read as each other's."""
    (tmp_path / "t.csv").mkdir()
    (tmp_path / "t.csv/1.csv").write_text("a,b\n1,2\n")
    (tmp_path / "t.csv/2.csv").write_text("b,a\n3,4\n")
    with pytest.raises(DataError, match="other columns, or in another order"):
        read_table(spark, InputSpec.model_validate({"path": str(tmp_path / "t.csv")}))


@pytest.mark.parametrize(
    ("source", "told"),
    [
        (
            {"path": "a.parquet", "separator": ";"},
            "`input.separator` is about CSV files, and the input is none",
        ),
        (
            {"path": "a.csv", "separator": ";", "options": {"delimiter": "|"}},
            "and `options.delimiter` say the same",
        ),
        ({"path": "a.csv", "decimal": ";"}, "`input.decimal`"),
    ],
)
def test_what_is_said_of_a_csv_fits_it(source, told):
    with pytest.raises(SpecError, match=told):
        ReleaseSpec.parse(
            {"version": 1, "dataset": "x", "input": source, "columns": {"quasi_identifiers": {"a": {}}}}
        )
