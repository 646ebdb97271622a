"""A tool as the operator writes it down, and everything that can be wrong with it before anybody calls it."""

import re
from collections.abc import Iterator
from typing import Any, Final, cast

import msgspec

from aster.catalog.connected_tool import ConnectedTool
from aster.catalog.declared_tool import DeclaredTool, Fixed
from aster.catalog.skill_tool import SkillTool
from aster.catalog.template import Language, Template
from aster.contracts.errors import EngineError
from aster.contracts.model import Contract
from aster.contracts.tools import ToolDef
from aster.utility_directory.platform_registry import Registry
from aster.utility_directory.run_skill import RunSkill
from aster.utility_directory.schema import compiled
from aster.utility_directory.tool import Tool

NAME: Final = re.compile(r"[a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)*")
NAME_CHARS: Final = 64
DESCRIPTION_CHARS: Final = 4000
_LANGUAGES: Final[dict[str, Language]] = {"command": "shell", "path": "path", "url": "url"}


class Wrong(Exception):
    """What is wrong with a declaration, as a sentence."""


class Implementation(Contract, forbid_unknown_fields=True):
    """What does the work: a tool of the platform by its name, with arguments the model has no say in."""

    kind: str
    ref: Any
    arguments: dict[str, Any] = {}


class ActionRef(Contract, forbid_unknown_fields=True):
    """An action of a connected server."""

    server: str
    action: str


class Declaration(Contract, forbid_unknown_fields=True):
    name: str
    description: str
    input_schema: dict[str, Any]
    implementation: Implementation
    requires_permission: bool = False


def declared(data: bytes, stem: str, platform: Registry) -> Tool:
    """The tool that a file declares, or `Wrong`."""
    try:
        read = msgspec.json.decode(data.decode("utf-8"), type=Declaration)
    except UnicodeDecodeError:
        raise Wrong("it is not UTF-8 text") from None
    except RecursionError:
        raise Wrong("it is nested too deeply") from None
    except msgspec.DecodeError as error:
        raise Wrong(str(error)) from None
    for problem in _plainly(read, stem):
        raise Wrong(problem)
    if read.implementation.kind == "skill":
        return _skill_tool(read, platform)
    if read.implementation.kind == "mcp":
        return _connected_tool(read)
    target = _target(read.implementation, platform)
    return _tool(read, target)


def _plainly(read: Declaration, stem: str) -> Iterator[str]:
    if not NAME.fullmatch(read.name) or len(read.name) > NAME_CHARS:
        yield f"`name` must be lowercase letters, digits and _, in parts joined by dots, {NAME_CHARS} at most"
    if read.name != stem:
        yield f"it declares the tool {read.name!r}; call the file {read.name}.json"
    if not read.description.strip() or len(read.description) > DESCRIPTION_CHARS:
        yield f"`description` must say what the tool does, in at most {DESCRIPTION_CHARS} characters"
    properties = read.input_schema.get("properties", {})
    if read.input_schema.get("type") != "object" or not isinstance(properties, dict):
        yield '`input_schema` must have "type": "object" and `properties`'
    if any(not ref.startswith("#") for ref in _references(read.input_schema)):
        yield "`input_schema` may only refer to itself: every `$ref` begins with #"
    try:
        compiled(read.name, read.input_schema, at_once=True)
    except EngineError as error:
        yield error.message


def _references(schema: object) -> Iterator[str]:
    if isinstance(schema, dict):
        for key, value in cast("dict[str, object]", schema).items():
            if key in ("$ref", "$dynamicRef"):
                yield str(value)
            yield from _references(value)
    elif isinstance(schema, list):
        for item in cast("list[object]", schema):
            yield from _references(item)


def _skill_tool(read: Declaration, platform: Registry) -> Tool:
    ref, fixed = read.implementation.ref, read.implementation.arguments
    found = platform.get("run_skill")
    runner = None if found is None else found.tool
    if not isinstance(runner, RunSkill) or not isinstance(ref, str) or not runner.offers(ref):
        raise Wrong("`implementation.ref` must be the name of a skill that everybody has and that has instructions")
    for name in sorted(fixed.keys() & read.input_schema.get("properties", {}).keys()):
        raise Wrong(f"the input {name!r} is fixed by `arguments`; take it out of `input_schema`")
    schema = {"additionalProperties": False, **read.input_schema}
    definition = ToolDef(name=read.name, description=read.description.strip(), input_schema=schema)
    return SkillTool(definition, runner, ref, fixed, read.requires_permission)


