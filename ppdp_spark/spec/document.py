"""From YAML text to a plain mapping: no code, no aliases, no key twice, keys as they are written.

And what the relative paths in it mean.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from os import PathLike
from pathlib import Path
from typing import Any

import yaml

from ppdp_spark.errors import SpecError
from ppdp_spark.spec.messages import A_MAPPING, excerpt, located, wrong_kind

_ADDRESS = "://"
LARGEST_FILE = 1_000_000


class _SpecLoader(yaml.SafeLoader):
    """Safe YAML in which keys are taken as they are written.

    YAML reads the keys `NO`, `010` and `1.10` as false, 8 and 1.1; as names of columns and of
    sensitive values they must stay what they are. Dates and numbers such as `010` or `1:30`, which
    YAML would turn into 8 and 90, stay text.
    """

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise yaml.MarkedYAMLError(
                problem="aliases are not supported: write the value out", problem_mark=mark
            )
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        mapping: dict[Hashable, Any] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                raise yaml.MarkedYAMLError(problem="a key must be text", problem_mark=key_node.start_mark)
            if key_node.value in mapping:
                text = f"the key `{excerpt(key_node.value)}` is there twice"
                raise yaml.MarkedYAMLError(problem=text, problem_mark=key_node.start_mark)
            mapping[key_node.value] = self.construct_object(value_node, deep=True)
        return mapping


_TAG = "tag:yaml.org,2002:"
_SpecLoader.yaml_implicit_resolvers = {
    first: [pair for pair in pairs if pair[0] not in (_TAG + "timestamp", _TAG + "int", _TAG + "float")]
    for first, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_SpecLoader.add_implicit_resolver(_TAG + "int", re.compile(r"[-+]?(?:0|[1-9][0-9_]*)$"), list("-+0123456789"))
_SpecLoader.add_implicit_resolver(
    _TAG + "float",
    re.compile(
        r"""[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?$
        |[-+]?\.(?:inf|Inf|INF)$|\.(?:nan|NaN|NAN)$""",
        re.VERBOSE,
    ),
    list("-+.0123456789"),
)


def _construct_map(loader: _SpecLoader, node: yaml.MappingNode) -> dict[Hashable, Any]:
    return loader.construct_mapping(node)


_SpecLoader.add_constructor(_TAG + "map", _construct_map)


def parse_yaml(text: str) -> Any:
    """The value that a YAML text stands for; raises `ValueError` with a readable reason."""
    try:
        return yaml.load(text, Loader=_SpecLoader)
    except yaml.MarkedYAMLError as error:
        raise ValueError(_marked(error)) from None
    except yaml.YAMLError as error:
        position = getattr(error, "position", None)
        reason = getattr(error, "reason", None) or "cannot be read"
        raise ValueError(_at(text, position) + excerpt(str(reason))) from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except (ValueError, TypeError, LookupError, AttributeError, OverflowError):
        raise ValueError("it has a number or a tag that cannot be read") from None


def _at(text: str, position: int | None) -> str:
    if position is None:
        return ""
    before = text[:position]
    return f"line {before.count(chr(10)) + 1}, column {position - before.rfind(chr(10))}: "


def _marked(error: yaml.MarkedYAMLError) -> str:
    mark = error.problem_mark or error.context_mark
    place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
    if "'\\t'" in str(error.problem):
        return f"{place}a tab stands where spaces are needed: YAML is indented with spaces"
    reasons = [reason for reason in (error.context, error.problem) if reason]
    return place + _printable(", ".join(reasons) or "cannot be read")


def _printable(text: str) -> str:
    limit = 120
    return "".join(c if c.isprintable() else " " for c in text[:limit])


def read_document(path: str | PathLike[str]) -> tuple[dict[str, Any], str]:
    """The mapping in a spec file, and the folder of the file."""
    name = f"the spec file `{excerpt(str(path))}`"
    text = _read_text(str(path), name)
    try:
        document = parse_yaml(text)
    except ValueError as error:
        raise SpecError(f"{name} is not valid YAML: {error}") from None
    if document is None:
        raise SpecError(f"{name} is empty: start it with `version: 1`")
    if not isinstance(document, dict):
        raise SpecError(located((), wrong_kind(document, A_MAPPING)))
    return document, _folder_of(str(path))


def _folder_of(path: str) -> str:
    return path.rpartition("/")[0] if _ADDRESS in path else str(Path(path).parent)


def _read_text(path: str, name: str) -> str:
    try:
        if _ADDRESS in path:
            from ppdp_spark.stores.addresses import read_bytes

            content = read_bytes(path, LARGEST_FILE + 1)
        else:
            with Path(path).open("rb") as stream:
                content = stream.read(LARGEST_FILE + 1)
    except FileNotFoundError:
        raise SpecError(f"{name} does not exist") from None
    except IsADirectoryError:
        raise SpecError(f"{name} is a folder: name the YAML file in it") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or (str(error) if _ADDRESS in path else "not a usable path")
        raise SpecError(f"{name} cannot be read: {reason}") from None
    if len(content) > LARGEST_FILE:
        raise SpecError(f"{name} is larger than 1 MB: a spec is a few lines of YAML")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SpecError(f"{name} is not UTF-8 text (byte {error.start + 1})") from None


def resolved_path(path: str, base: str | PathLike[str]) -> str:
    """A path of the spec's folder `base` if it exists there, else the path as it is written.

    Addresses such as `s3://...` and absolute paths stay; what is left relative means the working
    directory, or the default file system of the cluster. Beside a spec on HDFS or an object store it
    means the spec's folder.
    """
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+:", path) or Path(path).is_absolute():
        return path
    if _ADDRESS in str(base):
        return f"{base}/{path}"
    beside_spec = Path(base) / path
    try:
        found = any(beside_spec.parent.glob(beside_spec.name)) if "*" in path else beside_spec.exists()
    except (OSError, ValueError, NotImplementedError):
        found = False
    return str(beside_spec) if found else path
