"""A release of ours as what a command looks at: a folder instead of a spec written by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any, TypeVar

from ppdp_spark.core.data.forms import FORMS
from ppdp_spark.errors import DataError, SpecError
from ppdp_spark.run.commit.steady_reading import release_in, steadily
from ppdp_spark.run.criteria.guarantees import published_privacy
from ppdp_spark.run.manifest import published_attributes
from ppdp_spark.run.storage import MANIFEST, PRIVATE, SUMMARY, VERDICT, Folder
from ppdp_spark.spec import Command, ReleaseSpec
from ppdp_spark.spec.privacy import PER_ATTRIBUTE

Result = TypeVar("Result")

_OWN = ("columns", "dataset", "input", "output", "version")
"""What a manifest says of its release, so that nobody else can."""


@dataclass(frozen=True, eq=False)
class Released:
    """A release of ours.

    where
        folder    `release.json` and the data
        manifest  what `release.json` says
        spec      the spec that a command on this release follows
        owned     the owner's folder beside it; where the release came alone, it is not there
        asked     the place, the command and the overrides that it was found by
    """

    folder: Folder
    manifest: Mapping[str, Any]
    spec: ReleaseSpec
    owned: Folder
    asked: tuple[Folder, Command, Sequence[str]]

    @classmethod
    def at(cls, place: object, command: Command, overrides: Sequence[str] = ()) -> Released | None:
        """The release in the output folder of a run, or in a release folder; None for anything else.

        `overrides` are fields of a spec, such as `explore.confidence=[0.9]`; those that the manifest states
        cannot be changed.
        """
        if isinstance(place, cls):
            return place
        if not isinstance(place, str | PathLike):
            return None
        root = Folder.at(fspath(place))
        return cls._in(root, command, overrides) if root.is_folder() else None

    def steadily(self, read: Callable[[Released], Result]) -> Result:
        """What `read` makes of the release; of the next one if that takes its place meanwhile."""
        return steadily(self.asked[0], lambda _: read(self._in(*self.asked)))

    @classmethod
    def _in(cls, root: Folder, command: Command, overrides: Sequence[str]) -> Released:
        release = release_in(root)
        if not (release / MANIFEST).exists():
            raise DataError(f"`{root}` is a folder that holds no release of ours: {MANIFEST} is not there")
        stated = [one for one in overrides if one.split("=", 1)[0].split(".")[0].strip() in _OWN]
        if stated:
            raise SpecError([f"`--set {one}`: this is what the release says of itself" for one in stated])
        manifest, owned = release.read_json(MANIFEST), root / PRIVATE
        document = _document(command, release, manifest, owned if release != root else None)
        spec = ReleaseSpec.parse(document, overrides=overrides)
        if command != "check":
            spec.require_for(command, table_given=True)
        return cls(release, manifest, spec, owned, (root, command, overrides))


def _document(
    command: Command, release: Folder, manifest: Mapping[str, Any], owned: Folder | None
) -> dict[str, Any]:
    """The mapping of a spec for commands on a release; findings go to the owner's folder, if there is one."""
    home = release if owned is None else release.parent
    document: dict[str, Any] = {
        "version": 1,
        "dataset": manifest["dataset"],
        "columns": _owners_columns(release, owned) or _columns(manifest),
    }
    stated = published_privacy(manifest["privacy"]).model_dump(mode="json", exclude_none=True)
    if command == "attack":
        document["attack"] = {"release": str(home)}
    else:
        document["privacy"] = stated if command == "check" else _skylines(stated)
    if owned is not None:
        document["output"] = {"path": str(home), "form": manifest["form"]}
    return document


def _skylines(stated: Mapping[str, Any]) -> dict[str, Any]:
    """The criteria on what an adversary may know, which are what `explore` is about."""
    own = {
        name: {"skyline": criteria["skyline"]}
        for name, criteria in (stated.get(PER_ATTRIBUTE) or {}).items()
        if "skyline" in criteria
    }
    kept = {"skyline": stated["skyline"]} if "skyline" in stated else {}
    return {**kept, **({PER_ATTRIBUTE: own} if own else {})}


def _columns(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """The columns that a manifest names; what kind they are is all that can be said of them."""
    stated = manifest["columns"]
    ranges, form = list(stated["ranges"]), FORMS.get(str(manifest["form"]))
    bounds = {f"{name}_{end}" for name in ranges for end in ("min", "max")}
    columns: dict[str, Any] = {
        "quasi_identifiers": {
            name: "numeric" if name in ranges else "categorical"
            for name in stated["quasi_identifiers"]
            if name not in bounds or (form is not None and form.codes_published)
        },
        "publish_as_is": list(stated["publish_as_is"]),
    }
    if attributes := published_attributes(manifest):
        columns["sensitive"] = attributes
    if linked := manifest.get("linked"):
        columns["sensitive_linked"] = linked
    return columns


def _owners_columns(release: Folder, owned: Folder | None) -> dict[str, Any] | None:
    """The columns of the spec that the release was made by, hierarchies included, if its owner has it."""
    if owned is None or not ((owned / VERDICT).exists() and (owned / SUMMARY).exists()):
        return None
    if owned.read_json(VERDICT).get("manifest") != release.digest(MANIFEST):
        return None
    columns = owned.read_json(SUMMARY)["spec"]["columns"]
    kept = ("quasi_identifiers", "sensitive", "sensitive_linked", "publish_as_is")
    found = {name: columns[name] for name in kept if columns.get(name) is not None}
    found["quasi_identifiers"] = {
        name: {key: value for key, value in one.items() if key != "varies"}
        for name, one in columns["quasi_identifiers"].items()
    }
    return found
