"""`ppdp`: arguments -> pipeline -> what a person or a scheduler reads.

Heavy imports wait for the command that needs them.
"""

from __future__ import annotations

import json
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ppdp_spark.cli.console import errors_as_messages, progress, run_on_spark, run_spec, session, show
from ppdp_spark.errors import SpecError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from ppdp_spark.run.results import Run, Sweep

app = typer.Typer(
    no_args_is_help=True,
    help="Publish personal data with guarantees against adversaries who know things.\n\n"
    "Exit codes: 0 pass, 2 the spec is wrong, 3 the data is wrong, 4 a privacy check fails or cannot be met, "
    "5 the suppression budget is exceeded, 1 anything else.",
)

SpecPath = Annotated[str, typer.Argument(help="Release spec (YAML).", show_default=False)]
SpecOrRelease = Annotated[
    str,
    typer.Argument(
        metavar="SPEC|OUTPUT",
        help="Release spec (YAML), or the output folder of a run: its release.",
        show_default=False,
    ),
]
Overrides = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Override a field: privacy.k_anonymity=20"),
]
Master = Annotated[str, typer.Option(help="Spark master, unless spark-submit names one.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON only.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace a release that is already there.")]


class _Shape(str, Enum):
    parquet = "parquet"
    csv = "csv"
    orc = "orc"
    json = "json"


