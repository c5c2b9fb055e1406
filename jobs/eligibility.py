"""spark-submit jobs/eligibility.py SPEC [--set KEY=VALUE …]: can any release of the table meet the spec?

The first questions of `ppdp anonymize`, alone, for a scheduler that would rather know them before the
work: roles, types and nulls of the columns; and, unless rows are to be suppressed, whether the table is
l-eligible and meets every criterion as one group. Nothing is drawn at random here: a run that goes on
only after a lucky draw would change the odds of the next. Exit codes are those of `ppdp`.
"""

import random
import sys
from pathlib import Path
from typing import Annotated

import typer

from ppdp_spark.core.criteria.base import VerdictRow
from ppdp_spark.errors import PpdpError
from ppdp_spark.run.translated_errors import told_plainly
from ppdp_spark.spark.data.layout import Layout
from ppdp_spark.spark.data.profile import profile_table
from ppdp_spark.spark.data.tables import assign_roles, read_table
from ppdp_spark.spark.partition.grouping import Grouping
from ppdp_spark.spark.session import local_session
from ppdp_spark.spark.suppression import suppression_stage as suppression
from ppdp_spark.spec import ReleaseSpec


@told_plainly
def eligibility(spec: ReleaseSpec) -> list[VerdictRow]:
    """What can be said of the table without suppressing any of it."""
    table = read_table(local_session(), spec.input)
    profile = profile_table(table, spec, assign_roles(table, spec.columns))
    if spec.suppression.method != "none":
        return []
    layout = Layout(profile.attributes, profile.sensitive, codes_published=False, kept=0)
    whole = Grouping.of(spec.privacy, profile, layout).feasibility()
    return [*suppression.decide(spec, profile.sensitive, random.Random()).rows, *whole]


def main(spec: Path, overrides: Annotated[list[str] | None, typer.Option("--set")] = None) -> None:
    try:
        wanted = ReleaseSpec.load(spec, overrides or [])
        wanted.require_for("anonymize")
        failing = [row for row in eligibility(wanted) if not row.ok]
    except PpdpError as error:
        typer.echo(f"ppdp: {error}", err=True)
        sys.exit(error.exit_code)
    for row in failing:
        typer.echo(f"ppdp: no release can meet {row.criterion} ({row.level})", err=True)
    sys.exit(4 if failing else 0)


if __name__ == "__main__":
    typer.run(main)
