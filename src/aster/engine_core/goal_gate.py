"""The goal of a task at the end of a turn: whether the turn may end, or goes on because the goal is not met.

An evaluator of its own says so, beside the turn and paid by it. A turn never fails by its goal: whatever keeps it from
being judged lets the turn end, and the goal stays for the next one. How often a turn was sent on is on its thread, so a
restart neither forgets nor repeats it.
"""

import asyncio
import logging
from typing import Final, Literal, TypeAlias

from aster.brain.goals import Goal
from aster.contracts.blocks import text_of
from aster.contracts.errors import EngineError
from aster.contracts.events import GoalStatus, TransitionReason, TurnTransition
from aster.contracts.llm import StopReason
from aster.contracts.model import writable
from aster.engine_core.agents.reach import most_steps
from aster.engine_core.aside import aside
from aster.engine_core.assemble import boundary_of
from aster.engine_core.boundary import WORD
from aster.engine_core.services import Services
from aster.engine_core.telling import told
from aster.engine_core.turn import Turn
from aster.work.goals import evaluator
from aster.work.goals.evaluator import Judgement
from aster.work.goals.transcript import parts

log = logging.getLogger("aster.goals")

MOST_BLOCKS: Final = 8
MOST_SECONDS: Final = 120.0
_ENDS: Final = frozenset((StopReason.END_TURN, StopReason.STOP_SEQUENCE))
_UNREADABLE: Final = "The evaluator gave no judgement that can be read."
Outcome: TypeAlias = Literal["achieved", "failed", "blocked", "limit", "error", "deferred"]
_BEHIND: Final = "Work in the background has not ended."


async def may_end(turn: Turn, services: Services, stop_reason: str) -> bool:
    """Whether a turn that is about to end may, as far as its task's goal is concerned."""
    request = turn.state.request
    if stop_reason not in _ENDS or request.parent is not None or request.isolated:
        return True
    goal = await turn.brain.goals.of(turn.key)
    if goal is None or goal.status != "active":
        return True
    if await _works_behind(turn):
        turn.write(_status(goal, "deferred", _BEHIND, _blocks(turn)))
        return True
    try:
        found = await _judged(turn, services, goal)
    except (EngineError, TimeoutError) as error:
        reason = error.message if isinstance(error, EngineError) else "The evaluator did not answer in time."
        log.info("the goal of the task %s was not judged: %s", turn.key.task_id, reason)
        turn.write(_status(goal, "error", reason, _blocks(turn)))
        return True
    kept = await turn.brain.goals.of(turn.key)
    if kept is None or kept.goal_id != goal.goal_id:  # a person has cleared or replaced it meanwhile
        return await may_end(turn, services, stop_reason)
    return _settled(turn, services, goal, found)


def _settled(turn: Turn, services: Services, goal: Goal, found: Judgement | None) -> bool:
    state, blocks = turn.state, _blocks(turn)
    if found is None:
        turn.write(_status(goal, "error", _UNREADABLE, blocks))
        return True
    if found.ok or found.impossible:
        turn.write(_status(goal, "achieved" if found.ok else "failed", found.reason, blocks))
        return True
    if blocks >= MOST_BLOCKS or state.model_calls >= most_steps(state, services.settings):
        turn.write(_status(goal, "limit", found.reason, blocks))
        return True
    turn.write(
        _status(goal, "blocked", found.reason, blocks + 1),
        TurnTransition(
            reason=TransitionReason.GOAL_CONTINUATION,
            step=state.step + 1,
            attempt=blocks + 1,
            limit=MOST_BLOCKS,
            message=found.reason,
        ),
        told(_go_on(turn, goal, found.reason)),
    )
    return False


def _go_on(turn: Turn, goal: Goal, reason: str) -> str:
    """The goal is the person's; the reason is a model's that has read anything, so it is data."""
    return (
        f"The person has set a goal for this task, and it is not met yet: “{goal.goal}”. What somebody who looked at"
        f" the work says is missing:\n{boundary_of(turn).quote(reason)}\nGo on until the goal is met, and show it."
    )


async def _judged(turn: Turn, services: Services, goal: Goal) -> Judgement | None:
    transcript = parts(turn.seen)
    asked = evaluator.request(
        goal.goal, transcript, boundary_of(turn).quote, WORD, *evaluator.seat(services.settings)
    )
    async with asyncio.timeout(MOST_SECONDS):
        response = await aside(turn, services, asked, "goal")
    found = evaluator.read(text_of(response.blocks), transcript)
    return None if found is None else found._replace(reason=writable(found.reason))


async def _works_behind(turn: Turn) -> bool:
    """Whether a command or an agent of the task still works in the background."""
    await turn.flush()
    children = await turn.brain.subagents_of(turn.key)
    if any(child.background and child.ended_at is None for child in children):
        return True
    commands = await turn.brain.background_of(turn.key.user_id)
    return any(one.task_id == turn.key.task_id and one.ended_at is None for one in commands)


def _blocks(turn: Turn) -> int:
    """How often this turn was sent on for its goal."""
    return turn.state.transitions.get(TransitionReason.GOAL_CONTINUATION, 0)


def _status(goal: Goal, status: Outcome, reason: str, blocks: int) -> GoalStatus:
    return GoalStatus(goal=goal.goal, goal_id=goal.goal_id, status=status, reason=reason, blocks=blocks)
