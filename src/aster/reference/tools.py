"""The tools page: every platform tool as a model sees it, and how the engine treats its calls."""

from typing import Any, Final

from aster.contracts.tools import Effect
from aster.reference.markdown import code, page, table
from aster.utility_directory.platform_registry import platform_tools
from aster.utility_directory.tool import Tool

INTRO = """\
The tools every engine has, in the order a model sees them. The first paragraph of each section is the description
the model gets. What they have in common (pages, artifacts, undo, retries) is in [Tools](../tools.md)."""

EFFECTS: Final[dict[Effect, str]] = {
    Effect.PURE: "only looks; may run beside others and again after a crash",
    Effect.IDEMPOTENT: "doing it twice does no harm; it is done again after a crash",
    Effect.REVERSIBLE: "changes a file; can be undone, and after a crash the file tells whether it was done",
    Effect.IRREVERSIBLE: "cannot be taken back; after a crash in the middle a person is asked",
}
BY_INPUT: Final[dict[str, str]] = {"bash": "depends on the command: one that only looks is `pure`"}
"""Tools whose calls differ in what they do, in words."""

LIMITS: Final[dict[str, str]] = {
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minimum": "≥ {}",
    "exclusiveMinimum": "> {}",
    "maximum": "≤ {}",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "pattern": "like `{}`",
}


def render() -> str:
    registry = platform_tools()
    tools = [registered.tool for name in registry.names if (registered := registry.get(name)) is not None]
    rows = [(f"[{code(tool.definition.name)}](#{tool.definition.name})", _effect(tool)) for tool in tools]
    return page("Tools", INTRO, table(("tool", "what a call does"), rows), *map(_section, tools))


def _section(tool: Tool) -> str:
    schema = tool.definition.input_schema
    required: list[str] = schema.get("required", [])
    rows = [
        (code(name), _kind(rule), "yes" if name in required else "", rule.get("description", ""))
        for name, rule in schema["properties"].items()
    ]
    arguments = table(("argument", "type", "required", "meaning"), rows)
    return f"## {tool.definition.name}\n\n{tool.definition.description}\n\n{arguments}\n\n{' '.join(_notes(tool))}"


def _notes(tool: Tool) -> list[str]:
    notes = [f"Effect: {_effect(tool)}."]
    if tool.asks_human:
        notes.append("A person's answer is its result; the turn waits for it.")
    if tool.setter:
        notes.append("The same call again in one turn is not run again.")
    if tool.result_chars is None:
        notes.append("Its result is never moved to an artifact.")
    else:
        notes.append(f"A result over {tool.result_chars:,} characters becomes an artifact.")
    if tool.untrusted_output:
        notes.append("Its output is marked as outside data for the model.")
    return notes


def _effect(tool: Tool) -> str:
    name = tool.definition.name
    if name in BY_INPUT:
        return BY_INPUT[name]
    effect = tool.effect({})
    return f"{code(effect.value)}: {EFFECTS[effect]}"


def _kind(rule: dict[str, Any]) -> str:
    words = [
        ", ".join(code(str(choice)) for choice in rule["enum"]) if "enum" in rule else str(rule.get("type", "any"))
    ]
    if "items" in rule:
        words[0] = f"list of {_items(rule['items'])}"
    shown = {name: text for name, text in LIMITS.items() if name in rule and (name, rule[name]) != ("minLength", 1)}
    return ", ".join([*words, *(text.format(_number(rule[name])) for name, text in shown.items())])


def _items(rule: dict[str, Any]) -> str:
    fields: dict[str, Any] = rule.get("properties", {})
    if not fields:
        return str(rule.get("type", "any"))
    required: list[str] = rule.get("required", [])
    return "{" + ", ".join(code(name if name in required else f"{name}?") for name in fields) + "}"


def _number(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)
