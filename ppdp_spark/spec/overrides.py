"""`--set a.b=c`: changes to a spec from the command line."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ppdp_spark.spec.document import parse_yaml
from ppdp_spark.spec.messages import dotted, kind, located

_SEGMENT = re.compile(r'"((?:[^"\\]|\\.)*)"|' r"'([^']*)'|" r"""([^."'=]+)""", re.DOTALL)
_SYNTAX = "must be PATH=VALUE, such as privacy.k_anonymity=20"


def overridden(mapping: Mapping[str, Any], overrides: Sequence[str]) -> tuple[dict[str, Any], list[str]]:
    """A copy of the mapping with all overrides applied in order, and the problems of those that cannot be."""
    document: dict[str, Any] = dict(mapping)
    problems: list[str] = []
    for position, override in enumerate(overrides, start=1):
        document, found = _applied(document, override)
        problems += [f"override {position} {problem}" for problem in found]
    return document, problems


def _applied(document: dict[str, Any], override: str) -> tuple[dict[str, Any], list[str]]:
    try:
        path, value = _parsed(override)
        return _with(document, path, value), []
    except _OverrideError as error:
        return document, [str(error)]


class _OverrideError(ValueError):
    """Why one override cannot be applied; never contains its value, which may be a secret."""


def _parsed(override: str) -> tuple[list[str], Any]:
    if not isinstance(override, str):
        raise _OverrideError(_SYNTAX)
    path, position = [], 0
    while True:
        match = _SEGMENT.match(override, position)
        if (
            match is None
            or not (following := override[match.end() : match.end() + 1])
            or following not in ".="
        ):
            raise _OverrideError(f"{_SYNTAX}; put a key with a dot or an equals sign in double quotes")
        path.append(_key(match))
        position = match.end() + 1
        if following == "=":
            break
    try:
        return path, parse_yaml(override[position:])
    except ValueError as error:
        raise _OverrideError(f"of `{dotted(path)}` has a value that is not valid YAML: {error}") from None


def _key(match: re.Match[str]) -> str:
    quoted, single, plain = match.groups()
    if quoted is not None:
        return re.sub(r"\\(.)", r"\1", quoted, flags=re.DOTALL)
    return str(single if single is not None else plain.strip())


def _with(node: Any, path: list[str], value: Any, depth: int = 0) -> Any:
    """A copy of `node` in which the place at `path[depth:]` holds `value`."""
    if depth == len(path):
        return value
    key = path[depth]
    if node is None or isinstance(node, Mapping):
        fields = dict(node or {})
        fields[key] = _with(fields.get(key), path, value, depth + 1)
        return fields
    if isinstance(node, list | tuple):
        entries = list(node)
        if not re.fullmatch(r"[0-9]{1,9}", key) or int(key) >= len(entries):
            count = f"0 to {len(entries) - 1}" if entries else "none, it is empty"
            raise _OverrideError(
                located(path[: depth + 1], f"is not an entry of the list; there are {count}")
            )
        entries[int(key)] = _with(entries[int(key)], path, value, depth + 1)
        return entries
    written = f"({kind(node)}) is not a mapping: write it out before setting `{dotted(path[depth:])}` in it"
    raise _OverrideError(located(path[:depth], written))
