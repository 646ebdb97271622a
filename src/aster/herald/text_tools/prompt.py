"""The prompt section that offers tools to a model without native ones, and calls and results in the same dialect.

The section depends on the tools alone, byte for byte, so a provider's prompt cache holds. What is rendered here is
read back by the parser to exactly the same call.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from aster.contracts.blocks import TextBlock, ToolResultBlock, ToolUseBlock
from aster.contracts.tools import ToolDef

SKELETON = """\
<tool_call>
<function name="TOOL">
<parameter name="PARAMETER">
value
</parameter>
</function>
</tool_call>"""

_RULES = f"""\
# Tools

You can call tools. To call one, write exactly this, with the tool's name and its parameters:

{SKELETON}

- Write a value as it is: text without quotes and without escapes, line breaks as line breaks. Numbers, true, false,
  null, lists and objects are written as JSON.
- A text that itself contains such tags goes into <![CDATA[ and ]]>.
- Several calls may follow each other. After the last one, stop: the results come in the next message, in
  <tool_response> tags. Never write a <tool_response> yourself.
- Call only the tools listed here. When no tool is needed, just answer.

The tools, one per line, each with the JSON schema of its parameters:
"""


def section(tools: Sequence[ToolDef]) -> str:
    """The part of the system prompt that offers these tools."""
    lines = (
        msgspec.json.encode(
            {"name": tool.name, "description": tool.description, "parameters": tool.input_schema}
        ).decode()
        for tool in tools
    )
    return _RULES + "\n" + "\n".join(lines)


def render_call(block: ToolUseBlock) -> str:
    """A call as the model should have written it."""
    return rendered(block.name, block.input)


def rendered(name: str, arguments: Mapping[str, Any]) -> str:
    """A call of this name; in JSON if it cannot be written as elements without loss."""
    if '"' in name or any('"' in key or "<" in key or ">" in key or not key for key in arguments):
        return _json_call(name, arguments)
    parameters: list[str] = []
    for key, value in arguments.items():
        text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
        if "<" in text or text.startswith("\n") or text.endswith("\n") or "\r" in text:
            if "]]>" in text:
                return _json_call(name, arguments)
            text = f"<![CDATA[{text}]]>"
        parameters.append(f'<parameter name="{key}">\n{text}\n</parameter>\n')
    return f'<tool_call>\n<function name="{name}">\n{"".join(parameters)}</function>\n</tool_call>'


def render_result(block: ToolResultBlock, name: str) -> str:
    """The text of a tool's result; pictures and documents follow it as blocks of their own."""
    text = "\n".join(part.text for part in block.content if isinstance(part, TextBlock))
    failed = ' failed="true"' if block.is_error else ""
    return f'<tool_response name="{name}"{failed}>\n{text}\n</tool_response>'


def _json_call(name: str, arguments: Mapping[str, Any]) -> str:
    call = msgspec.json.encode({"name": name, "arguments": dict(arguments)}).decode()
    return f"<tool_call>\n{call}\n</tool_call>"
