"""`sweep`: variants of one release in a row, to see what a looser or tighter parameter costs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, TypeAlias

from pyspark.sql import DataFrame, SparkSession

from ppdp_spark.commands.anonymize import anonymize
from ppdp_spark.core.partition.partitioners import PARTITIONERS
from ppdp_spark.errors import PpdpError, SpecError
from ppdp_spark.report import Choice, Compared, render_sweep
from ppdp_spark.run.active_session import session_of
from ppdp_spark.run.claim import Claim
from ppdp_spark.run.results import Stages, Sweep
from ppdp_spark.run.storage import Folder
from ppdp_spark.run.summary import new_run_id
from ppdp_spark.run.translated_errors import told_plainly
from ppdp_spark.spark.input.given_tables import TableLike, spark_frame
from ppdp_spark.spec import ReleaseSpec, SpecLike
from ppdp_spark.spec.document import parse_yaml

Over: TypeAlias = Mapping[str, Sequence[Any]] | Sequence[str]
"""What a sweep varies: field -> values, or texts such as `privacy.k_anonymity=5,10,50`."""

SWEEP, PAGE, RESULT = "sweep", "sweep.html", "sweep.json"
QUERIES = 1_000
MOST_VARIANTS = 200
_LONGEST_NAME = 80
_AS_TEXT = ("--over", "FIELD=VALUE,VALUE,…: privacy.k_anonymity=5,10")
_IN_PYTHON = ("over", 'fields with the values they take, such as {"privacy.k_anonymity": [5, 10]}')
"""Who asked, and what should have been given."""
_NO_SECOND_TRY = (
    "`partitioner` (blind) is not part of `sweep`: a release chosen because it was not refused tells that "
    "others were; use `ppdp plan`, which looks at public facts only"
)
_OWN = ("output", "output.path", "output.overwrite")


@dataclass(frozen=True)
class Variant:
    """One point of the grid: its name, what it changes, and the whole spec."""

    name: str
    changes: dict[str, Any]
    spec: ReleaseSpec


@told_plainly
def sweep(
    spec: SpecLike,
    over: Over,
    *,
    table: TableLike | None = None,
    spark: SparkSession | None = None,
    queries: int = QUERIES,
) -> Sweep:
    """Run variants of a release, to see what a tighter guarantee costs.

        found = sweep("spec.yaml", {"privacy.k_anonymity": [5, 10, 50]}, table=people)
        found.to_pandas()

    One that fails is recorded with its reason, and the others go on. The variants are for choosing, and
    for the owner only: they lie in OUTPUT/sweep, the release in OUTPUT stays as it is, and no registry
    hears of them.

    where
        over     field -> values it takes, or texts such as `privacy.k_anonymity=5,10,50`
        queries  COUNT queries to measure the error of variants with, unless the spec says how many
        spec     with `table` and `spark` those of `anonymize`
    """
    folder, variants = plan(spec, over, queries=queries, table_given=table is not None)
    return run_variants(folder, variants, table=table, spark=spark)


def plan(
    spec: SpecLike,
    over: Over,
    overrides: Sequence[str] = (),
    *,
    queries: int = QUERIES,
    table_given: bool = False,
) -> tuple[Folder, tuple[Variant, ...]]:
    """The folder of a sweep and its variants.

    Each variant goes to OUTPUT/sweep/NAME. Their query error is measured with `queries` queries unless
    the spec says how many. All problems of all variants are reported at once.
    """
    axes = _axes(over)
    grid = list(product(*(values for _, values in axes)))
    changed = [[f"{key}={value}" for (key, _), value in zip(axes, at, strict=True)] for at in grid]
    specs = _loaded(spec, [[*overrides, *changes] for changes in changed], table_given)
    folder = Folder.at(str(specs[0].output.path)) / SWEEP
    variants = []
    for name, at, changes, varied in zip(_names(axes, grid), grid, changed, specs, strict=True):
        place = [f"output.path={_quoted(str(folder / name))}", "output.overwrite=true"]
        place += [] if varied.output.queries else [f"output.queries={queries}"]
        read = {key: parse_yaml(value) for (key, _), value in zip(axes, at, strict=True)}
        variants.append(Variant(name, read, ReleaseSpec.of(spec, [*overrides, *changes, *place])))
    return folder, tuple(variants)


def _loaded(spec: SpecLike, overrides: Sequence[Sequence[str]], table_given: bool) -> list[ReleaseSpec]:
    """The spec under each list of overrides, fit to be anonymized; every problem once."""
    found = [_attempt(spec, each, table_given) for each in overrides]
    problems = dict.fromkeys(p for each in found if isinstance(each, SpecError) for p in each.problems)
    if problems:
        raise SpecError(list(problems))
    return [each for each in found if isinstance(each, ReleaseSpec)]


def _attempt(spec: SpecLike, overrides: Sequence[str], table_given: bool) -> ReleaseSpec | SpecError:
    try:
        varied = ReleaseSpec.of(spec, overrides, input_needed=not table_given)
        varied.require_for("anonymize", table_given=table_given)
        if PARTITIONERS[varied.partitioner].blind:
            return SpecError(_NO_SECOND_TRY)
        return varied
    except SpecError as error:
        return error


def run_variants(
    folder: Folder,
    variants: Sequence[Variant],
    *,
    table: TableLike | None = None,
    spark: SparkSession | None = None,
) -> Sweep:
    """Run every variant; one that fails is recorded with its reason, and the others go on."""
    session = session_of(table, spark)
    given = None if table is None else spark_frame(table, session)
    with Claim.held(folder.create(private=True), new_run_id()):
        return _swept(folder, variants, given, session)


def _swept(
    folder: Folder, variants: Sequence[Variant], table: DataFrame | None, session: SparkSession
) -> Sweep:
    choices, stages = [], Stages()
    for place, variant in enumerate(variants, start=1):
        with stages.stage(f"variant {place} of {len(variants)}, {variant.name}"):
            choices.append(_run(variant, table, session, str(folder.parent)))
    found = tuple(choices)
    dataset = variants[0].spec.dataset
    paths = {"page": str(folder / PAGE), "result": str(folder / RESULT)}
    done = Sweep(dataset, found, paths)
    folder.write_text(PAGE, render_sweep(dataset, found), private=True)
    folder.write_json(RESULT, done.to_dict(), private=True)
    return done


def _run(variant: Variant, table: DataFrame | None, session: SparkSession, output: str) -> Choice:
    try:
        run = anonymize(variant.spec, table=table, spark=session, trial=True, draws_of=output)
    except PpdpError as error:
        return Choice(variant.name, variant.changes, None, str(error))
    compared = Compared(variant.name, run.summary, run.verdict.to_dict())
    return Choice(variant.name, variant.changes, compared, run.verdict.reason)


def _axes(over: Over) -> list[tuple[str, list[str]]]:
    """Fields with the values they take; all problems at once."""
    axes: list[tuple[str, list[str]]] = []
    problems: list[str] = []
    name, wanted = _IN_PYTHON if isinstance(over, Mapping) else _AS_TEXT
    for key, listed in _fields(over):
        if not key or not listed or not all(listed):
            problems.append(f"`{name}` ({key or 'empty'}) must be {wanted}")
        elif key in _OWN:
            problems.append(f"`{name}` ({key}) cannot be varied: each variant has a folder of its own")
        axes.append((key, list(dict.fromkeys(listed))))
    keys = [key for key, _ in axes]
    problems += [f"`{name}` ({key}) is given twice" for key in sorted({k for k in keys if keys.count(k) > 1})]
    number = 1
    for _, values in axes:
        number *= len(values)
    if not axes:
        problems.append(f"`{name}` is missing: name what to vary, as {wanted.rpartition(': ')[2]}")
    elif number > MOST_VARIANTS:
        problems.append(f"{number:,} variants are too many: at most {MOST_VARIANTS} in one sweep")
    if problems:
        raise SpecError(problems)
    return axes


def _fields(over: Over) -> Iterator[tuple[str, list[str]]]:
    """Each field with the texts of its values."""
    if isinstance(over, Mapping):
        yield from map(_written, over.items())
    else:
        yield from map(_parsed, [over] if isinstance(over, str) else over)


def _parsed(text: str) -> tuple[str, list[str]]:
    """`FIELD=VALUE,VALUE` as a field and its values."""
    key, _, given = _cut(text, "=")
    return key, list(_split(given))


def _written(field: tuple[str, Any]) -> tuple[str, list[str]]:
    """A field and its values in Python as the texts that stand for them."""
    key, values = field
    return key, [_text(value) for value in values] if isinstance(values, list | tuple) else [_text(values)]


def _text(value: Any) -> str:
    """A word as it is where it reads as itself, anything else as JSON, which is YAML, too."""
    plain = isinstance(value, str) and re.fullmatch(r"\w[\w.-]*", value) and parse_yaml(value) == value
    return str(value) if plain else json.dumps(value, ensure_ascii=False)


def _cut(text: str, at: str) -> tuple[str, str, str]:
    """The text before and after the first `at` that is not inside quotes or brackets."""
    depth, quote = 0, ""
    for place, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter in "[{":
            depth += 1
        elif letter in "]}":
            depth -= 1
        elif letter == at and depth == 0:
            return text[:place].strip(), at, text[place + 1 :]
    return text.strip(), "", ""


def _split(text: str) -> Iterator[str]:
    """Parts between commas that are not inside quotes or brackets."""
    found = ","
    while found:
        part, found, text = _cut(text, ",")
        yield part


def _names(axes: Sequence[tuple[str, list[str]]], grid: Sequence[tuple[str, ...]]) -> list[str]:
    """A folder name for each point of the grid: `k_anonymity-5_form-bucketized`."""
    short = [key.rpartition(".")[2] for key, _ in axes]
    fields = short if len(set(short)) == len(short) else [key for key, _ in axes]
    names: list[str] = []
    for values in grid:
        parts = (f"{key}-{value}" for key, value in zip(fields, values, strict=True))
        name = re.sub(r"[^A-Za-z0-9_.+-]+", "-", "_".join(parts)).strip("-.")[:_LONGEST_NAME]
        names.append(name if name not in names else f"{name}-{len(names) + 1}")
    return names


def _quoted(text: str) -> str:
    """A text as a quoted YAML scalar."""
    return "'" + text.replace("'", "''") + "'"
