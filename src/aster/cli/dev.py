"""`aster dev`: tools for those who work on Aster itself. Every line in gives one line out, whatever is in it."""

import argparse
import sys
from typing import Any, cast

import msgspec

from aster.cli.exits import Exit
from aster.contracts.model import Contract, encode
from aster.contracts.tools import ToolDef
from aster.herald.text_tools.formats import ANY
from aster.herald.text_tools.reading import read


class Reply(Contract):
    """A model's reply in the pieces it came in, its format if it is known, and the tools that were offered."""

    chunks: tuple[str, ...]
    format: str | None = None
    tools: tuple[dict[str, Any], ...] | None = None


def command(args: argparse.Namespace) -> int:
    """`parse-toolcalls`: read the text tool calls of replies, one JSON object per line."""
    wrong = 0
    for line in sys.stdin:
        if not line.strip():
            continue
        try:
            answer = _parsed(msgspec.json.decode(line, type=Reply))
        except msgspec.DecodeError as error:
            answer = {"error": f"Write one JSON object {{format, chunks, tools}} per line: {error}"}
            wrong += 1
        print(encode(answer).decode(), flush=True)
    return Exit.FAILED if wrong else Exit.OK


def _parsed(reply: Reply) -> dict[str, Any]:
    content, calls = read(reply.format or ANY, reply.chunks, [_tool(tool) for tool in reply.tools or ()])
    return {"content": content, "calls": [{"name": call.name, "arguments": call.arguments} for call in calls]}


def _tool(given: dict[str, Any]) -> ToolDef:
    """A tool as it is, or as the Chat Completions wire wraps it."""
    inner = given.get("function")
    known = cast("dict[str, Any]", inner) if isinstance(inner, dict) else given
    name: Any = known.get("name")
    schema: Any = known.get("parameters") or known.get("input_schema") or {}
    if not isinstance(name, str) or not isinstance(schema, dict):
        raise msgspec.ValidationError("a tool is {name, description, parameters}")
    return ToolDef(
        name=name, description=str(known.get("description") or ""), input_schema=cast("dict[str, Any]", schema)
    )
