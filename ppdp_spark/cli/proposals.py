"""`ppdp discover`: from arguments to what is asked, and from what was found to a spec in a file or a pipe."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ppdp_spark.errors import DataError, SpecError

if TYPE_CHECKING:
    from ppdp_spark.run.discovery import Discovery, DiscoveryRequest


def asked_for(
    source: str, *, catalog: bool, options: list[str] | None, share: float, most: int, **of_input: Any
) -> DiscoveryRequest:
    """What the arguments ask for; mistakes are found before Spark starts."""
    from ppdp_spark.cli.beforehand import is_there
    from ppdp_spark.run.discovery import DiscoveryRequest

    pairs = [option.partition("=") for option in options or ()]
    if any(not equals for _, equals, _ in pairs):
        raise SpecError("`--option` needs KEY=VALUE, as in --option header=true")
    given = {key: value for key, value in of_input.items() if value is not None}
    given |= {"table" if catalog else "path": source, "options": {key: value for key, _, value in pairs}}
    asked = DiscoveryRequest.of(given, share=share, most=most)
    if not catalog and not is_there(source):
        raise DataError(f"`{source}` does not exist: name a file or a folder, or say --table")
    return asked


def require_new(output: Path | None, *, overwrite: bool) -> None:
    """Raise if the proposed spec would replace a file that nobody said may be replaced."""
    if output is None:
        return
    if output.exists() and not overwrite:
        raise SpecError(f"`--output` ({output}) exists already: use --overwrite or choose another path")
    if not output.parent.is_dir():
        raise SpecError(f"`--output` ({output}) is in a folder that does not exist: make it first")


def tell(found: Discovery, output: Path | None, *, as_json: bool, quiet: bool) -> None:
    """The findings as tables or JSON, and the spec in its file, or else on the standard output alone."""
    if output is not None:
        from ppdp_spark.run.storage import Folder

        Folder.at(output.parent).write_text(output.name, found.spec, private=True)
    if as_json:
        typer.echo(json.dumps(found.to_dict(), indent=2, default=str))
        return
    if not quiet:
        from rich.console import Console

        Console(stderr=output is None).print(found)
    if output is None:
        typer.echo(found.spec, nl=False)
    elif not quiet:
        typer.echo(f"spec  {output}")
