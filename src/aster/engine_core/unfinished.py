"""A model call that did not come to its end: what is taken back of it, and what it is taken to have cost.

A provider charges for what it has read and written, however the call ended. So each call that had begun to answer
is counted once: with the provider's own numbers as far as it gave them, with an estimate beyond that. A call that
was refused, or of which nothing ever came, is not counted.
"""

from aster.contracts.blocks import ToolUseBlock
from aster.contracts.events import (
    ContentBlockStart,
    ContentBlockStop,
    Recovery,
    SubagentLifecycle,
    TextDelta,
    ThinkingDelta,
    Usage,
    decode_event,
)
from aster.contracts.llm import TokenUsage
from aster.contracts.model import encode
from aster.engine_core.assemble import assemble
from aster.engine_core.services import Services
from aster.engine_core.turn import Turn
from aster.herald.estimate import cut_off_usage
from aster.herald.profiles import cost_usd
from aster.herald.protocols.base import SoFar
from aster.infra.ids import new_id

_PAGE = 1000


def cut_off(
    services: Services, model: str, usage: TokenUsage, *, step: int, why: str, endpoint: str | None = None
) -> Usage:
    """What is written down of a call that was cut off for this reason."""
    return Usage(
        step=step,
        message_id=new_id("msg"),
        model=model,
        stop_reason=why,
        input_tokens=usage.input_total,
        output_tokens=usage.output,
        cache_hit_tokens=usage.cache_read,
        cache_write_tokens=usage.cache_write,
        cost_usd=cost_usd(model, usage, services.budgets.today().name),
        estimated=True,
        endpoint=endpoint,
    )


async def discard_unfinished(turn: Turn, services: Services) -> None:
    """After a crash: what a model call had streamed without finishing is taken back, visibly, and counted."""
    state = turn.state
    left = await _leftover(turn)
    if not left.anything and not state.step_blocks:
        return
    recovery = Recovery(discarded_from_seq=state.boundary_seq + 1, reason="restart", step=state.step + 1)
    if left.counted or not left.begun:
        turn.write(recovery)
        return
    request = assemble(turn, services)
    used = cut_off_usage(request, SoFar(characters=left.characters))
    turn.write(recovery, cut_off(services, request.model, used, step=state.step + 1, why="restart"))


class _Left:
    """What stands on a thread behind the last thing that counts."""

    anything = False
    begun = False
    counted = False
    characters = 0


async def _leftover(turn: Turn) -> _Left:
    left, after = _Left(), turn.state.boundary_seq
    while frames := await turn.brain.frames(turn.key, after, _PAGE, turn.turn_id):
        after = frames[-1].seq
        for frame in frames:
            match decode_event(frame.json):
                case Usage(purpose=purpose):
                    left.counted = left.counted or purpose == "step"
                    continue
                case SubagentLifecycle():
                    continue
                case TextDelta(text=text) | ThinkingDelta(text=text):
                    left.begun, left.characters = True, left.characters + len(text)
                case ContentBlockStop(block=ToolUseBlock(input=given)):
                    left.begun, left.characters = True, left.characters + len(encode(given))
                case ContentBlockStart() | ContentBlockStop():
                    left.begun = True
                case _:
                    pass
            left.anything = True
    return left
