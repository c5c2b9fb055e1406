"""A NameNode and a DataNode on this machine, from the jars that old sdists of pyspark carry."""

from __future__ import annotations

import fcntl
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from support.places import ROOT
from support.stores.ports import answers, free_port

CACHE = ROOT / "build/hdfs"
_SDIST = "pyspark==2.4.8"
_NEEDLESS = (
    "spark-",
    "scala-",
    "breeze",
    "hive-",
    "mesos",
    "kubernetes",
    "arrow-",
    "datanucleus",
    "parquet-",
)
_JAVA = ("java", "--add-opens", "java.base/java.lang=ALL-UNNAMED", "-Xmx192m", "-XX:+UseSerialGC")
_SERVERS = {
    "name": "org.apache.hadoop.hdfs.server.namenode.NameNode",
    "data": "org.apache.hadoop.hdfs.server.datanode.DataNode",
}


@dataclass(frozen=True)
class Hdfs:
    """A running file system.

    where
        url      its address
        servers  the processes, by their part
    """

    url: str
    servers: dict[str, subprocess.Popen[bytes]]


def jars() -> Path:
    """The servers' jars; downloaded once, by one process."""
    CACHE.mkdir(parents=True, exist_ok=True)
    done = CACHE / ".done"
    with (CACHE / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            _download()
            done.touch()
    return CACHE / "jars"


def _download() -> None:
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    pip += ["--no-build-isolation", "--no-binary", ":all:", "--dest", str(CACHE)]
    subprocess.run([*pip, _SDIST], check=True)
    (sdist,) = CACHE.glob("pyspark-*.tar.gz")
    (CACHE / "jars").mkdir(exist_ok=True)
    with tarfile.open(sdist) as content:
        for member in content:
            inside = Path(member.name)
            if inside.parent.name == "jars" and not inside.name.startswith(_NEEDLESS):
                found = content.extractfile(member)
                assert found is not None
                (CACHE / "jars" / inside.name).write_bytes(found.read())
    sdist.unlink()


@contextmanager
def hdfs(folder: Path) -> Iterator[Hdfs]:
    """A fresh file system whose blocks lie in `folder`, for as long as the block lasts."""
    url = f"hdfs://127.0.0.1:{free_port()}"
    conf = _settings(folder, url)
    found, log = f"{conf}:{jars()}/*", (folder / "log").open("ab")
    subprocess.run(
        [*_JAVA, "-cp", found, _SERVERS["name"], "-format", "-nonInteractive"],
        check=True,
        stdout=log,
        stderr=log,
    )
    servers = {
        part: subprocess.Popen([*_JAVA, "-cp", found, name], stdout=log, stderr=log)
        for part, name in _SERVERS.items()
    }
    try:
        _wait(url)
        yield Hdfs(url, servers)
    finally:
        for server in servers.values():
            server.kill()
            server.wait()
        log.close()


def _settings(folder: Path, url: str) -> Path:
    """The servers' configuration; they want web applications, and get empty ones."""
    conf = folder / "conf"
    for name in ("hdfs", "datanode"):
        (conf / "webapps" / name / "WEB-INF").mkdir(parents=True)
        (conf / "webapps" / name / "WEB-INF/web.xml").write_text("<web-app/>")
    _write(conf / "core-site.xml", {"fs.defaultFS": url, "hadoop.tmp.dir": str(folder / "tmp")})
    addresses = {
        f"dfs.{name}": f"127.0.0.1:{free_port()}"
        for name in (
            "namenode.http-address",
            "datanode.address",
            "datanode.http.address",
            "datanode.ipc.address",
        )
    }
    settings = {
        "dfs.namenode.name.dir": f"file://{folder}/name",
        "dfs.datanode.data.dir": f"file://{folder}/data",
        "dfs.replication": "1",
        "dfs.webhdfs.enabled": "false",
        "dfs.namenode.safemode.extension": "0",
        "dfs.namenode.fs-limits.min-block-size": "4096",
    }
    _write(conf / "hdfs-site.xml", settings | addresses)
    return conf


def _write(file: Path, settings: dict[str, str]) -> None:
    listed = "".join(
        f"<property><name>{name}</name><value>{value}</value></property>" for name, value in settings.items()
    )
    file.write_text(f"<configuration>{listed}</configuration>")


def _wait(url: str) -> None:
    """Until a file can be written, for a minute at the most."""
    until, port = time.monotonic() + 60, int(url.rpartition(":")[2])
    while not answers(port):
        assert time.monotonic() < until, "the NameNode does not answer"
        time.sleep(0.1)
    for attempt in count():
        if _written(url, f"/.up/{attempt}"):
            return
        assert time.monotonic() < until, "the DataNode does not take a file"
        time.sleep(0.3)


def _written(url: str, path: str) -> bool:
    from hdfs_native import Client

    try:
        with Client(url).create(path) as file:
            file.write(b"up")
    except Exception:
        return False
    return True
