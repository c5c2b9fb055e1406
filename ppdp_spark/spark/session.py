"""The SparkSession of a command or job: a good local one, or the one that is there already."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from pyspark.sql import SparkSession

from ppdp_spark.spark.engine.versions import settings_of

GIB = 2**30

# Settings of the session that a running application still accepts; all may be overridden.
SQL_DEFAULTS = {
    # Tables differ by orders of magnitude: let Spark join small shuffle partitions and split skewed ones.
    "spark.sql.adaptive.enabled": "true",
    # The same for tables kept in memory: a task of Python takes longer to start than a small one to finish.
    "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning": "true",
    # Kernels are vectorised: 10,000 rows a batch (Spark's default) would spend the time between batches.
    # More than this buys little, and a batch of 60 columns of 8 bytes is already about 100 MB.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "200000",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # Where in our code an expression was made is of no use to anyone, and costs five calls to the JVM.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    # The default from 4.0 on; without it a number that overflows would change without a word.
    "spark.sql.ansi.enabled": "true",
    # Dates and timestamps must generalize alike on every machine.
    "spark.sql.session.timeZone": "UTC",
}

# Settings of an application that this process starts itself.
LOCAL_DEFAULTS = {
    # No port, no server threads: a command is over before anyone opens the page.
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # Event logs outlive the run, in a place that is not ours.
    "spark.eventLog.enabled": "false",
    # Code that Spark makes for a query is compiled twice, to bytecode and from there, and kept: 100 pieces by
    # default. A run has 70; a second one of another size would push out what is used most.
    "spark.sql.codegen.cache.maxEntries": "1000",
    # Spark's log quotes the cell it stumbles over; what a failure means is told by ours.
    "spark.log.level": os.environ.get("PPDP_SPARK_LOG", "OFF"),
}

JAVA_OPTIONS = (
    # The JIT leaves methods above 8,000 bytes of bytecode interpreted; code for wide tables is larger.
    "-XX:-DontCompileHugeMethods",
    # Plans over many columns are deep trees, and the optimizer recurses.
    "-Xss8m",
)

LOG_SETTINGS = Path(__file__).with_name("log4j2.properties")
"""Holds before `spark.log.level` does: what Spark tells while it starts is not the user's business."""


def local_session(
    master: str = "local[*]", driver_memory: str | None = None, app_name: str = "ppdp", **conf: object
) -> SparkSession:
    """The session that is running, the one spark-submit or Spark Connect asks for, or a new local one.

    A running session comes back as it is, but for `conf`. Under spark-submit or with SPARK_REMOTE set,
    master, memory and everything else given there stay, and only settings left open get a default.

    where
        driver_memory  heap of the driver, e.g. `8g`; in local mode tasks run in it too. It is fixed when
                       the JVM starts, hence half of the machine's memory if not given
        conf           more settings, as `**{"spark.sql.shuffle.partitions": 8}`
    """
    settings = {key: _text(value) for key, value in conf.items()}
    running = SparkSession.getActiveSession()
    if running is not None:
        return _adjusted(running, settings)
    if "PYSPARK_GATEWAY_PORT" in os.environ or "SPARK_REMOTE" in os.environ:
        attached = SparkSession.builder.appName(app_name).getOrCreate()
        given = settings_of(attached)
        return _adjusted(attached, {k: v for k, v in SQL_DEFAULTS.items() if k not in given} | settings)
    return _started(master, driver_memory or default_driver_memory(), app_name, settings)


def default_driver_memory() -> str:
    """Half of the memory this process may use, from 1 to 30 GB: pointers stay short below 32 GB.

    The other half is for the Python workers, Arrow's buffers outside the heap and the file cache.
    """
    return f"{min(max(available_memory() // 2, GIB), 30 * GIB) // 2**20}m"


def available_memory() -> int:
    """Bytes of memory of the machine, or of the container if that has a lower limit."""
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limits = [
        _number(Path(p)) for p in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
    ]
    return min([physical, *(limit for limit in limits if limit is not None)])


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None


def _started(master: str, driver_memory: str, app_name: str, settings: dict[str, str]) -> SparkSession:
    local = master.startswith("local")
    # Workers must run this interpreter: `python3` on the path may be another version without our packages.
    if local:
        os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
        # Loopback: no firewall, VPN or unresolvable host name can come between driver and workers.
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = SparkSession.builder.master(master).appName(app_name)
    defaults = {
        **SQL_DEFAULTS,
        **LOCAL_DEFAULTS,
        "spark.driver.memory": driver_memory,
        "spark.driver.extraJavaOptions": " ".join(
            (*JAVA_OPTIONS, f'"-Dlog4j2.configurationFile={LOG_SETTINGS}"')
        ),
        "spark.executor.extraJavaOptions": " ".join(JAVA_OPTIONS),
    }
    for key, value in (defaults | settings).items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def _adjusted(spark: SparkSession, settings: dict[str, str]) -> SparkSession:
    """Sets what can still be set; the rest was decided when the application started."""
    for key, value in settings.items():
        if spark.conf.isModifiable(key):
            spark.conf.set(key, value)
    return spark


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
