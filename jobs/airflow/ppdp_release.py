"""A release as an Airflow 3 DAG: write to staging, audit there, publish only what passed.

    claim → eligibility → anonymize → verify → gate → publish → report

Everything of a run lies in STAGING_ROOT/RUN, a folder named by the run id, for the owner only; what is
published is PUBLISH_ROOT/RUN. Every task may be repeated: a table that has its verdict is not made
again (R-suppression would draw anew), and a release that is published stays as it is. A run whose
verdict fails has failed for good; another attempt is another run.

Jobs run by spark-submit, as a process without a shell, and not through SparkSubmitOperator: that one
reports any exit code as the same failure, while ours tell what a retry can mend (1) from what it cannot
(2 to 5); it copies Spark's output, which may quote rows, to Airflow's log; and it would bring a second
Spark into Airflow's environment. Airflow needs neither this package nor pyspark.

The Airflow variable `ppdp_submit` says how jobs are submitted, as a JSON list, for instance
["spark-submit", "--master", "yarn", "--properties-file", "/etc/ppdp/yarn.conf"]; `ppdp_jobs` says where
jobs/ is, unless it is the folder above this file. Both are the deployment's, not the trigger's. In
client mode (the default) exit codes arrive here. Roots are folders that workers of Airflow and of Spark
see under the same path.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from airflow.sdk import BaseOperator, Param, Variable, chain, dag, get_current_context, task
from airflow.sdk.exceptions import AirflowException, AirflowFailException

FINAL = {
    2: "the spec is wrong",
    3: "the data is wrong",
    4: "a privacy check fails or cannot be met",
    5: "the suppression budget is exceeded",
}
"""Exit codes that the next attempt would meet again."""


@dataclass(frozen=True)
class Run:
    """Where a run works and what it publishes to."""

    run_id: str
    spec: Path
    staging: Path
    target: Path

    @classmethod
    def of(cls, context: Mapping[str, Any]) -> Run:
        params, name = context["params"], folder_name(context["run_id"])
        roots = [Path(params[root]) for root in ("staging_root", "publish_root")]
        spec = Path(params["spec"])
        wrong = [str(path) for path in (spec, *roots) if not path.is_absolute()]
        if wrong:
            raise AirflowFailException(f"these paths must be absolute: {', '.join(wrong)}")
        return cls(context["run_id"], spec, roots[0] / name, roots[1] / name)

    @property
    def release(self) -> Path:
        return self.staging / "release"

    @property
    def private(self) -> Path:
        return self.staging / "private"


def folder_name(run_id: str) -> str:
    """A name for the run's folders: run ids hold characters that paths of Spark do not take."""
    digest = hashlib.sha256(run_id.encode()).hexdigest()[:12]
    return f"{re.sub(r'[^A-Za-z0-9_-]', '-', run_id)[:80]}-{digest}"


class Submit(BaseOperator):
    """Runs one file of jobs/ by spark-submit; its output goes to the run's private folder only.

    where
        arguments  of the job, from the run
        settled    whether the job has nothing left to do; None to run it always
    """

    def __init__(
        self,
        *,
        job: str,
        arguments: Callable[[Run], list[str]],
        settled: Callable[[Run], bool] | None = None,
        **common: Any,
    ) -> None:
        super().__init__(**common)
        self.job, self.arguments, self.settled = job, arguments, settled
        self.process: subprocess.Popen[bytes] | None = None

    def execute(self, context: Mapping[str, Any]) -> None:
        run = Run.of(context)
        if self.settled is not None and self.settled(run):
            self.log.info("%s: done already in an earlier attempt", self.job)
            return
        submit = Variable.get("ppdp_submit", default=["spark-submit"], deserialize_json=True)
        jobs = Path(Variable.get("ppdp_jobs", default=str(Path(__file__).resolve().parents[1])))
        log = private_folder(run.staging / "logs") / f"{self.job}.log"
        log.touch(mode=0o600)
        with log.open("ab") as output:
            command = [*submit, str(jobs / f"{self.job}.py"), *self.arguments(run)]
            begun = output.tell()
            # A group of its own, so that a stopped task takes the JVM and the Python workers with it.
            self.process = subprocess.Popen(command, stdout=output, stderr=output, start_new_session=True)
            try:
                code = self.process.wait()
            finally:
                self.on_kill()
        self._judge(code, said(log, begun), log)

    def _judge(self, code: int, told: list[str], log: Path) -> None:
        for line in told:
            self.log.info(line)
        if code in FINAL:
            raise AirflowFailException(f"{self.job}: {FINAL[code]} (exit code {code}); output in {log}")
        if code:
            raise AirflowException(f"{self.job} ended with code {code}; output in {log}")

    def on_kill(self) -> None:
        if self.process is not None and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGTERM)


def said(log: Path, begun: int) -> list[str]:
    """What ppdp itself said, which never shows a row; Spark's own words may, and stay in the file."""
    with log.open("rb") as lines:
        lines.seek(begun)
        text = lines.read().decode(errors="replace")
    told: list[str] = []
    ours = False
    for line in text.splitlines():
        ours = line.startswith(("ppdp:", "warning:")) or (ours and line.startswith("  - "))
        told += [line] if ours else []
    return told


def private_folder(path: Path) -> Path:
    """The folder, made if it is missing, for its owner's eyes only."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


def read_json(path: Path) -> dict[str, Any]:
    """The JSON object in a file; anything else stops the run for good."""
    try:
        content = json.loads(path.read_text())
    except FileNotFoundError:
        raise AirflowFailException(f"{path} is missing") from None
    except (OSError, ValueError):
        raise AirflowFailException(f"{path} cannot be read") from None
    if not isinstance(content, dict):
        raise AirflowFailException(f"{path} is not a JSON object")
    return content


def sha256(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal digits."""
    with path.open("rb") as content:
        if sys.version_info >= (3, 11):
            return hashlib.file_digest(content, "sha256").hexdigest()
        return hashlib.sha256(content.read()).hexdigest()


