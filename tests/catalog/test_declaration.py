"""What can be wrong with a declaration is said when it is read."""

import json
from typing import Any

import pytest

from aster.catalog.declaration import Wrong, declared
from aster.utility_directory.platform_registry import platform_tools
from aster.utility_directory.tool import Meant, Tool

USUAL: dict[str, Any] = {
    "name": "t",
    "description": "Does it.",
    "input_schema": {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]},
    "implementation": {"kind": "platform", "ref": "bash", "arguments": {"command": "echo {x}"}},
}


def read(**changes: Any) -> Tool:
    return declared(json.dumps({**USUAL, **changes}).encode(), changes.get("name", "t"), platform_tools())


def over(ref: Any, arguments: dict[str, Any], kind: str = "platform") -> dict[str, Any]:
    return {"kind": kind, "ref": ref, "arguments": arguments}


def inputs(*required: str, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"name": "Git"}, "`name` must be"),
        ({"name": "a..b"}, "`name` must be"),
        ({"name": "a" * 65}, "`name` must be"),
        ({"description": " "}, "`description`"),
        ({"input_schema": {"type": "array"}}, '"type": "object"'),
        ({"input_schema": inputs("x", x={"type": "nonsense"})}, "not a valid JSON Schema"),
        ({"input_schema": inputs("x", x={"$ref": "http://127.0.0.1/s"})}, "`$ref` begins with #"),
        ({"implementation": over(7, {}, "skill")}, "must be the name of a skill"),
        ({"implementation": over("summarizer", {"x": "y"}, "skill")}, "'x' is fixed by `arguments`"),
        ({"implementation": over({"server": "s"}, {}, "mcp")}, "`implementation.ref` must be"),
        ({"implementation": over({"server": "s", "action": "a"}, {"x": 1}, "mcp")}, "'x' is fixed by `arguments`"),
        ({"implementation": over("bash", {}, "python")}, "must be platform, skill or mcp"),
        ({"implementation": over("reboot", {})}, "must be a tool of the platform: bash,"),
        ({"implementation": over("bash", {"command": "ls", "shell": "x"})}, "bash takes no 'shell'"),
        ({"implementation": over("bash", {"command": "echo {y}"})}, "{y} is not among the inputs; write {{y}}"),
        ({"implementation": over("bash", {"command": "ls"})}, "'x' is neither used"),
        ({"implementation": over("bash", {"command": 'echo "{x}"'})}, "inside quotes"),
        ({"implementation": over("bash", {})}, "'x' is neither used"),
        ({"input_schema": inputs(x={"type": "string"})}, "make it required or give it a `default`"),
        ({"input_schema": inputs(), "implementation": over("bash", {})}, "bash needs 'command'"),
        ({"input_schema": inputs("path", path={}), "implementation": over("read_file", {"path": "a"})}, "is fixed"),
        ({"wishes": 1}, "unknown field `wishes`"),
    ],
)
def test_what_is_wrong_is_said(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(Wrong) as wrong:
        read(**changes)
    assert said in str(wrong.value)


def test_inputs_pass_through_and_fixed_ones_stay() -> None:
    tool = read(
        input_schema=inputs("name", name={"type": "string"}, limit={"type": "integer"}),
        implementation=over("read_file", {"path": "notes/{name}.md"}),
    )
    meant = tool.stands_for({"name": "a", "limit": 3, "path": "/etc/shadow"})
    assert meant == Meant("read_file", {"path": "notes/a.md", "limit": 3})


def test_defaults_fill_places() -> None:
    tool = read(input_schema=inputs(x={"type": "string", "default": "a b"}))
    assert tool.stands_for({}) == Meant("bash", {"command": "echo 'a b'"})
    assert tool.stands_for({"x": "c"}) == Meant("bash", {"command": "echo c"})


def test_places_are_found_wherever_there_is_text() -> None:
    tool = read(implementation=over("ask_user", {"question": "Is {x} right?", "options": ["{x}", "no {x}"]}))
    assert tool.stands_for({"x": "it"}) == Meant(
        "ask_user", {"question": "Is it right?", "options": ["it", "no it"]}
    )


def test_undeclared_inputs_are_refused_by_default() -> None:
    assert read().definition.input_schema["additionalProperties"] is False
