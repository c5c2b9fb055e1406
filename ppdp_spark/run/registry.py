"""Releases compose: what was published of a dataset before is known to the next run.

The registry is the folder `.releases` beside the output folders, with one small file a release that
is never changed again: append-only by construction, also on file systems that cannot append, and for
runs on different outputs at the same time. It holds nothing that the manifests do not, but for that blind
groups of a dataset were refused, and for one file: the owner's secret key of random draws, readable by the
owner only.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ppdp_spark.errors import DataError, reason_of
from ppdp_spark.report.format.quoted_names import name, printable
from ppdp_spark.run.storage import MANIFEST, RELEASE, Folder, json_text

REGISTRY = ".releases"
LISTED = 5
_DRAW_KEY, _KEY_BYTES = "draw.key", 32
_REFUSED = ".refused"


@dataclass(frozen=True)
class Registry:
    """The releases published from the output folders of one root."""

    folder: Folder

    @classmethod
    def beside(cls, output: Folder) -> Registry:
        """The registry of the folder that holds this output folder."""
        return cls(output.parent / REGISTRY)

    @property
    def has_draw_key(self) -> bool:
        """Whether random draws were made here."""
        return _DRAW_KEY in self.folder.children()

    def draw_key(self) -> bytes:
        """The secret key of this root's random draws, made once; `StorageError` if it cannot be kept."""
        if not self.has_draw_key:
            self.folder.create()
            self.folder.write_new(_DRAW_KEY, secrets.token_hex(_KEY_BYTES))
        text = self.folder.read_text(_DRAW_KEY).strip()
        if not re.fullmatch(f"[0-9a-f]{{{2 * _KEY_BYTES}}}", text):
            raise DataError(f"`{self.folder / _DRAW_KEY}` is damaged: it must hold {_KEY_BYTES} bytes in hex")
        return bytes.fromhex(text)

    def add(self, record: Mapping[str, Any]) -> None:
        """Enter a release; doing it again changes nothing. `OSError` if it cannot be written."""
        self.folder.store.create_folder(self.folder.path)
        file = f"{_key(record['dataset'])}-{record['run_id']}.json"
        with (self.folder / file).writing() as whole:
            whole.write(json_text(record).encode())

    def earlier(self, dataset: str) -> list[dict[str, Any]]:
        """Records of a dataset, oldest first."""
        key = f"{_key(dataset)}-"
        files = [file for file in self.folder.children() if file.startswith(key) and file.endswith(".json")]
        found = [self.folder.read_json(file) for file in files]
        return [each for each in found if isinstance(each, dict) and each.get("dataset") == dataset]

    def others(self, record: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Records of other releases of the dataset than this one, each once, the newest first.

        The same files published again tell nothing new.
        """
        seen, found = {_content(record)}, []
        for each in reversed(self.earlier(record["dataset"])):
            if _content(each) not in seen:
                seen.add(_content(each))
                found.append(each)
        return found

    def refused(self, dataset: str, facts: Mapping[str, Any]) -> None:
        """Note that blind groups of a dataset were refused: another try must not pass for the first."""
        self.folder.create()
        told = {"dataset": dataset, **{key: facts[key] for key in ("run_id", "created", "spec_fingerprint")}}
        self.folder.write_json(f"{_key(dataset)}-{facts['run_id']}{_REFUSED}", told)

    def refusals(self, dataset: str) -> list[dict[str, Any]]:
        """Records of the blind groups of a dataset that were refused, oldest first."""
        key = f"{_key(dataset)}-"
        files = [file for file in self.folder.children() if file.startswith(key) and file.endswith(_REFUSED)]
        return [self.folder.read_json(file) for file in files]

    def warnings(self, record: Mapping[str, Any]) -> list[str]:
        """What the owner must know before another release of the same people leaves the house."""
        try:
            before = self.earlier(record["dataset"])
        except (OSError, DataError):
            return [f"the registry `{self.folder}` cannot be read: earlier releases are not known"]
        if not before:
            return []
        times = "once" if len(before) == 1 else f"{len(before):,} times"
        listed = "; ".join(_told(each, record) for each in before[-LISTED:])
        more = f"; and {len(before) - LISTED:,} older in `{self.folder}`" if len(before) > LISTED else ""
        return [
            f"dataset {name(record['dataset'])} was released {times} before: whoever holds several releases "
            "of the same people may learn more than any one of them allows, and guarantees here are about "
            "one. If an earlier one has left the house, keep this one back; make releases to choose from "
            f"with `--trial`. Earlier manifests: {listed}{more}"
        ]

    def enter(self, record: Mapping[str, Any]) -> list[str]:
        """Add a record; what went wrong, if anything, comes back in words: the release is out already."""
        try:
            self.add(record)
        except OSError as error:
            reason = reason_of(error)
            return [
                f"the release is published, but could not be entered in `{self.folder}` ({reason}): "
                "the next release of this dataset will not be warned about it"
            ]
        return []


def tries_told(refusals: Sequence[Mapping[str, Any]]) -> list[str]:
    """What the owner must know of a release of blind groups that is not the first try."""
    if not refusals:
        return []
    times = "once" if len(refusals) == 1 else f"{len(refusals):,} times"
    return [
        f"blind groups of this dataset were refused {times} before: whoever can tell that another try failed "
        "learns that it did, which the guarantee of blind groups does not cover"
    ]


def record_of(summary: Mapping[str, Any], output: Folder, manifest: str, content: str) -> dict[str, Any]:
    """The entry of a release: run, dataset, time, place, digests.

    `content` is the digest of its manifest with tables in the usual folder, entered where it is another.
    """
    return {
        "run_id": summary["run_id"],
        "dataset": summary["dataset"],
        "created": summary["created"],
        "path": str(output / RELEASE / MANIFEST),
        "manifest": manifest,
        "spec": summary["spec_fingerprint"],
        **({} if content == manifest else {"content": content}),
    }


def _content(record: Mapping[str, Any]) -> str:
    """What tells the release of a record from others, wherever its tables lie."""
    return str(record.get("content", record.get("manifest")))


def _key(dataset: str) -> str:
    """A dataset's name may hold anything; its digest is fit for a file name."""
    return hashlib.sha256(dataset.encode(errors="surrogatepass")).hexdigest()[:16]


def _told(record: Mapping[str, Any], present: Mapping[str, Any]) -> str:
    known = {
        key: printable(record.get(key) or "unknown") for key in ("path", "created", "run_id", "manifest")
    }
    same = ", identical to this one" if _content(record) == _content(present) else ""
    return (
        f"{known['path']} of {known['created']} (run {known['run_id']}, "
        f"SHA-256 {known['manifest'][:16]}…{same})"
    )
