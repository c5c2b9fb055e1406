"""MkDocs hook: files of the repository that pages link to are part of the site.

Pages link as they must on a code host, relative to their place in the repository. A link that leaves the
folder of the documentation is led to a copy of the file inside the site; one to a file that does not exist
stays, and MkDocs complains. Links to notebooks lead to the pages made of them.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path, PurePosixPath
from typing import Any

from mkdocs.structure.files import File

PUBLISHED = (
    "CHANGELOG.md",
    "LICENSE",
    "SECURITY.md",
    "benchmarks/**/*.md",
    "benchmarks/**/*.png",
    "conf/*.yaml",
    "conf/spark/*.conf",
    "jobs/airflow/*.py",
    "tests/plugins/*/*.py",
)
_LINK = re.compile(r"(\]\(|\]: )([^)\s#:]+)(?=[)#\s])")


def on_files(files: Any, config: Any) -> Any:
    """Add the files of the repository that may be linked to."""
    root = Path(config["config_file_path"]).parent
    for pattern in PUBLISHED:
        for path in sorted(root.glob(pattern)):
            place = path.relative_to(root).as_posix()
            files.append(File(place, str(root), config["site_dir"], config["use_directory_urls"]))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Rewrite links between the documentation and the rest of the repository."""
    root = Path(config["config_file_path"]).parent
    docs = PurePosixPath(Path(config["docs_dir"]).relative_to(root).as_posix())
    inside = (docs / page.file.src_uri).as_posix()
    here = inside if (root / inside).exists() or page.file.generated_by else page.file.src_uri

    def led(found: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(here), found.group(2)))
        if found.group(2).startswith("/") or not (root / target).exists():
            return found.group(0)
        place = PurePosixPath(target)
        shown = place.relative_to(docs) if place.is_relative_to(docs) else place
        if shown.suffix == ".ipynb" and shown.stem != PurePosixPath(page.file.src_uri).stem:
            shown = shown.with_suffix(".md")  # its page; only that page links to the notebook itself
        start = posixpath.dirname(page.file.src_uri) or "."
        return found.group(1) + posixpath.relpath(shown.as_posix(), start)

    return _LINK.sub(led, markdown)
