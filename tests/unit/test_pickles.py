"""What is unpickled was pickled by our own tasks in the same application: never a file, a table or a spec."""

from __future__ import annotations

import ast

from support.places import PACKAGE

BANNED = {"eval", "exec", "compile", "__import__"}


def calls(tree: ast.AST) -> list[tuple[str, ast.Call]]:
    named = [(ast.unparse(node.func), node) for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [(name, node) for name, node in named if not name.startswith("re.")]


def sources() -> dict[str, ast.AST]:
    return {str(p.relative_to(PACKAGE)): ast.parse(p.read_text()) for p in PACKAGE.rglob("*.py")}


def test_modules_that_unpickle_read_no_files():
    for name, tree in sources().items():
        imported = {
            alias.name.split(".")[0]
            for node in ast.walk(tree)
            if isinstance(node, ast.Import)
            for alias in node.names
        }
        imported |= {
            (node.module or "").split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)
        }
        assert not imported & {"marshal", "shelve", "dill", "joblib", "cloudpickle"}, name
        if "pickle" not in imported:
            continue
        assert name.startswith("spark/")
        called = {called for called, _ in calls(tree)}
        assert not called & {"pickle.load", "pickle.Unpickler", "read_table", "open"}, name
        assert not [call for call in called if ".read." in call or call.endswith((".open", ".read_bytes"))], (
            name
        )


def test_nothing_is_evaluated_and_no_shell_is_started():
    for name, tree in sources().items():
        for called, node in calls(tree):
            assert called not in BANNED, name
            assert called not in ("os.system", "os.popen", "yaml.unsafe_load", "yaml.full_load"), name
            assert not any(keyword.arg == "shell" for keyword in node.keywords), name
            if called == "yaml.load":
                assert name == "spec/document.py" and ast.unparse(node.keywords[0]) == "Loader=_SpecLoader"
            if called == "np.load":
                assert not any(keyword.arg == "allow_pickle" for keyword in node.keywords), name
