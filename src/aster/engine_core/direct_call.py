"""A call that a client makes itself, without a model: a turn that is this one call and nothing else.

It goes the way of every call (permissions, hooks, secrets, the thread), waits for a person like every call, and is
taken up after a crash like every call. Only what belongs to a conversation is left out: nothing is remembered, planned
or asked of a model.
"""

from collections.abc import Iterator
from typing import Final

from aster.contracts.blocks import ToolUseBlock
from aster.contracts.events import ContentBlockStop, Event, Usage
from aster.contracts.tools import ToolCall
from aster.engine_core.act import act
from aster.engine_core.services import Services
from aster.engine_core.turn import Turn
from aster.infra.ids import new_id

CALLED: Final = "called"
"""Why such a turn ends."""


def records(call: ToolCall | None) -> Iterator[Event]:
    """The step that makes a call, as a model's would stand on the thread."""
    if call is None:
        return
    block = ToolUseBlock(id=call.id, name=call.name, input=call.input)
    yield ContentBlockStop(block_index=0, block_type="tool_use", step=1, block=block)
    yield Usage(
        step=1,
        message_id=new_id("msg"),
        model="",
        stop_reason="tool_use",
        input_tokens=0,
        output_tokens=0,
        purpose="import",
    )


async def run(turn: Turn, services: Services) -> str:
    """Run the call to its result; raises `Suspended` when a person is needed first."""
    await services.connectors.look_up(turn.key.user_id)
    await act(turn, services)
    return CALLED
