"""A model that does what the suites of clients want of any model: call the tool that is named, fill a schema, talk.

It decides by what it is sent over the wire and by nothing else, so what a client asks for has to arrive.
"""

import json
import re
from typing import Any

from aster.testing import Answer, RecordedCall, Reply, Text, ToolCall
from aster.testing.script import Part

TALK = "Hello, this is a plain answer with several words in it."
_OURS = "bash"


def obliging(call: RecordedCall) -> Answer:
    """The answer to any call."""
    conversation, body = call.conversation, call.body
    form = body.get("response_format") or {}
    if form.get("type") == "json_schema":
        return _reply(Text(json.dumps(example(form["json_schema"]["schema"], conversation.text))))
    if "one JSON object" in conversation.system:
        keys = re.findall(r"'(\w+)'", conversation.text) or ["answer"]
        return _reply(Text(json.dumps(dict.fromkeys(keys, "words"))))
    wanted = _wanted(body, conversation.text) if not conversation.results else []
    if wanted:
        parts = [ToolCall(tool["name"], example(tool["parameters"], text)) for tool, text in wanted]
        return _reply(*parts)
    if conversation.results:
        return _reply(Text(f"The tool says: {conversation.results[-1].text.strip()[-400:]}"))
    stop = (body.get("stop") or [None])[0]
    return _reply(Text(TALK.split(stop)[0] if stop else TALK))


def _reply(*parts: Part) -> Reply:
    return Reply(list(parts))


def _wanted(body: dict[str, Any], text: str) -> list[tuple[dict[str, Any], str]]:
    """The tools to call, each with the words that say with what."""
    tools = [tool["function"] for tool in body.get("tools", ())]
    choice = body.get("tool_choice")
    if choice == "none" or any(tool["name"] == _OURS for tool in tools):
        return []
    if isinstance(choice, dict):
        return [(tool, text) for tool in tools if tool["name"] == choice["function"]["name"]]
    named = [(tool, said) for tool in tools for said in _mentions(tool["name"], text)]
    if named or choice != "required":
        return named
    return [(tools[0], text)]


def _mentions(name: str, text: str) -> list[str]:
    """What is said after each mention of a tool."""
    words = name.removeprefix("get_").replace("_", "[ _]")
    return [text[found.end() : found.end() + 80] for found in re.finditer(rf"\b{words}\b", text, re.IGNORECASE)]


def example(schema: dict[str, Any], text: str) -> Any:
    """A value that fits a schema, with the numbers and cities of the text where they are asked for."""
    definitions = schema.get("$defs", {})
    if "$ref" in schema:
        return example({**definitions[schema["$ref"].rsplit("/", 1)[-1]], "$defs": definitions}, text)
    for several in ("anyOf", "oneOf", "allOf"):
        if several in schema:
            return example({**schema[several][0], "$defs": definitions}, text)
    if "const" in schema or "enum" in schema:
        return schema.get("const", (schema.get("enum") or [None])[0])
    match schema.get("type", "object" if "properties" in schema else "string"):
        case "object":
            fields = schema.get("properties", {})
            return {name: example({**field, "$defs": definitions}, text) for name, field in fields.items()}
        case "array":
            return [example({**schema.get("items", {}), "$defs": definitions}, text)]
        case "integer" | "number":
            found = re.search(r"\d+", text)
            return int(found[0]) if found else 1
        case "boolean":
            return True
        case "null":
            return None
        case _:
            return text.strip(" .?!'\"(),:;\n")[:40] or "words"
