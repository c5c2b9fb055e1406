"""Mistakes that users make, each tried as a process: writes docs/reference/mistakes.md.

    .venv/bin/python scripts/documentation/mistakes.py             all of them, some minutes
    .venv/bin/python scripts/documentation/mistakes.py --quick     those without Spark; others keep their line
    .venv/bin/python scripts/documentation/mistakes.py --check     writes nothing; the page must be as found

The page has the message, the exit code and the time to the message. It stops where a message is a traceback,
or where a mistake that needs no Spark takes more than five seconds.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

PAGE = Path(__file__).parents[2] / "docs/reference/mistakes.md"
PATIENCE = 5.0
"""Seconds to the message of a mistake that needs no Spark."""

SPEC = """\
version: 1
dataset: people
input: {path: people.csv}
columns:
  identifiers: [id]
  quasi_identifiers: {age: numeric, city: {hierarchy: city.csv}}
  sensitive: job
privacy: {k_anonymity: 5}
output: {path: new}
"""


@dataclass(frozen=True)
class Mistake:
    """What somebody does wrong.

    where
        what         in words, as the page has it
        command      the command line after `ppdp`
        spark        whether Spark must start to find it
        release      whether it is about a finished release, `out`
        environment  variables that are different
    """

    what: str
    command: tuple[str, ...]
    spark: bool = False
    release: bool = False
    environment: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Told:
    """What a process said."""

    code: int
    message: str
    seconds: float


def _with(*fields: str) -> tuple[str, ...]:
    """`anonymize` with some fields changed."""
    return ("anonymize", "spec.yaml", *(part for field in fields for part in ("--set", field)))


_QI = "columns.quasi_identifiers"
_NO_JAVA = (("JAVA_HOME", "/nowhere"),)

MISTAKES = (
    Mistake("a command that is none", ("anonimize", "spec.yaml")),
    Mistake("no spec", ("anonymize",)),
    Mistake("a spec that is not there", ("anonymize", "spce.yaml")),
    Mistake("a folder in the place of a spec", ("anonymize", "held")),
    Mistake("a tab in YAML", ("anonymize", "tab.yaml")),
    Mistake("a field twice", ("anonymize", "twice.yaml")),
    Mistake("a misspelt criterion", _with("privacy.k_anonimity=5")),
    Mistake("k = 1", _with("privacy.k_anonymity=1")),
    Mistake("a number in words", _with("privacy.k_anonymity=ten")),
    Mistake("t above 1", _with("privacy.t_closeness={t: 1.5}")),
    Mistake("ℓ-diversity without ℓ", _with("privacy.l_diversity={kind: distinct}")),
    Mistake("no criterion", _with("privacy={}")),
    Mistake("a column with two roles", _with("columns.publish_as_is=[job]")),
    Mistake("a kind of column that is none", _with(f"{_QI}.age=number")),
    Mistake("no quasi-identifier", _with(f"{_QI}={{}}")),
    Mistake("a form that is none", _with("output.form=generalised")),
    Mistake("a partitioner that is none", _with("partitioner=mondrain")),
    Mistake("no output", _with("output={}")),
    Mistake("no input", _with("input=null")),
    Mistake("a separator that the file does not have", _with("input.separator=;")),
    Mistake("`--set` without a value", ("anonymize", "spec.yaml", "--set", "privacy.k_anonymity")),
    Mistake("suppression without ℓ", _with("suppression.method=r")),
    Mistake(
        "two sensitive attributes, and a partitioner for one",
        _with("columns.sensitive=[job, wage]", "partitioner=blind"),
    ),
    Mistake(
        "two sensitive attributes, explored without saying which",
        ("explore", "spec.yaml", "--set", "columns.sensitive=[job, wage]"),
    ),
    Mistake("an output that holds a release", _with("output.path=held")),
    Mistake("an input that is not there", _with("input.path=gone.csv")),
    Mistake("a wrong separator", _with("input.path=semicolons.csv")),
    Mistake("an empty file", _with("input.path=empty.csv")),
    Mistake("a file with a header only", _with("input.path=header.csv")),
    Mistake("a hierarchy that is not there", _with(f"{_QI}.city.hierarchy=tree.csv")),
    Mistake("a hierarchy with rows of different lengths", _with(f"{_QI}.city.hierarchy=ragged.csv")),
    Mistake("a misspelt output to verify", ("verify", "outt")),
    Mistake("a report of nothing", ("report", "outt")),
    Mistake("a comparison of nothing", ("compare", "outt", "held")),
    Mistake("a folder that holds no release, to check", ("check", "held")),
    Mistake("a form of file that is none", ("generate", "new", "--format", "xml")),
    Mistake("a file to discover that is not there", ("discover", "poeple.csv")),
    Mistake("a confidence above 1", _with("privacy.skyline={default: [{l: 1, k: 1, m: 0, c: 1.5}]}")),
    Mistake("a budget above 1", _with("suppression={method: r, l: 3, budget: 20}")),
    Mistake("a field of another version", _with("version=2")),
    Mistake("a master that is none", ("anonymize", "spec.yaml", "--master", "locl[2]")),
    Mistake("a master that does not run", ("anonymize", "spec.yaml", "--master", "spark://localhost:9")),
    Mistake("no Java", ("anonymize", "spec.yaml"), environment=_NO_JAVA),
    Mistake(
        "a criterion that a release must not be given afterwards",
        ("check", "out", "--set", "columns.sensitive=city"),
        release=True,
    ),
    Mistake("a column that is not there", _with("columns.sensitive=jobb"), spark=True),
    Mistake("a file that is no table", _with("input={path: broken.parquet}"), spark=True),
    Mistake("an identifier that repeats", _with("columns.identifiers=[wage]"), spark=True),
    Mistake("text in a column of numbers", _with(f"{_QI}.city=numeric"), spark=True),
    Mistake("a value that the hierarchy lacks", _with(f"{_QI}.city.hierarchy=short.csv"), spark=True),
    Mistake(
        "a misspelt sensitive value", _with("columns.sensitive={column: job, only: [Nurce]}"), spark=True
    ),
    Mistake("k above the number of people", _with("privacy.k_anonymity=1000"), spark=True),
    Mistake(
        "more diversity than there are values",
        _with("privacy.l_diversity={kind: distinct, l: 9}"),
        spark=True,
    ),
    Mistake(
        "a budget of suppression that is too small",
        _with("input.path=skewed.csv", "suppression={method: r, l: 3, budget: 0.01}"),
        spark=True,
    ),
    Mistake(
        "knowledge of a value that nobody has",
        ("attack", "out", "--set", "attack.knowledge=[{value: Nurce, at_most: 0.1}]"),
        spark=True,
        release=True,
    ),
    Mistake(
        "knowledge that cannot be true",
        ("attack", "out", "--set", "attack.knowledge=[{value: Nurse, probability: 0.9}]"),
        spark=True,
        release=True,
    ),
)


def home_of_mistakes(folder: Path) -> None:
    """A table, a spec that would do, and files with something wrong."""
    jobs = ("Nurse", "Clerk", "Smith", "Cook")
    rows = [f"P{i:03},{i % 60},{'ab'[i % 2]},{jobs[i % 4]},{10 * (i % 7)}" for i in range(200)]
    head = "id,age,city,job,wage"
    skewed = [f"P{i:03},{i % 60},{'ab'[i % 2]},{jobs[max(0, i - 170) % 4]},{i}" for i in range(200)]
    files = {
        "people.csv": "\n".join([head, *rows]),
        "semicolons.csv": "\n".join([head, *rows]).replace(",", ";"),
        "skewed.csv": "\n".join([head, *skewed]),
        "empty.csv": "",
        "header.csv": head,
        "broken.parquet": "PAR1 this is no table PAR1",
        "city.csv": "a,*\nb,*",
        "short.csv": "a,*",
        "ragged.csv": "a,north,*\nb,*",
        "spec.yaml": SPEC,
        "tab.yaml": SPEC.replace("\n  identifiers", "\n\tidentifiers"),
        "twice.yaml": SPEC + "dataset: again\n",
    }
    for name, content in files.items():
        (folder / name).write_text(content + "\n" if content else "")
    (folder / "held/release").mkdir(parents=True)


def tried(command: Sequence[str], folder: Path, environment: Sequence[tuple[str, str]] = ()) -> Told:
    """What `ppdp` says as a process, and how long it takes to say it."""
    begun = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "ppdp_spark", *command],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "COLUMNS": "80", **dict(environment)},
        timeout=300,
    )
    return Told(done.returncode, message_of(done.stderr), time.monotonic() - begun)


def message_of(stderr: str) -> str:
    """The message without what was logged before it, and without the frame that usage errors have."""
    lines = [line.strip("│╭╮╰╯─ ") for line in stderr.splitlines()]
    kept = [
        line
        for line in lines
        if line and not re.match(r"\d\d:\d\d:\d\d |warning: |Usage: |Try |Error$", line)
    ]
    text = "\n".join(kept)
    return re.sub(r"(?<![:/\w])/[^ `]*/(?=\w)", "", text)


def _page(found: Mapping[Mistake, Told], before: str) -> str:
    """The page; mistakes that were not tried keep the line that they had."""
    lines = [
        "# Mistakes and what is said of them",
        "",
        "Each of these was tried as a process on a table of 200 people. Nothing is published after any of",
        "them. What can be known without Spark is said before it starts; the time is that from the command",
        "to the message. `scripts/documentation/mistakes.py` tries them and writes this page.",
        "",
        "| mistake | command | exit | seconds | message |",
        "|---|---|---|---|---|",
    ]
    kept = {line.split(" | ")[0]: line for line in before.splitlines() if line.startswith("| ")}
    for mistake in MISTAKES:
        if mistake in found:
            lines.append(row(mistake, found[mistake]))
        elif f"| {_cell(mistake.what)}" in kept:
            lines.append(kept[f"| {_cell(mistake.what)}"])
    return "\n".join(lines) + "\n"


def untimed(page: str) -> str:
    """The page without the times, which differ from run to run."""
    return re.sub(r"(?m)^(\|.*\| \d+) \| [\d.]+ \|", r"\1 |", page)


def row(mistake: Mistake, told: Told) -> str:
    """A line of the page."""
    message = "<br>".join(map(_cell, told.message.splitlines()))
    words = (part if re.fullmatch(r"[\w./:=\[\]-]+", part) else f"'{part}'" for part in mistake.command)
    before = "".join(f"{key}={value} " for key, value in mistake.environment)
    command = f"{before}ppdp {' '.join(words)}".replace("|", "\\|")
    return f"| {_cell(mistake.what)} | `{command}` | {told.code} | {told.seconds:.1f} | {message} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


def _problems(found: Sequence[tuple[Mistake, Told]]) -> Iterator[str]:
    for mistake, told in found:
        if "Traceback" in told.message or not told.message:
            yield f"{mistake.what}: a traceback, or nothing was said: {told.message[-300:]}"
        if told.code == 0:
            yield f"{mistake.what}: it passed"
        if not mistake.spark and told.seconds > PATIENCE:
            yield f"{mistake.what}: {told.seconds:.1f} s to the message"


def main(arguments: Sequence[str]) -> int:
    """Try what is asked for; 1 if something is wrong, or the page is not what was found."""
    chosen = [each for each in MISTAKES if "--quick" not in arguments or not (each.spark or each.release)]
    with TemporaryDirectory() as place:
        folder = Path(place)
        home_of_mistakes(folder)
        if any(each.release for each in chosen):
            made = tried((*_with("output.path=out"), "--quiet"), folder)
            if made.code:
                print(made.message)
                return 1
        found = {}
        for mistake in chosen:
            told = _in_time(mistake, folder)
            print(f"{told.code}  {told.seconds:5.1f} s  {mistake.what}: {told.message}", flush=True)
            found[mistake] = told
        published = (folder / "new/release").exists()
    problems = [*_problems(list(found.items())), *(["something was published"] if published else [])]
    before = PAGE.read_text() if PAGE.exists() else ""
    page = _page(found, before)
    if "--check" in arguments:
        changed = set(untimed(before).splitlines()) - set(untimed(page).splitlines())
        problems += [f"{PAGE.name} says something else: {line}" for line in sorted(changed)]
    elif not problems:
        PAGE.write_text(page)
    print("\n".join(problems) or f"{len(found)} mistakes, as on the page")
    return 1 if problems else 0


def _in_time(mistake: Mistake, folder: Path) -> Told:
    """What is said; where no Spark is needed, the quickest of three tries on a machine that is busy."""
    told = tried(mistake.command, folder, mistake.environment)
    for _ in range(2):
        if mistake.spark or told.seconds <= PATIENCE:
            break
        again = tried(mistake.command, folder, mistake.environment)
        told = again if again.seconds < told.seconds else told
    return told


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