def _version(wanted: bool) -> None:
    if wanted:
        from ppdp_spark import __version__

        typer.echo(f"ppdp-spark {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """What holds for every command."""


@app.command()
def anonymize(
    spec: SpecPath,
    overrides: Overrides = None,
    overwrite: Overwrite = False,
    trial: Annotated[
        bool, typer.Option("--trial", help="A release to choose by: not entered in the registry of releases.")
    ] = False,
    master: Master = "local[*]",
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Publish a table as the spec says, verified from the written files, or publish nothing."""
    extra = [*(overrides or []), *(["output.overwrite=true"] if overwrite else [])]
    run_spec("anonymize", spec, extra, master=master, as_json=as_json, quiet=quiet, trial=trial)


@app.command()
def check(
    spec: SpecOrRelease,
    overrides: Overrides = None,
    master: Master = "local[*]",
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Say what a table achieves: any table with a group column or with generalized quasi-identifiers."""
    run_spec("check", spec, overrides or [], master=master, as_json=as_json, quiet=quiet)


@app.command()
def eligibility(
    spec: SpecPath,
    overrides: Overrides = None,
    master: Master = "local[*]",
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Ask whether any release of a table can meet the spec, before the work; nothing is written."""
    run_spec("eligibility", spec, overrides or [], master=master, as_json=as_json, quiet=quiet)


@app.command()
def plan(
    spec: SpecPath,
    overrides: Overrides = None,
    master: Master = "local[*]",
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Show what blind groups would come to: their least size, chance to pass and loss; nothing is written."""
    run_spec("plan", spec, overrides or [], master=master, as_json=as_json, quiet=quiet)


@app.command()
def discover(
    source: Annotated[
        str, typer.Argument(metavar="INPUT", help="File, folder, or table.", show_default=False)
    ],
    table: Annotated[bool, typer.Option("--table", help="INPUT is the name of a catalog table.")] = False,
    shape: Annotated[
        _Shape | None, typer.Option("--format", help="Told from the ending of INPUT when left out.")
    ] = None,
    separator: Annotated[str | None, typer.Option(help="Between the cells of a CSV.")] = None,
    decimal: Annotated[str | None, typer.Option(help="Before the fraction of numbers of a CSV.")] = None,
    encoding: Annotated[str | None, typer.Option(help="How a CSV is written.")] = None,
    date_format: Annotated[str | None, typer.Option(help="How dates of a CSV are written.")] = None,
    option: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="Option of Spark's reader; repeatable.")
    ] = None,
    share: Annotated[float, typer.Option(help="Of all people: what a set must single out.")] = 0.05,
    most: Annotated[int, typer.Option(help="Columns of a set at the most, up to 4.")] = 4,
    output: Annotated[Path | None, typer.Option(help="File for the proposed spec.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace that file.")] = False,
    master: Master = "local[*]",
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Find the sets of columns that single people out, and propose a spec; no value is shown."""
    with errors_as_messages():
        from ppdp_spark.cli.proposals import asked_for, require_new, tell

        of_csv = {
            "separator": separator,
            "decimal": decimal,
            "encoding": encoding,
            "date_format": date_format,
        }
        form = None if shape is None else shape.value
        asked = asked_for(
            source, catalog=table, options=option, share=share, most=most, format=form, **of_csv
        )
        require_new(output, overwrite=overwrite)
    with errors_as_messages(), session(master) as spark:
        from ppdp_spark.commands import discover

        with progress(spark, silent=quiet or as_json):
            found = discover(asked.input, spark=spark, share=asked.share, most=asked.most)
        tell(found, output, as_json=as_json, quiet=quiet)


@app.command()
def explore(
    spec: SpecOrRelease,
    overrides: Overrides = None,
    master: Master = "local[*]",
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Show how much an adversary may know before a sensitive value is breached: the knowledge skyline."""
    run_spec("explore", spec, overrides or [], master=master, as_json=as_json, quiet=quiet)


@app.command()
def attack(
    spec: SpecOrRelease,
    overrides: Overrides = None,
    master: Master = "local[*]",
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Show what an adversary with background knowledge infers from a release, by maximum entropy."""
    run_spec("attack", spec, overrides or [], master=master, as_json=as_json, quiet=quiet)


@app.command()
def suppress(
    spec: SpecPath,
    overrides: Overrides = None,
    overwrite: Overwrite = False,
    master: Master = "local[*]",
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Restore eligibility of skewed data; what is kept stays in the owner's private folder."""
    extra = [*(overrides or []), *(["output.overwrite=true"] if overwrite else [])]
    run_spec("suppress", spec, extra, master=master, as_json=as_json, quiet=quiet)


@app.command()
def verify(
    output: Annotated[str, typer.Argument(help="Output folder of a run, or a release folder.")],
    master: Master = "local[*]",
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Derive the verdict of a release again from its files and manifest, hashes included."""
    with errors_as_messages():
        from ppdp_spark.cli.beforehand import require_folder

        require_folder(output)

    def run(spark: SparkSession) -> Run:
        from ppdp_spark.commands import verify

        return verify(output, spark=spark)

    run_on_spark(run, master, as_json, quiet)


@app.command()
def report(
    output: Annotated[str, typer.Argument(help="Output folder of a run.")],
    pdf: Annotated[bool, typer.Option("--pdf", help="Also print it to a PDF, by Chromium.")] = False,
) -> None:
    """Make the HTML report of a run again from its summary and verdict."""
    with errors_as_messages():
        from ppdp_spark.cli.beforehand import require_folder
        from ppdp_spark.report import render
        from ppdp_spark.run.storage import PRINTED, PRIVATE, REPORT, SUMMARY, VERDICT, Folder

        require_folder(output)
        folder = Folder.at(output)
        private = folder / PRIVATE if (folder / PRIVATE).exists() else folder
        page = render(private.read_json(SUMMARY), private.read_json(VERDICT))
        private.write_text(REPORT, page, private=True)
        typer.echo(str(private / REPORT))
        if pdf:
            from ppdp_spark.cli.printing import print_page

            print_page(private, REPORT, PRINTED)
            typer.echo(str(private / PRINTED))


@app.command()
def compare(
    outputs: Annotated[list[str], typer.Argument(help="Output folders of runs.", show_default=False)],
    page: Annotated[Path, typer.Option("--output", help="HTML file to write.")] = Path("compare.html"),
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Put several runs side by side: guarantees, sizes, precision, query error, time."""
    with errors_as_messages():
        from ppdp_spark.cli.beforehand import require_folder

        for output in outputs:
            require_folder(output)
        from ppdp_spark.commands.compare import compare
        from ppdp_spark.report import render_comparison
        from ppdp_spark.run.storage import Folder

        found = compare(outputs)
        folder = Folder.at(page.parent)
        if not folder.exists():
            raise SpecError(f"`--output` ({page}) is in a folder that does not exist: make it first")
        folder.write_text(page.name, render_comparison(found.runs), private=True)
        show(found, as_json=as_json, quiet=quiet)
        if not as_json and not quiet:
            typer.echo(f"page  {page}")


@app.command()
def compose(
    outputs: Annotated[
        list[str],
        typer.Argument(help="Output folders of runs, or release folders: two or more.", show_default=False),
    ],
    people: Annotated[
        list[str] | None,
        typer.Option(help="Table of people with quasi-identifiers; repeated, one for each release."),
    ] = None,
    person: Annotated[str | None, typer.Option(help="Column that says who is who in several tables.")] = None,
    threshold: Annotated[
        float | None, typer.Option(help="Largest posterior allowed; with it, nobody may be pinned either.")
    ] = None,
    hierarchy: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN=FILE", help="What is below a published category; repeatable."),
    ] = None,
    output: Annotated[str | None, typer.Option(help="Folder for verdict, summary and report.")] = None,
    master: Master = "local[*]",
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Show what somebody infers who holds several releases about the same people."""
    with errors_as_messages():
        from ppdp_spark.cli.beforehand import named_files, require_folder, require_there

        for place in outputs:
            require_folder(place)
        for place in people or []:
            require_there(place, "a table of people")
        trees = named_files(hierarchy or [])

    def run(spark: SparkSession) -> Run:
        from ppdp_spark.commands import compose

        return compose(
            outputs,
            people=people or None,
            person=person,
            threshold=threshold,
            hierarchies=trees,
            output=output,
            spark=spark,
        )

    run_on_spark(run, master, as_json, quiet)


@app.command()
def sweep(
    spec: SpecPath,
    over: Annotated[
        list[str],
        typer.Option(metavar="FIELD=VALUE,…", help="What to vary: privacy.k_anonymity=5,10,50; repeatable."),
    ],
    overrides: Overrides = None,
    queries: Annotated[int, typer.Option(help="Queries to measure the error with; 0 for none.")] = 1_000,
    master: Master = "local[*]",
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Run variants of a release into OUTPUT/sweep and draw the privacy-utility frontier."""
    with errors_as_messages():
        from ppdp_spark.commands import sweep as sweeping

        folder, variants = sweeping.plan(spec, over, overrides or [], queries=queries)

    def run(spark: SparkSession) -> Sweep:
        return sweeping.run_variants(folder, variants, spark=spark)

    run_on_spark(run, master, as_json, quiet)


@app.command()
def generate(
    path: Annotated[str, typer.Argument(help="Where to write the table.")],
    rows: Annotated[int, typer.Option(help="Number of people.")] = 100_000,
    seed: Annotated[int, typer.Option(help="Same seed and rows, same table.")] = 1,
    shape: Annotated[_Shape, typer.Option("--format", help="File format.")] = _Shape.parquet,
    overwrite: Overwrite = False,
    master: Master = "local[*]",
) -> None:
    """Make census-like microdata of any size."""
    with errors_as_messages(), session(master) as spark:
        from ppdp_spark.commands.generate import generate

        generate(spark, path, rows=rows, seed=seed, shape=shape.value, overwrite=overwrite)
        typer.echo(f"{rows:,} people in {path}")


@app.command()
def demo(
    folder: Annotated[Path, typer.Argument(help="Where to work.")] = Path("out/demo"),
    rows: Annotated[int, typer.Option(help="Number of people.")] = 100_000,
    master: Master = "local[*]",
) -> None:
    """Generate a census, anonymize it, verify it, and say where everything is."""
    with errors_as_messages(), session(master) as spark:
        from rich.console import Console

        from ppdp_spark.commands.demo import demo

        parts = demo(spark, folder, rows=rows)
        while True:
            with progress(spark):
                part = next(parts, None)
            if part is None:
                break
            Console().print(part)


@app.command()
def doctor() -> None:
    """Check Java, Python, Spark, memory and scratch space."""
    with errors_as_messages():
        from rich.console import Console

        from ppdp_spark.cli.doctor import examine

        findings = examine()
        for finding in findings:
            mark = "[green]ok[/]" if finding.ok else "[red]problem[/]"
            Console().print(f"{mark}  {finding.name}: {finding.found}")
            if not finding.ok:
                Console().print(f"    fix: {finding.fix}", markup=False)
        if not all(finding.ok for finding in findings):
            raise typer.Exit(1)


@app.command("spec-schema")
def spec_schema() -> None:
    """Print the JSON schema of a spec, for editors."""
    with errors_as_messages():
        from ppdp_spark.spec import ReleaseSpec

        typer.echo(json.dumps(ReleaseSpec.json_schema(), indent=2))


def main() -> None:
    """Run the command that the arguments name."""
    app()
