"""A release under (k, e)-anonymity, verified, and tables checked: run by the tests in a fresh process."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pandas as pd

from ppdp_spark import ReleaseSpec, anonymize, check, verify
from ppdp_spark.spark.session import local_session

COLUMNS = {"quasi_identifiers": {"age": "numeric", "city": "categorical"}, "sensitive": "salary"}


def spec(folder: Path, **changes: object) -> ReleaseSpec:
    plain = {
        "version": 1,
        "dataset": "salaries",
        "input": {"path": str(folder / "people.parquet")},
        "columns": COLUMNS,
        "privacy": {"ke_anonymity": {"k": 3, "e": 20000}},
        "output": {"path": str(folder / "out")},
    }
    return ReleaseSpec.parse({**plain, **changes})


def main(folder: Path) -> None:
    # As in the session of the tests: plans are interpreted, which suits tables of a few rows.
    plans = {"wholeStage": "false", "factoryMode": "NO_CODEGEN"}
    settings = {f"spark.sql.codegen.{name}": value for name, value in plans.items()}
    settings |= {"spark.sql.shuffle.partitions": "3", "spark.sql.adaptive.enabled": "false"}
    session = local_session("local[2]", driver_memory="1g", **settings)
    released = anonymize(spec(folder), spark=session)
    verified = verify(folder / "out", spark=session)
    close = pd.DataFrame({"g": [1] * 4 + [2] * 3, "salary": [1, 2, 3, 30_000, 50_000, 50_001, 50_002]})
    table = session.createDataFrame(close)
    grouped = {"columns": {"group": "g", "sensitive": "salary"}}
    checked = check(spec(folder, **grouped), table=table)
    measured = check(spec(folder, **grouped, privacy={"k_anonymity": 3}), table=table)
    art = spec(
        folder,
        privacy={
            "ke_anonymity": {"k": 2, "e": 1},
            "robustness": {"r": 1.5, "priors": [{"attributes": ["city"]}]},
        },
        suppression={"budget": 1},
        output={"path": str(folder / "robust"), "form": "bucketized"},
    )
    runs = {
        "released": released,
        "verified": verified,
        "checked": checked,
        "measured": measured,
        "robust": anonymize(art, spark=session),
    }
    print(json.dumps({name: run.verdict.to_dict() for name, run in runs.items()}))
    session.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
