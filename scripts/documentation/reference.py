"""MkDocs hook: reference pages made from the command line, the spec's JSON schema and docstrings."""

from __future__ import annotations

import dataclasses
import inspect
import re
import sys
import typing
from collections.abc import Iterator, Mapping
from importlib.metadata import entry_points
from typing import Any

from mkdocs.structure.files import File

from ppdp_spark.spec.fields import SpecModel


def on_files(files: Any, config: Any) -> Any:
    """Add the generated pages; none of them exists in the repository."""
    for name, content in (("cli", command_line()), ("spec", spec_fields()), ("api", public_names())):
        files.append(File.generated(config, f"reference/{name}.md", content=content))
    return files


# The command line


def command_line() -> str:
    """One section for each command, with its arguments and options."""
    import typer

    (script,) = entry_points(group="console_scripts", name="ppdp")
    main = script.load()
    group = typer.main.get_command(sys.modules[main.__module__].app)
    parts = ["# Command line", "", _plain(group.help or ""), ""]
    for name, command in group.commands.items():  # type: ignore[attr-defined]
        parts += [f"## ppdp {name}", "", _plain(command.help or ""), ""]
        shown = [each for each in command.params if not getattr(each, "hidden", False)]
        parts += ["```text", _usage(name, shown), "```", ""]
        rows = [_parameter(each) for each in shown]
        if rows:
            parts += ["| | | default |", "|---|---|---|", *rows, ""]
    return "\n".join(parts)


def _usage(name: str, parameters: list[Any]) -> str:
    given = [each for each in parameters if each.param_type_name == "argument"]
    words = [_metavar(each) if each.required else f"[{_metavar(each)}]" for each in given]
    several = [" …" if each.nargs == -1 else "" for each in given]
    options = ["[OPTIONS]"] if len(given) < len(parameters) else []
    arguments = [word + more for word, more in zip(words, several, strict=True)]
    return " ".join(["ppdp", name, *arguments, *options])


def _metavar(parameter: Any) -> str:
    return str(parameter.metavar or parameter.name).upper()


def _parameter(parameter: Any) -> str:
    names = ", ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))
    if parameter.param_type_name == "argument":
        names = f"`{_metavar(parameter)}`"
    shown = "" if parameter.required or parameter.default in (None, False, ()) else f"`{_default(parameter)}`"
    shown = "required" if parameter.required else shown
    return f"| {names} | {_cell(getattr(parameter, 'help', '') or '')} | {shown} |"


def _default(parameter: Any) -> str:
    value = parameter.default
    return str(getattr(value, "value", value))


# The spec


def spec_fields() -> str:
    """One section for each part of a spec, from the JSON schema that editors use."""
    from ppdp_spark import ReleaseSpec

    schema = ReleaseSpec.json_schema()
    parts = [
        "# Fields of a spec",
        "",
        "A spec is one YAML file. `ppdp spec-schema` prints the JSON schema from which this page is made: "
        "give it to your editor, and it completes fields and underlines mistakes as you type. "
        "Every mistake that is left is reported at once, with the field and the fix, before Spark starts.",
        "",
        "The command line overrides any field: `--set privacy.k_anonymity=20`.",
        "",
    ]
    for path, part in _sections(schema):
        parts += [f"## {path}", "", _plain(part.get("description", "")), ""]
        parts += ["| field | value | default | |", "|---|---|---|---|"]
        needed = part.get("required", [])
        for name, field in part.get("properties", {}).items():
            default = "required" if name in needed else _written(field.get("default"))
            words = _cell(field.get("description", ""))
            parts.append(f"| `{name}` | {_value(field, schema)} | {default} | {words}{_examples(field)} |")
        parts.append("")
    return "\n".join(parts)


