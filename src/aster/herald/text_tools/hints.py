"""What the model is told about a call that could not be read: why, and what to do instead.

A call that was cut off is a matter of length and is never answered with advice on quoting. After the second
unreadable call in a row the advice changes: not the same again, but another way.
"""

from collections.abc import Sequence

from aster.contracts.blocks import ToolUseBlock
from aster.contracts.messages import Message
from aster.herald.text_tools.items import Reason
from aster.herald.text_tools.prompt import SKELETON

STRIKES = 2

_CUT = (
    "The tool call was cut off before it was complete, and was not run. It was too long: make it shorter, or do "
    "the same in several smaller calls."
)
_NO_TAG = "There was no call inside the <tool_call> tags, and nothing was run. Write it exactly like this:"
_BROKEN = "The tool call could not be read, and was not run. Write it exactly like this:"
_BROKEN_NATIVE = "The tool call stood in the text and could not be read, so it was not run. Call the tool itself."
_MARKUP = "A value that contains such tags goes into <![CDATA[ and ]]>."
_OTHER_WAY = (
    "This is the {count}. call in a row that could not be read. Do not write it the same way again: use a simpler "
    "call with fewer or shorter values, do it step by step, use another tool, or answer in plain text and say what "
    "you could not do."
)


def hint(reason: Reason, strikes: int, native: bool) -> str:
    """The result of an unreadable call; `strikes` counts those before it without a readable one between."""
    if reason == "truncated":
        said = _CUT
    elif native:
        said = _BROKEN_NATIVE
    elif reason == "no_function_tag":
        said = f"{_NO_TAG}\n\n{SKELETON}"
    else:
        said = f"{_BROKEN}\n\n{SKELETON}\n\n{_MARKUP}"
    if strikes + 1 >= STRIKES:
        said = f"{said}\n\n{_OTHER_WAY.format(count=strikes + 1)}"
    return said


def strikes_in(messages: Sequence[Message]) -> int:
    """How many calls at the end of a conversation could not be read, with no readable one after them."""
    count = 0
    for message in reversed(messages):
        if message.role != "assistant":
            continue
        calls = [block for block in message.content if isinstance(block, ToolUseBlock)]
        if not calls or any(call.hint is None for call in calls):
            break
        count += len(calls)
    return count
