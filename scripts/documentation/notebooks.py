"""MkDocs hook: tutorials are notebooks without outputs, run while the site is built.

A cell that raises stops the build. Set `PPDP_DOCS_NOTEBOOKS=0` to leave them unrun while writing prose.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from mkdocs.plugins import get_plugin_logger
from mkdocs.structure.files import File
from nbclient import NotebookClient
from nbconvert import MarkdownExporter

log = get_plugin_logger("notebooks")

FOLDER = "tutorials"
SECONDS = 600
"""The longest that one cell may take."""


def on_files(files: Any, config: Any) -> Any:
    """Add one page for each notebook; the notebook itself stays, to be downloaded."""
    for path in sorted((Path(config["docs_dir"]) / FOLDER).glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        if any(cell.get("outputs") for cell in notebook.cells):
            log.warning("%s has outputs: notebooks are stored without them", path.name)
        if os.environ.get("PPDP_DOCS_NOTEBOOKS") != "0":
            log.info("Running %s", path.name)
            run(notebook)
        page = File.generated(config, f"{FOLDER}/{path.stem}.md", content=as_markdown(notebook, path.name))
        files.append(page)
    return files


def run(notebook: Any) -> None:
    """Run all cells in a folder of their own, which is removed afterwards."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    with tempfile.TemporaryDirectory(prefix="tutorial-") as folder:
        NotebookClient(
            notebook, timeout=SECONDS, kernel_name="python3", resources={"metadata": {"path": folder}}
        ).execute()


def as_markdown(notebook: Any, name: str) -> str:
    """Cells and their outputs as a page; what goes to the error stream is left out."""
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [each for each in cell.outputs if each.get("name") != "stderr"]
    exporter = MarkdownExporter()
    body, _ = exporter.from_notebook_node(notebook)
    body = re.sub(r"<style scoped>.*?</style>", "", body, flags=re.DOTALL)
    body = re.sub(r'<table border="1" class="dataframe">', "<table>", body)
    body = re.sub(r' style="text-align: right;"', "", body)
    body = re.sub(
        r"<table>.*?</table>", lambda table: re.sub(r"\n\s*", "", table.group(0)), body, flags=re.DOTALL
    )
    body = _fenced_outputs(body)
    note = f"\n*This page is a notebook, run while the site was built: [download it]({name}).*\n"
    title, _, rest = body.lstrip().partition("\n")
    return f"{title}\n{note}\n{rest}"


def _fenced_outputs(body: str) -> str:
    """Indented plain outputs as fenced blocks, which are drawn as outputs and not as code."""
    lines: list[str] = []
    block: list[str] = []
    fenced = False
    for line in [*body.splitlines(), ""]:
        fenced ^= line.startswith("```")
        if not fenced and (line.startswith("    ") or (block and not line.strip())):
            block.append(line[4:])
            continue
        if block:
            text = "\n".join(block).strip("\n")
            lines += ["```text", text, "```", ""] if text.strip() else [""]
            block = []
        lines.append(line)
    return "\n".join(lines)