def _sections(schema: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The whole spec, then every part by the first path that leads to it."""
    yield "The whole spec", schema
    waiting = [(name, field) for name, field in schema["properties"].items()]
    seen: set[str] = set()
    while waiting:
        path, field = waiting.pop(0)
        for name, suffix in _references(field):
            if name in seen:
                continue
            seen.add(name)
            part = _object(schema["$defs"][name])
            yield path + suffix, part
            inner = part.get("properties", {}).items()
            waiting = [(f"{path}{suffix}.{key}", value) for key, value in inner] + waiting


def _object(definition: Mapping[str, Any]) -> Mapping[str, Any]:
    """The long form of a definition that also has a short one."""
    for option in definition.get("anyOf", ()):
        if "properties" in option:
            return typing.cast("Mapping[str, Any]", option)
    return definition


def _references(field: Any, suffix: str = "") -> Iterator[tuple[str, str]]:
    if "$ref" in field:
        yield field["$ref"].rsplit("/", 1)[1], suffix
    for option in field.get("anyOf", ()):
        yield from _references(option, suffix)
    if isinstance(field.get("items"), Mapping):
        yield from _references(field["items"], f"{suffix}[]")
    if isinstance(field.get("additionalProperties"), Mapping):
        yield from _references(field["additionalProperties"], f"{suffix}.NAME")


def _value(field: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    """What may stand there, in words."""
    if "$ref" in field:
        definition = schema["$defs"][field["$ref"].rsplit("/", 1)[1]]
        short = [_value(each, schema) for each in definition.get("anyOf", ()) if "properties" not in each]
        return " or ".join(["a mapping (below)", *short])
    if "anyOf" in field:
        options = [_value(each, schema) for each in field["anyOf"] if each.get("type") != "null"]
        return " or ".join(dict.fromkeys(options))
    if "const" in field:
        return _written(field["const"])
    if "enum" in field:
        return ", ".join(_written(each) for each in field["enum"] if each is not None)
    kind = field.get("type")
    if isinstance(kind, list):
        return " or ".join(_NAMES.get(str(each), str(each)) for each in kind)
    if kind == "array":
        return f"a list of: {_value(field.get('items', {}), schema)}"
    if kind == "object" and isinstance(field.get("additionalProperties"), Mapping):
        return f"names with: {_value(field['additionalProperties'], schema)}"
    if kind == "object":
        return "a mapping"
    return _NAMES.get(str(kind), str(kind)) + _limits(field)


_NAMES = {
    "string": "text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "`true` or `false`",
}


LARGE = 1_000_000
"""Limits from here on only keep absurd numbers out, and are not worth telling."""


def _limits(field: Mapping[str, Any]) -> str:
    signs = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}
    told = [f"{sign} {field[key]:,}" for key, sign in signs.items() if abs(field.get(key, LARGE)) < LARGE]
    return f", {', '.join(told)}" if told else ""


def _written(value: Any) -> str:
    if value in (None, [], {}):
        return ""
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return "(see below)" if isinstance(value, dict) else f"`{value}`"


def _examples(field: Mapping[str, Any]) -> str:
    examples = field.get("examples") or ()
    return f" Example: `{examples[0]}`." if examples else ""


# The Python names


def public_names() -> str:
    """One section for each public name, from its signature and docstring."""
    import ppdp_spark

    parts = [
        "# Python API",
        "",
        "The names that `import ppdp_spark` offers, and the results they return. "
        "Everything else is internal and may change.",
        "",
        "```python",
        f"from ppdp_spark import {', '.join(sorted(ppdp_spark.__all__, key=str.lower))}",
        "```",
        "",
    ]
    named = {name: getattr(ppdp_spark, name) for name in ppdp_spark.__all__}
    for name, thing in {**named, **_results(named)}.items():
        if inspect.isclass(thing):
            parts += _class(name, thing)
        elif callable(thing):
            parts += [f"## {name}", "", *_signature(name, thing), *_docstring(thing)]
    return "\n".join(parts)


def _results(named: Mapping[str, Any]) -> dict[str, Any]:
    """Dataclasses of this package that public functions return, with those they hold."""
    found: dict[str, Any] = {}
    waiting = [_hints(thing).get("return") for thing in named.values() if inspect.isfunction(thing)]
    waiting += [hint for thing in named.values() if dataclasses.is_dataclass(thing) for hint in _held(thing)]
    while waiting:
        hint = waiting.pop(0)
        waiting += typing.get_args(hint)
        if not (inspect.isclass(hint) and dataclasses.is_dataclass(hint)):
            continue
        if hint.__name__ in {*found, *named} or not hint.__module__.startswith("ppdp_spark"):
            continue
        found[hint.__name__] = hint
        waiting += _held(hint)
    return found


def _held(thing: Any) -> list[Any]:
    """The types of the public fields of a dataclass."""
    return [hint for name, hint in _hints(thing).items() if not name.startswith("_")]


def _hints(thing: Any) -> dict[str, Any]:
    try:
        return typing.get_type_hints(inspect.unwrap(thing) if inspect.isfunction(thing) else thing)
    except NameError:
        return {}


def _class(name: str, thing: Any) -> list[str]:
    parts = [f"## {name}", "", *_docstring(thing)]
    if dataclasses.is_dataclass(thing):
        public = [field for field in dataclasses.fields(thing) if not field.name.startswith("_")]
        fields = [f"{field.name}: {field.type}" for field in public]
        parts += ["```python", *fields, "```", ""]
    for key, member in vars(thing).items():
        inner = getattr(member, "fget", None) or getattr(member, "__func__", member)
        if key.startswith("_") or not inspect.isfunction(inner) or not inspect.getdoc(inner):
            continue
        if issubclass(thing, SpecModel) and key in vars(SpecModel):
            continue
        if isinstance(member, property):
            parts += [f"### {name}.{key}", "", *_docstring(inner)]
        else:
            parts += [f"### {name}.{key}", "", *_signature(f"{name}.{key}", inner), *_docstring(inner)]
    return parts


def _signature(name: str, function: Any) -> list[str]:
    signature = inspect.signature(function)
    shown = [each for each in signature.parameters.values() if each.name not in ("self", "cls")]
    text = name + str(signature.replace(parameters=shown)).replace("'", "")
    if len(text) > 88:
        text = re.sub(r"\((.*)\)( ->.*)?$", _broken, text, flags=re.DOTALL)
    return ["```python", text, "```", ""]


def _broken(found: re.Match[str]) -> str:
    """One parameter on each line; commas inside brackets do not separate."""
    inner = re.split(r", (?![^\[]*\])", found.group(1))
    return "(\n    " + ",\n    ".join(inner) + ",\n)" + (found.group(2) or "")


def _docstring(thing: Any) -> list[str]:
    """Paragraphs as they are, indented ones as code; the list of symbols after `where` as a table."""
    parts: list[str] = []
    for paragraph in (inspect.getdoc(thing) or "").split("\n\n"):
        if paragraph.startswith("    "):
            parts += ["```python", inspect.cleandoc(paragraph), "```", ""]
        elif paragraph.startswith("where\n"):
            parts += ["| where | |", "|---|---|", *_symbols(paragraph), ""]
        else:
            parts += [_plain(paragraph), ""]
    return parts


def _symbols(paragraph: str) -> Iterator[str]:
    rows: list[list[str]] = []
    for line in paragraph.splitlines()[1:]:
        match = re.match(r" {4}(\S.*?) {2,}(.+)", line)
        if match:
            rows.append([match.group(1), match.group(2)])
        elif rows:
            rows[-1][1] += " " + line.strip()
    for symbol, words in rows:
        yield f"| `{symbol}` | {_cell(words)} |"


def _plain(text: str) -> str:
    """A docstring as Markdown: symbols with a star are not emphasis."""
    return re.sub(r"(?<![`\w])(\w)\*\(", r"\1\\*(", inspect.cleandoc(text))


def _cell(text: str) -> str:
    return _plain(text).replace("\n", " ").replace("|", "\\|")
