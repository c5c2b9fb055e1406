"""What tests would otherwise make a hundred times: an archive of Spark's classes, and compiled kernels.

    python tests/support/ready_made.py build/classes.jsa

Every JVM of the tests maps the archive instead of reading all jars; one that does not fit it, of another Java
for instance, goes on without it. Kernels go to the cache of numba, or else processes that begin together
would each compile them.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

ARCHIVE = Path(__file__).resolve().parents[2] / "build" / "classes.jsa"
BRIEF = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Tables of tests are small: compiling what runs a thousand times costs more than it saves."""

COLUMNS = {"quasi_identifiers": {"age": {}, "sex": {}, "birth_date": {}}, "sensitive": "occupation"}
PRIORS = {"r": 1.2, "priors": [{"attributes": ["sex"]}]}
RELEASES: dict[str, dict[str, Any]] = {
    "generalized": {"privacy": {"k_anonymity": 5, "l_diversity": {"kind": "distinct", "l": 2}}},
    "skyline": {"privacy": {"skyline": {"default": [{"l": 1, "k": 2, "m": 2, "c": 0.9}]}}},
    "art": {"privacy": {"robustness": PRIORS}, "partitioner": "art"},
    "binary": {"privacy": {"robustness": {**PRIORS, "model": "binary"}}, "partitioner": "art"},
    "mondrian": {"privacy": {"k_anonymity": 4, "robustness": PRIORS}},
}


def java_options() -> str:
    """What every JVM that a test starts is told."""
    # Without a word about an archive that does not fit: the output of a process is what some tests look at.
    archive = f" -XX:SharedArchiveFile={ARCHIVE} -Xlog:disable" if ARCHIVE.exists() else ""
    return BRIEF + archive


def main(archive: Path) -> None:
    """Make releases of all kinds in a session of their own, whose JVM leaves its classes behind."""
    from ppdp_spark import anonymize
    from ppdp_spark.spark.session import JAVA_OPTIONS, LOG_SETTINGS, local_session
    from ppdp_spark.spark.synthetic.census import census

    os.environ["JAVA_TOOL_OPTIONS"] = BRIEF
    part = archive.with_suffix(".part")
    part.unlink(missing_ok=True)
    archive.parent.mkdir(parents=True, exist_ok=True)
    leaving = (f"-XX:ArchiveClassesAtExit={part}", "-Xlog:disable")
    options = " ".join((*JAVA_OPTIONS, *leaving, f'"-Dlog4j2.configurationFile={LOG_SETTINGS}"'))
    settings = {"spark.driver.extraJavaOptions": options, "spark.sql.shuffle.partitions": "1"}
    spark = local_session("local[1]", driver_memory="1g", **settings)
    table = census(spark, 400, partitions=1)
    with tempfile.TemporaryDirectory() as folder:
        for name, given in RELEASES.items():
            form = "generalized" if name == "generalized" else "bucketized"
            output = {"path": f"{folder}/{name}", "form": form}
            spec = {"version": 1, "dataset": name, "columns": COLUMNS, "suppression": {"budget": 1.0}}
            anonymize({**spec, **given, "output": output}, table=table)
    gateway = spark.sparkContext._gateway
    assert gateway is not None
    process = gateway.proc
    spark.stop()
    process.stdin.close()
    process.wait(600)
    part.touch()  # a Java that makes no archive leaves an empty one, which no JVM maps
    part.replace(archive)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
