"""What a failure of Spark becomes: our own words, with the name of a file and nothing of a row."""

from __future__ import annotations

import errno

import pytest
from pyspark.errors import PySparkException

from ppdp_spark.errors import DataError, InternalError, StorageError
from ppdp_spark.run.translated_errors import explained

FOOTER = "Could not read footer. Please ensure that the file is in either ORC or Parquet format."


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"Encountered error while reading file file:/data/part 1.parquet. {FOOTER}", "file part 1.parquet"),
        (
            "error while reading file file:///a/b%20c.parquet.  SQLSTATE: KD001",
            "file b c.parquet",
        ),
        (f"reading file hdfs://h/t/city=St. Gallen/part-0.parquet. {FOOTER}", "file part-0.parquet"),
        ("File s3a://b/city=Bern/x.parquet does not exist. It is possible", "file x.parquet"),
        (f"reading file file:/t/name=Eve. {FOOTER}", ""),
        ("Encountered error.", ""),
    ],
)
def test_a_damaged_file_is_named_without_the_folders_above(text, told):
    found = explained(PySparkException(f"[FAILED_READ_FILE.NO_HINT] {text}\nrow: (Eve, 41)"))
    assert isinstance(found, DataError)
    where = f", {told}" if told else ""
    assert f"cannot be read (FAILED_READ_FILE{where})" in str(found)
    assert not any(word in str(found) for word in ("Gallen", "Bern", "Eve"))


def test_a_disk_that_is_full_under_spark_or_under_us():
    found = explained(PySparkException("[TASK_WRITE_FAILED] x: java.io.IOException: No space left on device"))
    assert isinstance(found, StorageError) and "No space left on device; make room" in str(found)
    ours = explained(OSError(errno.ENOSPC, "Error writing bytes to file. Detail: (Eve, 41)"))
    assert isinstance(ours, StorageError) and "No space left on device" in str(ours)
    assert "Eve" not in str(ours) and found.exit_code == ours.exit_code == 1


def test_anything_else_of_spark_is_ours_to_answer_for():
    found = explained(PySparkException("[SOMETHING] (Eve, 41)"))
    assert isinstance(found, InternalError) and "Eve" not in str(found)
    assert explained(ValueError("x")) is None