def has_verdict(run: Run) -> bool:
    """Whether the table was judged already: if it passed, there is nothing left to make."""
    if not (run.private / "verdict.json").exists():
        return False
    require_pass(run)
    return (run.release / "release.json").exists()


def require_pass(run: Run) -> None:
    """Fail closed: a verdict that is missing, unreadable, of another run or not a pass stops the run."""
    verdict, summary = (read_json(run.private / name) for name in ("verdict.json", "summary.json"))
    status, publishable = verdict.get("status"), verdict.get("publishable")
    if status != "pass" or publishable is not True:
        raise AirflowFailException("the verdict does not allow publication: see verdict.json")
    if not verdict.get("run_id") or verdict["run_id"] != summary.get("run_id"):
        raise AirflowFailException("verdict.json and summary.json are of different runs")
    rows = verdict.get("criteria")
    found = [row.get("status") if isinstance(row, dict) else None for row in rows or [None]]
    if not isinstance(rows, list) or not set(found) <= {"pass", "measured"}:
        raise AirflowFailException("verdict.json contradicts itself")


def require_audited(run: Run) -> str:
    """The digest of the manifest that a passing verdict is about; any other manifest stops the run."""
    require_pass(run)
    read_json(run.release / "release.json")
    digest = sha256(run.release / "release.json")
    if read_json(run.private / "verdict.json").get("manifest") != digest:
        raise AirflowFailException("verdict.json is about another release")
    return digest


def staged(run: Run) -> list[str]:
    """Arguments that send a run's output to its staging folder."""
    return ["--set", f"output.path={json.dumps(str(run.staging))}"]


@task
def claim() -> None:
    """Bind the run id to its spec: the same id with another spec is not a retry."""
    run = Run.of(get_current_context())
    if not run.spec.is_file():
        raise AirflowFailException("the spec file does not exist")
    wanted = {"run_id": run.run_id, "spec": str(run.spec), "sha256": sha256(run.spec), "to": str(run.target)}
    claimed = private_folder(run.staging) / "run.json"
    if not claimed.exists():
        part = claimed.with_suffix(".part")
        part.write_text(json.dumps(wanted, indent=2) + "\n")
        part.replace(claimed)
    if read_json(claimed) != wanted:
        raise AirflowFailException("this run began with another spec or target: start a new run")


@task
def gate() -> str:
    """The digest of the manifest that may be published."""
    run = Run.of(get_current_context())
    digest = require_audited(run)
    if read_json(run.staging / "run.json").get("sha256") != sha256(run.spec):
        raise AirflowFailException("the spec was changed during the run: start a new run")
    return digest


@task
def publish(manifest_digest: str) -> str:
    """Copy exactly the files of the manifest, checked against it, and let them appear in one rename."""
    run = Run.of(get_current_context())
    if run.target.exists():
        require_same(run.target, manifest_digest)
        return str(run.target)
    part = run.target.with_name(f".{run.target.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    run.target.parent.mkdir(parents=True, exist_ok=True)
    part.mkdir(mode=0o700)
    try:
        copy_release(run.release, part)
        require_same(part, manifest_digest)
        part.chmod(0o755)
        part.rename(run.target)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return str(run.target)


def copy_release(release: Path, target: Path) -> None:
    """Copy the manifest and the files it lists, and nothing else that may lie there."""
    for name in ("release.json", *(read_json(release / "release.json").get("files") or {})):
        inside = PurePosixPath(name)
        if inside.is_absolute() or ".." in inside.parts:
            raise AirflowFailException("the manifest names a file outside of the release")
        (target / inside).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(release / inside, target / inside)


def require_same(folder: Path, manifest_digest: str) -> None:
    """Raise unless the folder holds the audited manifest and the very files it lists."""
    manifest = folder / "release.json"
    if not manifest.is_file() or sha256(manifest) != manifest_digest:
        raise AirflowFailException(f"{folder} does not hold the manifest that was audited")
    files = read_json(manifest).get("files") or {}
    found = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()} - {"release.json"}
    if not files or found != set(files) or any(sha256(folder / name) != files[name] for name in files):
        raise AirflowFailException(f"the files in {folder} are not those of its manifest")


@dag(
    schedule=None,
    catchup=False,
    tags=["ppdp"],
    doc_md=__doc__,
    default_args={"retries": 2},
    params={
        "spec": Param(type="string", title="Release spec (absolute path)"),
        "staging_root": Param(type="string", title="Staging root, for the owner only (absolute path)"),
        "publish_root": Param(type="string", title="Root of published releases (absolute path)"),
    },
)
def ppdp_release() -> None:
    """Write, audit, publish."""

    def job(name: str, arguments: Callable[[Run], list[str]], **more: Any) -> Submit:
        return Submit(task_id=name, job=name, arguments=arguments, **more)

    allowed = gate()
    chain(
        claim(),
        job("eligibility", lambda run: [str(run.spec), *staged(run)], settled=has_verdict),
        job(
            "anonymize",
            lambda run: [str(run.spec), *staged(run), "--overwrite", "--quiet"],
            settled=has_verdict,
        ),
        job("verify", lambda run: [str(run.staging), "--quiet"]),
        allowed,
        publish(allowed),
        job("report", lambda run: [str(run.staging)]),
    )


ppdp_release()
