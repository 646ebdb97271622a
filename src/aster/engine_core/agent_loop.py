"""The loop: assemble, ask, act, settle, until the model ends, a person is needed, or a limit is reached.

It holds no state of its own: everything it decides by is in the turn's state, so it can be left at any point and
entered again at the same one.
"""

from aster.brain.work import Use
from aster.contracts.blocks import MediaBlock, TextBlock
from aster.contracts.errors import EngineError
from aster.contracts.events import TransitionReason, TurnTransition, UserMessage
from aster.contracts.llm import StopReason
from aster.contracts.model import decode
from aster.engine_core import direct_call, drawers, goal_gate, grounding, media, remembering
from aster.engine_core.act import act
from aster.engine_core.agents import introducing, isolation
from aster.engine_core.ask import ask
from aster.engine_core.assemble import assemble
from aster.engine_core.budget_gate import reserved
from aster.engine_core.channel_state import checkpoint
from aster.engine_core.compaction.orchestrator import fitted
from aster.engine_core.context import beginning, nearby
from aster.engine_core.context.clock import stamp
from aster.engine_core.context.counting import sharpened
from aster.engine_core.hooks import points
from aster.engine_core.orders import Order
from aster.engine_core.planning import planner
from aster.engine_core.projects import briefing, gate
from aster.engine_core.recovery import truncated
from aster.engine_core.replaying import answering
from aster.engine_core.runtime import notices
from aster.engine_core.services import Services
from aster.engine_core.settle import failed, repeating, settle
from aster.engine_core.signals import Ended, Repeating, Yielded
from aster.engine_core.teams import mail, seating
from aster.engine_core.turn import Turn
from aster.engine_core.verifying import corrections, verifier
from aster.engine_core.verifying.record import restored
from aster.herald.failure import HeraldError
from aster.utility_directory.places import BOARD, PROJECTS


async def run(turn: Turn, services: Services) -> str:
    """Run a turn to its end and return the stop reason; raises `Suspended` when a person is needed."""
    if turn.state.request.method:
        return await direct_call.run(turn, services)
    try:
        await begin(turn, services)
        if turn.state.model_calls and not turn.state.settled:
            await conclude(turn, services)
        if restored(turn.state):
            raise Ended(StopReason.END_TURN)
        while True:
            if turn.yielding:
                raise Yielded
            await checkpoint(turn, services)
            await tell(turn, services)
            await step(turn, services)
    except Ended as ended:
        return StopReason.END_TURN if verifier.rescued(turn, services) else ended.stop_reason
    except EngineError:
        if not verifier.rescued(turn, services):
            raise
        return StopReason.END_TURN


async def begin(turn: Turn, services: Services) -> None:
    """What comes before the first step; a replay has from its recording what somebody would have to be asked for."""
    replay, used = turn.state.request.replay, frozenset[Use]()
    if not turn.state.request.isolated:
        await services.connectors.look_up(turn.key.user_id)
        used = await services.uses.of(turn.key.user_id)
        if "work" in used and services.settings.work_tools == "auto":
            turn.places |= {BOARD}
        await grounding.look_around(turn, services)
        if "projects" in used:
            turn.places |= {PROJECTS}
    await seating.begin(turn, services, used)
    drawers.begin(turn, services)
    if replay is None:
        await points.prompt(turn, services)
    else:
        await answering.begin(turn, replay)
    media.announce(turn, services)
    await remembering.begin(turn, services)
    await beginning.begin(turn, services)
    if replay is None:
        await planner.begin(turn, services)
        await corrections.deliver(turn, services)


async def tell(turn: Turn, services: Services) -> None:
    """What has happened since the last step, for the model to know before the next one."""
    said = await steers(turn, services.settings.time_zone)
    if said:
        turn.write(*said)
    if turn.state.request.replay is not None:
        answering.tell(turn)
        return
    await notices.tell(turn, services)
    await mail.tell(turn, services)
    await introducing.tell(turn, services)
    await briefing.tell(turn, services)
    await nearby.tell(turn, services)
    await planner.tend(turn, services)


async def step(turn: Turn, services: Services) -> None:
    """One model call with its tool calls."""
    answering.afford(turn)
    isolation.afford(turn)
    gate.afford(turn)
    try:
        assembled = assemble(turn, services)
        await sharpened(turn, services, assembled)
        fitting = await fitted(turn, services, assembled)
        async with answering.standing_back(turn, services), reserved(turn, services, fitting) as request:
            await ask(turn, services, request)
    except HeraldError as error:
        await failed(turn, services, error)
        return
    except Repeating as cut_off:
        repeating(turn, services, cut_off.passage)
        return
    await conclude(turn, services)


async def conclude(turn: Turn, services: Services) -> None:
    """Run what the last model call asked for and decide what it means."""
    if await truncated(turn, services):
        return
    await act(turn, services)
    try:
        await settle(turn, services)
    except Ended as ended:
        said = await steers(turn, services.settings.time_zone)
        if not said:
            if not await verifier.passed(turn, services, ended.stop_reason):
                return
            if await may_end(turn, services, ended.stop_reason):
                raise
            return
        turn.write(TurnTransition(reason=TransitionReason.STEER, step=turn.state.step + 1), *said)


async def may_end(turn: Turn, services: Services, stop_reason: str) -> bool:
    """Whether a turn that is about to end may, as far as hooks and the goal of its task are concerned."""
    if turn.state.request.replay is not None:
        return answering.may_end(turn)
    if not await gate.may_end(turn, services, stop_reason):
        return False
    if not await points.stopping(turn, services, stop_reason):
        return False
    return await goal_gate.may_end(turn, services, stop_reason)


async def steers(turn: Turn, time_zone: str) -> list[UserMessage]:
    """Messages that came in for this turn meanwhile."""
    if turn.state.request.replay is not None:
        return answering.steers(turn)
    if not turn.steered and not turn.arriving:
        return []
    turn.steered = False
    await turn.flush()
    return [
        UserMessage(
            message_id=row.message_id,
            content=content_of(decode(row.body, Order)),
            origin="steer",
            said_at=stamp(row.created_at, time_zone),
        )
        for row in await turn.brain.inbox(turn.key)
        if row.mode == "steer"
    ]


def content_of(order: Order) -> tuple[MediaBlock, ...]:
    """What a person said, as blocks: media first, as providers prefer it."""
    text = (TextBlock(text=order.message),) if order.message else ()
    return (*order.media, *text)
