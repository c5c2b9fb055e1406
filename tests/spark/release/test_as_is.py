"""Columns published as they are: whom they single out stops a run, unless that is declared.

Whom the sensitive column singles out with them is told.
"""

from __future__ import annotations

import json
from collections import Counter
from io import StringIO

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from ppdp_spark import ReleaseSpec, SpecError, anonymize
from ppdp_spark.errors import DataError
from ppdp_spark.spark.data.as_is import BesideSensitive, beside_sensitive
from ppdp_spark.spark.data.profile import profile_table
from ppdp_spark.spark.data.tables import assign_roles
from ppdp_spark.spark.input.given_tables import spark_frame

SITES, WEEKS = list("abcdef"), range(40)


@pytest.fixture(scope="module")
def visits() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "age": rng.integers(20, 60, 300),
            "job": rng.choice(list("xyz"), 300),
            "site": rng.choice(SITES, 300),
            "week": rng.choice([*map(float, WEEKS), -0.0, np.nan], 300),
        }
    )


def spec(folder, *kept, **columns):
    given = {"quasi_identifiers": {"age": {}}, "sensitive": "job", "publish_as_is": list(kept), **columns}
    return {
        "version": 1,
        "dataset": "visits",
        "columns": given,
        "privacy": {"k_anonymity": 5},
        "output": {"path": str(folder)},
    }


def alone(table: pd.DataFrame, *names: str) -> int:
    """People whose values nobody else has: NaN is null, and −0.0 is 0.0."""
    keys = [
        tuple(None if value != value else value for value in row)
        for row in table[list(names)].to_numpy(object)
    ]
    counted = Counter(keys)
    return sum(counted[key] == 1 for key in keys)


def test_a_combination_that_singles_people_out_stops_the_run(spark, tmp_path, visits):
    number = alone(visits, "site", "week")
    assert number > 20 and alone(visits, "site") == alone(visits, "week") == 0
    with pytest.raises(
        DataError, match=f"{number} people have values that nobody else has in `site`, `week`"
    ) as error:
        anonymize(spec(tmp_path / "both", "site", "week"), table=visits, spark=spark)
    assert "`columns.may_single_out`" in str(error.value) and not (tmp_path / "both/release").exists()
    one = anonymize(spec(tmp_path / "one", "site"), table=visits, spark=spark)
    assert one.ok and one.summary["release"]["as_is"] == {"columns": ["site"], "singled_out": 0}
    assert one.summary["warnings"] == []
    assert one.summary["release"]["beside_sensitive"] == [{"columns": ["job", "site"], "singled_out": 0}]


def test_what_is_declared_is_published_and_told_loudly(spark, tmp_path, visits):
    declared = spec(tmp_path / "out", "site", "week", may_single_out=["week"])
    run = anonymize(declared, table=visits, spark=spark)
    number = alone(visits, "site", "week")
    assert run.summary["release"]["as_is"] == {"columns": ["site", "week"], "singled_out": number}
    warning, other = run.summary["warnings"]
    together = alone(visits, "job", "site", "week")
    assert together > number
    assert other.startswith(f"{together} people have values that nobody else has in the sensitive column")
    assert "sensitive column `job` and the columns published as they are (`site`, `week`)" in other
    found = {"columns": ["job", "site", "week"], "singled_out": together}
    assert run.summary["release"]["beside_sensitive"] == [found]
    Console(file=(shown := StringIO()), width=200).print(run)
    assert f"{together} people are alone with their values in job, site, week" in shown.getvalue()
    assert warning.startswith(f"{number} people have values that nobody else has")
    page = (tmp_path / "out/private/report.html").read_text()
    assert page.index(warning.split(" (")[0]) < page.index('id="guarantees"')
    assert "Published as they are" in page and "Found by sensitive values" in page
    assert other.split(" (")[0].split("`")[0] in page
    assert str(number) not in json.dumps(
        json.loads((tmp_path / "out/release/release.json").read_text())["columns"]
    )


def found_beside(spark, table: pd.DataFrame, given: dict) -> list[BesideSensitive]:
    parsed, frame = ReleaseSpec.of(given), spark_frame(table, spark)
    roles = assign_roles(frame, parsed.columns)
    return beside_sensitive(frame, parsed, profile_table(frame, parsed, roles))


def test_sensitive_values_single_people_out_by_themselves(spark, visits):
    """One value, with NaN as null and one zero; sets, as a whole; and not where rows do not show them."""
    table = visits.assign(job=[1e6 + i if i < 7 else week for i, week in enumerate(visits["week"])])
    (found,) = found_beside(spark, table, spec("unused"))
    assert found.singled_out == alone(table, "job") == 7 and found.columns == ()
    assert "in the sensitive column `job`: whoever knows" in found.warnings[0]
    assert found_beside(spark, table, {**spec("unused"), "output": {"form": "bucketized"}}) == []
    sets = [["a", "b"], ["b", "a"], ["a"], ["a", "a"], ["b"], None, []]
    (found,) = found_beside(
        spark, visits[:7].assign(job=sets), spec("unused", sensitive={"column": "job", "case": "mvpi-set"})
    )
    assert found.singled_out == 3


def test_linked_sensitive_columns_single_people_out_together(spark, visits):
    """Two values of four are nobody's alone, and their combinations are."""
    table = visits[:12].assign(job=list("xyzxyzxyzxyz"), site=list("aaabbbcccddd"))
    given = spec("unused", sensitive=["job", "site"], sensitive_linked={"known": ["job"]})
    one, other, both = found_beside(spark, table, given)
    assert (one.singled_out, other.singled_out, both.singled_out) == (0, 0, 12)
    assert "in the sensitive columns `job`, `site`: whoever knows" in both.warnings[0]
    assert both.to_dict() == {"columns": ["job", "site"], "singled_out": 12}


def test_declared_columns_are_among_those_published():
    with pytest.raises(
        SpecError, match=r"`columns\.may_single_out\.0` .wek. is not one of `columns\.publish_as_is`"
    ):
        anonymize(spec("unused", "site", "week", may_single_out=["wek"]))
