"""Native calls into which framing leaked: a string argument that runs on over the end of its parameter.

Some servers close a parameter too late, so that the rest of the call, and calls after it, end up inside a value.
The value is cut there and what it swallowed is recovered, but only if everything behind the cut is framing of
offered tools: a file that merely talks about such tags stays as it is.
"""

import re
from dataclasses import dataclass, field
from typing import Any

import msgspec

from aster.contracts.blocks import ToolUseBlock
from aster.herald.text_tools.dialects.elements import HEAD, name_in
from aster.herald.text_tools.dialects.parameters import Parameters, laid_out
from aster.herald.text_tools.items import Call
from aster.herald.text_tools.toolbox import Toolbox

MOST_TRIES = 8

_END = re.compile(r"\s*</parameter>", re.IGNORECASE)
_FRAME = re.compile(r"\s*(?:</?tool_call>|</function>)\s*", re.IGNORECASE)
_PARAMETER = re.compile(r"\s*<parameter(?:=|\s+name=)[\"']?([^\s\"'<>]{1,200})[\"']?>", re.IGNORECASE)
_FUNCTION_END = re.compile(r"</function>", re.IGNORECASE)


@dataclass(slots=True)
class _Swallowed:
    parameters: dict[str, Any] = field(default_factory=dict[str, Any])
    calls: list[Call] = field(default_factory=list[Call])


def recovered(block: ToolUseBlock, tools: Toolbox) -> tuple[ToolUseBlock, list[Call]]:
    """The call without what leaked into it, and the calls that it had swallowed."""
    for key, value in block.input.items():
        if not isinstance(value, str) or "</parameter>" not in value.lower():
            continue
        for end in list(_END.finditer(value))[:MOST_TRIES]:
            found = _framing(value, end.end(), block.name, tools)
            if found is not None and (found.parameters or found.calls):
                given = {**block.input, key: value[: end.start()], **found.parameters}
                return msgspec.structs.replace(block, input=given), found.calls
    return block, []


def _framing(value: str, pos: int, name: str, tools: Toolbox) -> _Swallowed | None:
    """What stands behind a cut, if it is framing to the end."""
    found = _Swallowed()
    inside = True
    while value[pos:].strip():
        if frame := _FRAME.match(value, pos):
            inside = inside and "function" not in frame.group().lower()
            pos = frame.end()
        elif inside and (parameter := _PARAMETER.match(value, pos)):
            if parameter[1] not in tools.properties(name):
                return None
            end = _END.search(value, parameter.end())
            text = laid_out(value[parameter.end() : end.start() if end else len(value)])
            found.parameters[parameter[1]] = Parameters(tools, name).value(parameter[1], text)
            pos = end.end() if end else len(value)
        else:
            pos = _call(value, pos, tools, found)
            if pos < 0:
                return None
            inside = False
    return found


def _call(value: str, pos: int, tools: Toolbox, found: _Swallowed) -> int:
    head = HEAD.match(value, pos + len(value[pos:]) - len(value[pos:].lstrip()))
    name = tools.resolve(name_in(head)) if head else None
    if head is None or name is None:
        return -1
    end = _FUNCTION_END.search(value, head.end())
    body = value[head.end() : end.start() if end else len(value)]
    found.calls.append(Call(name, Parameters(tools, name).read(body, head["rest"]).given))
    return end.end() if end else len(value)
