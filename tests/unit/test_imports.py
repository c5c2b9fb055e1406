"""Imports go one way, `core` works without Spark, and the command line starts quickly."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "ppdp_spark"

MAY_IMPORT = {
    "errors": set(),
    "core": {"errors"},
    "spec": {"errors"},
    "storage": {"errors"},
    "spark": {"core", "errors", "spec", "storage"},
    "guarantees": {"core", "errors", "spec"},
    "report": {"errors"},
    "results": {"core", "errors", "report", "terminal"},
    "terminal": {"report", "results"},
    "summary": {"results"},
    "doctor": set(),
    "pipeline": {"core", "errors", "guarantees", "report", "results", "spark", "spec", "storage", "summary"},
    "console": {"errors", "pipeline", "results", "spark", "spec", "terminal"},
    "cli": {"console", "doctor", "errors", "pipeline", "report", "results", "spec", "storage"},
}


def room(module: str) -> str:
    return module.split(".")[1]


def test_imports_go_one_way():
    wrong = []
    for path in PACKAGE.rglob("*.py"):
        here = path.relative_to(PACKAGE).with_suffix("").parts[0]
        if here == "__init__":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            names = []
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("ppdp_spark"):
                parts = node.module.split(".")
                names = [parts[1]] if len(parts) > 1 else [alias.name for alias in node.names]
            elif isinstance(node, ast.Import):
                names = [room(a.name) for a in node.names if a.name.startswith("ppdp_spark.")]
            wrong += [f"{path.name}: {here} -> {n}" for n in names if n != here and n not in MAY_IMPORT[here]]
    assert not wrong


def run_python(code: str) -> None:
    subprocess.run([sys.executable, "-c", code], check=True, cwd=PACKAGE.parent)


def test_core_spec_and_report_work_without_spark():
    run_python(
        "import sys, importlib, pkgutil\n"
        "sys.modules['pyspark'] = None\n"
        "for name in ('core', 'spec', 'report'):\n"
        "    package = importlib.import_module(f'ppdp_spark.{name}')\n"
        "    for found in pkgutil.walk_packages(package.__path__, package.__name__ + '.'):\n"
        "        importlib.import_module(found.name)\n"
    )


def test_help_loads_neither_spark_nor_numpy():
    run_python(
        "import sys\n"
        "import ppdp_spark.cli\n"
        "heavy = {'pyspark', 'numpy', 'pandas', 'pyarrow', 'numba', 'scipy'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )


def test_no_rows_on_the_driver():
    """No engine internals and no table pulled to the driver; aggregates come back through Arrow."""
    banned = (".toPandas(", ".rdd", "_jvm", ".foreach(", ".collect()")
    sources = [(path, path.read_text()) for path in PACKAGE.rglob("*.py")]
    found = [f"{path.name}: {word}" for path, text in sources for word in banned if word in text]
    assert not found


def test_tasks_load_no_specs():
    """A worker starts in half of the time without what only the driver needs."""
    run_python(
        "import sys\n"
        "import ppdp_spark.spark.partition, ppdp_spark.spark.writing, ppdp_spark.spark.clustered\n"
        "heavy = {'pydantic', 'scipy.special'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
