"""A segment: a turn from where its thread stands to its next suspension or its end.

Starting fresh, resuming after an answer and taking over after a crash are the same thing here: fold, say what no
longer counts, run the loop, close.
"""

import asyncio
import logging
import time

from aster.brain.records import ThreadKey
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.events import Phase
from aster.contracts.turn import TurnState
from aster.engine_core import agent_loop, channel_state, stripped_media
from aster.engine_core.closing import fail, finish, suspend
from aster.engine_core.history import Place
from aster.engine_core.services import Services
from aster.engine_core.signals import Lost, Suspended, Yielded
from aster.engine_core.turn import Turn
from aster.infra.logging import bind

log = logging.getLogger("aster.segments")


async def load(services: Services, key: ThreadKey, turn_id: str) -> Turn:
    """A turn as its thread has it, ready to go on."""
    brain = services.brain
    state = await channel_state.load(brain, key, turn_id)
    if state.compaction_id is None:
        history = await services.history.load(key, Place(state.follows_turn_id, state.follows_messages))
    else:
        history = await services.history.view(key.user_id, state.compaction_id)
    return Turn(
        key=key,
        brain=brain,
        state=state,
        history=stripped_media.cleared(state, history),
        secrets=services.secrets,
        started=time.perf_counter(),
    )


async def run(turn: Turn, services: Services) -> bool:
    """Run a segment; says whether the turn is over. That it was cancelled, or is somebody else's, goes through."""
    with (
        bind(task_id=turn.key.task_id, turn_id=turn.turn_id),
        services.raven.turn_span(turn.key.task_id, turn.turn_id, segment=turn.state.segment) as span,
    ):
        services.raven.turn_started(turn.key.user_id, turn.key.task_id, turn.turn_id, turn.state.segment)
        try:
            if not turn.history and turn.state.follows_turn_id:
                place = Place(turn.state.follows_turn_id, turn.state.follows_messages)
                turn.history = await services.history.load(turn.key, place)
            stop_reason = await agent_loop.run(turn, services)
            await finish(turn, services, Phase.COMPLETED, stop_reason)
        except Suspended:
            await suspend(turn, services)
            return False
        except Yielded:
            await turn.flush()
            return False
        except EngineError as error:
            span.set(error=error.code)
            if await out_of_reach(services, error):
                raise
            await _fail(turn, services, error)
        except asyncio.CancelledError:
            raise
        except Exception as error:  # the boundary of a turn: whatever happens inside ends it visibly
            log.exception("a turn failed unexpectedly")
            span.set(error=ErrorCode.INTERNAL)
            message = f"The turn failed unexpectedly ({type(error).__name__}); the log has the details."
            await _fail(turn, services, EngineError(ErrorCode.INTERNAL, message))
        finally:
            span.set(seq=turn.state.seq, usage=turn.state.usage)
    return True


async def out_of_reach(services: Services, error: Exception) -> bool:
    """Whether this is because the brain cannot be reached: then it says nothing about the turn, which goes on when the
    brain is back."""
    away = isinstance(error, EngineError) and error.code is ErrorCode.STORAGE_UNAVAILABLE
    return away and not (await services.brain.health()).ok


async def cancel(turn: Turn, services: Services, stop_reason: str) -> None:
    """End a turn that was told to stop, with what it had."""
    try:
        await finish(turn, services, Phase.CANCELLED, stop_reason)
    except Lost:
        log.warning("the cancelled turn had already ended")


async def _fail(turn: Turn, services: Services, error: EngineError) -> None:
    try:
        await fail(turn, services, error)
    except Lost:
        log.warning("the failed turn had already ended")


def fresh(services: Services, key: ThreadKey, state: TurnState) -> Turn:
    """A turn whose first events are being written right now."""
    return Turn(
        key=key,
        brain=services.brain,
        state=state,
        history=[],
        secrets=services.secrets,
        started=time.perf_counter(),
        steered=False,
    )
