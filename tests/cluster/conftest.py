"""One Airflow for each file that runs the DAG."""

from __future__ import annotations

import pytest

from support.dag_runs import BIN, Airflow


@pytest.fixture(scope="module")
def airflow(tmp_path_factory) -> Airflow:
    if not (BIN / "airflow").exists():
        pytest.skip("there is no Airflow: run `make airflow`")
    found = Airflow(tmp_path_factory.mktemp("airflow"))
    migrated = found("airflow", "db", "migrate")
    assert migrated.returncode == 0, migrated.stderr[-2000:]
    return found
