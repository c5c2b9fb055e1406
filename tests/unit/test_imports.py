"""Imports go one way, `core` works without Spark, and the command line starts quickly."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from support.places import PACKAGE

LAYERS = ["errors", "stores", "core", "spec", "report", "run", "spark", "commands", "cli"]
"""The rooms, from the ground up: each may import those before it."""

SAME_NOUN = {
    "algorithm_aware",
    "attack",
    "buckets",
    "forms",
    "households",
    "least_size",
    "mondrian",
    "partitioners",
    "posterior_audit",
    "priors",
    "privacy",
    "queries",
    "robustness",
    "rules",
    "several_attributes",
}
"""Capabilities that several layers have a file of, under one name."""


def modules() -> dict[str, Path]:
    """Every module by its dotted name, without the name of the package; a folder's map ends in `.*`."""
    found = {}
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        if parts not in {("__init__",), ("__main__",)}:
            found[".".join((*parts[:-1], "*") if parts[-1] == "__init__" else parts)] = path
    return found


def walked(tree: ast.AST, types: bool) -> Iterator[ast.AST]:
    """All nodes, those under `if TYPE_CHECKING` only if asked."""
    for node in ast.iter_child_nodes(tree):
        if types or not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
            yield node
            yield from walked(node, types)


def imported(path: Path, known: dict[str, Path], *, types: bool = True) -> set[str]:
    """Modules of the package that a file names, inside functions and, if asked, for types too."""
    names = set()
    for node in walked(ast.parse(path.read_text()), types):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "ppdp_spark":
            here = (node.module or "").removeprefix("ppdp_spark").strip(".")
            for alias in node.names:
                names.add(f"{here}.{alias.name}".strip("."))
        elif isinstance(node, ast.Import):
            names |= {
                a.name.removeprefix("ppdp_spark.") for a in node.names if a.name.startswith("ppdp_spark.")
            }
    found = set()
    for name in names:
        options = (name, f"{name}.*", name.rpartition(".")[0], f"{name.rpartition('.')[0]}.*")
        found |= set([option for option in options if option in known][:1])
    return found


def folder(module: str) -> str:
    """Where a module lies; the map of a folder is a place of its own above its files."""
    return module if module.endswith(".*") or "." not in module else module.rpartition(".")[0]


def test_rooms_import_only_what_lies_below_them():
    known, wrong = modules(), []
    for module, path in known.items():
        here = LAYERS.index(module.split(".")[0])
        wrong += [
            f"{module} -> {other}"
            for other in imported(path, known)
            if LAYERS.index(other.split(".")[0]) > here
        ]
    assert not wrong


def test_folders_import_each_other_one_way():
    known = modules()
    below: dict[str, set[str]] = {folder(module): set() for module in known}
    for module, path in known.items():
        below[folder(module)] |= {folder(other) for other in imported(path, known)} - {folder(module)}
    while ground := [place for place, others in below.items() if not others & set(below)]:
        for place in ground:
            del below[place]
    assert not below, f"these import each other in a circle, or what does: {below}"


def test_modules_import_each_other_one_way():
    known = modules()
    below = {module: imported(path, known, types=False) - {module} for module, path in known.items()}
    while ground := [module for module, others in below.items() if not others & set(below)]:
        for module in ground:
            del below[module]
    assert not below


def test_a_folder_has_at_most_a_dozen_modules():
    sizes = Counter(folder(module) for module in modules() if not module.endswith("*"))
    assert {place: size for place, size in sizes.items() if size > 12} == {}


def test_one_name_means_one_thing():
    names = Counter(module.rpartition(".")[2] for module in modules() if not module.endswith("*"))
    assert {name for name, number in names.items() if number > 1} == SAME_NOUN


def test_one_class_name_means_one_thing():
    """Models of the spec end in `Spec`, so that they never look like what they describe."""
    classes, models = Counter(), set()
    for module, path in modules().items():
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                classes[node.name] += 1
                if module.startswith("spec.") and any(
                    ast.unparse(base).endswith(("SpecModel", "Spec")) for base in node.bases
                ):
                    models.add(node.name)
    assert {name for name, number in classes.items() if number > 1} == set()
    assert {name for name in models if not name.endswith("Spec")} == set()


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
        "import ppdp_spark.cli.app\n"
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
        "import ppdp_spark.spark.partition.cut_people, ppdp_spark.spark.release.write_files\n"
        "import ppdp_spark.spark.judge.adjacent_groups\n"
        "heavy = {'pydantic', 'scipy.special'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