def _connected_tool(read: Declaration) -> Tool:
    """A tool that stands for an action of a server; which servers a user is connected to shows when it is called."""
    try:
        ref = msgspec.convert(read.implementation.ref, ActionRef)
    except msgspec.ValidationError:
        raise Wrong('`implementation.ref` must be {"server": …, "action": …}') from None
    fixed = read.implementation.arguments
    for name in sorted(fixed.keys() & read.input_schema.get("properties", {}).keys()):
        raise Wrong(f"the input {name!r} is fixed by `arguments`; take it out of `input_schema`")
    schema = {"additionalProperties": False, **read.input_schema}
    definition = ToolDef(name=read.name, description=read.description.strip(), input_schema=schema)
    return ConnectedTool(definition, f"{ref.server}.{ref.action}", fixed, read.requires_permission)


def _target(implementation: Implementation, platform: Registry) -> Tool:
    if implementation.kind != "platform":
        raise Wrong("`implementation.kind` must be platform, skill or mcp")
    found = platform.get(implementation.ref) if isinstance(implementation.ref, str) else None
    if found is None:
        raise Wrong(f"`implementation.ref` must be a tool of the platform: {', '.join(platform.names)}")
    return found.tool


def _tool(read: Declaration, target: Tool) -> Tool:
    takes = cast("dict[str, Any]", target.definition.input_schema["properties"])
    inputs = cast("dict[str, Any]", read.input_schema.get("properties", {}))
    fixed = {name: _fixed(name, value, target) for name, value in read.implementation.arguments.items()}
    templates = [template for value in fixed.values() for template in _templates(value)]
    used = {name for template in templates for name in template.names}
    required = set(cast("list[str]", read.input_schema.get("required", [])))
    for problem in _fit(takes, inputs, fixed, used, required, target):
        raise Wrong(problem)
    for template in templates:
        if (problem := template.problem()) is not None:
            raise Wrong(f"`arguments`: {problem}")
    schema = {"additionalProperties": False, **read.input_schema}
    definition = ToolDef(name=read.name, description=read.description.strip(), input_schema=schema)
    defaults = {name: inputs[name]["default"] for name in used if name not in required}
    return DeclaredTool(definition, target, fixed, frozenset(used), defaults, read.requires_permission)


def _fit(
    takes: dict[str, Any],
    inputs: dict[str, Any],
    fixed: dict[str, Fixed],
    used: set[str],
    required: set[str],
    target: Tool,
) -> Iterator[str]:
    """Whether what is declared and what is fixed make up a call of the platform's tool."""
    name = target.definition.name
    for argument in fixed.keys() - takes.keys():
        yield f"`arguments`: {name} takes no {argument!r}; it takes {', '.join(takes)}"
    for unknown in sorted(used - inputs.keys()):
        yield f"`arguments`: {{{unknown}}} is not among the inputs; write {{{{{unknown}}}}} for the text itself"
    for free in sorted(inputs.keys() - used):
        if free not in takes:
            yield f"the input {free!r} is neither used in `arguments` nor an argument of {name}"
        if free in fixed:
            yield f"the input {free!r} is fixed by `arguments`; take it out of `input_schema`"
    for optional in sorted(used - required):
        if not isinstance(inputs[optional], dict) or "default" not in inputs[optional]:
            yield f"the input {optional!r} is used in `arguments`: make it required or give it a `default`"
    for needed in cast("list[str]", target.definition.input_schema.get("required", [])):
        if needed not in fixed and needed not in required:
            yield f"{name} needs {needed!r}: fix it in `arguments`, or declare it as a required input"


def _fixed(name: str, value: Any, target: Tool) -> Fixed:
    """A fixed argument with its templates; only text has places."""
    if isinstance(value, str):
        language = _LANGUAGES.get(name, "text")
        if language == "shell" and target.definition.name != "bash":
            language = "text"
        template = Template(value, language)
        return template if template.names else template.render({})
    if isinstance(value, list):
        return [_fixed("", item, target) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {key: _fixed("", item, target) for key, item in cast("dict[str, Any]", value).items()}
    return value


def _templates(value: Fixed) -> Iterator[Template]:
    if isinstance(value, Template):
        yield value
    elif isinstance(value, dict):
        for item in cast("dict[str, Fixed]", value).values():
            yield from _templates(item)
    elif isinstance(value, list):
        for item in cast("list[Fixed]", value):
            yield from _templates(item)
