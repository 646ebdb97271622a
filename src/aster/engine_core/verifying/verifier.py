"""The verifier in the turn: an answer that is about to end it is held against what the tools have said.

The free checks come first, then a model where there is one for it. A refuted answer is repaired once and noted after
that. The verifier never fails a turn, and never asks for money: what it cannot do is left undone.
"""

import asyncio
import logging
from typing import Final

from aster.contracts.blocks import text_of
from aster.contracts.errors import EngineError
from aster.contracts.llm import StopReason
from aster.contracts.messages import Message
from aster.contracts.turn import TurnState
from aster.engine_core import errands
from aster.engine_core.agents.reach import most_steps
from aster.engine_core.aside import aside
from aster.engine_core.assemble import assemble, boundary_of
from aster.engine_core.budget_gate import turn_spent
from aster.engine_core.history import spoken
from aster.engine_core.replaying import answering
from aster.engine_core.services import Services
from aster.engine_core.turn import Turn
from aster.engine_core.verifying import consequence, critic
from aster.engine_core.verifying.checks import disputes
from aster.engine_core.verifying.evidence import Case, bookkeeping, exhibits
from aster.engine_core.verifying.finding import Finding, believed, proven
from aster.engine_core.verifying.objections import upheld
from aster.engine_core.verifying.record import owed, repairing

log = logging.getLogger("aster.verifier")

MOST_SECONDS: Final = 60.0
LEAST_WORDS: Final = 5
"""A shorter answer without a number claims nothing a model would have to check."""
HEAVY: Final = 50_000
MANY: Final = 100
"""Characters of evidence, or messages, from which on the checks leave the loop to others while they run."""
_ENDS: Final = frozenset((StopReason.END_TURN, StopReason.STOP_SEQUENCE))


async def passed(turn: Turn, services: Services, stop_reason: str) -> bool:
    """Whether the turn may end with its answer; if not, it goes round again to repair it."""
    state = turn.state
    if services.settings.verifier == "off" or stop_reason not in _ENDS or not state.runs or state.request.isolated:
        return True
    if state.judged is not None and state.judged.step == state.step:
        return True
    try:
        return await _judged(turn, services)
    except Exception as error:  # noqa: BLE001 - the boundary to judgement: a turn never fails by it
        log.warning("an answer could not be verified: %r", error)
        services.raven.note("verifier_failed", "warning", "an answer was not verified", error=repr(error)[:500])
        return True


def rescued(turn: Turn, services: Services) -> bool:
    """A turn is about to end without an answer. One whose answer was only to be repaired ends with that, and a note."""
    state, judged, draft = turn.state, turn.state.judged, owed(turn.state)
    if judged is None or not draft or state.unresolved:
        return False
    services.raven.note("repair_failed", "warning", "an answer that does not hold could not be written again")
    consequence.restore(turn, judged, draft)
    return True


def case_of(turn: Turn, services: Services) -> Case | None:
    """The newest answer of a turn and what it can be held against; None when there is nothing to compare."""
    state = turn.state
    if all(bookkeeping(run.tool) for run in state.runs) or state.messages[-1].role != "assistant":
        return None
    answer, found = text_of(state.messages[-1].content), exhibits(state)
    if not answer.strip() or not found:
        return None
    question = next((text_of(message.content) for message in state.messages if spoken(message)), "")
    instructions = "\n".join((services.settings.system_prompt, turn.soul, *(layer.text for layer in turn.layers)))
    return Case(answer, found, question, (*turn.history, *_told(state)), instructions)


def worth_asking(case: Case) -> bool:
    """Whether an answer claims something that a tool has said something about."""
    claims = len(case.answer.split()) >= LEAST_WORDS or any(map(str.isdigit, case.answer))
    return claims and any(exhibit.run.error is None and exhibit.text for exhibit in case.newest)


async def _judged(turn: Turn, services: Services) -> bool:
    case = case_of(turn, services)
    if case is None:
        return True
    heavy = sum(len(exhibit.text) for exhibit in case.exhibits) > HEAVY or len(turn.history) > MANY
    issues = await asyncio.to_thread(disputes, case) if heavy else disputes(case)
    finding = proven(issues) if issues else await _asked(turn, services, case)
    if finding is None:
        return True
    if not finding.refuted:
        turn.write(consequence.event(case, finding, "none", turn.state.step))
        return True
    services.raven.note("answer_refuted", "warning", "; ".join(finding.issues)[:500], source=finding.source)
    if await _repairable(turn, services):
        await consequence.repair(turn, case, finding, boundary_of(turn))
        return False
    consequence.note(turn, case, finding)
    return True


async def _asked(turn: Turn, services: Services, case: Case) -> Finding | None:
    """What a critic finds while the turn waits; None when nobody is asked or nothing is said."""
    if turn.state.request.replay is not None and (said := answering.judged(turn, case.answer)) is not None:
        return Finding(said.verdict, said.confidence, said.issues, said.source)
    seat = critic.seat(services.settings)
    if seat is None or services.settings.verifier_mode == "after" or not worth_asking(case):
        return None
    try:
        async with asyncio.timeout(MOST_SECONDS):
            response = await aside(turn, services, critic.request(case, *seat, boundary_of(turn)), "verify")
    except (EngineError, TimeoutError) as error:
        log.info("an answer goes out unverified: %s", error)
        return None
    opinion = critic.read(text_of(response.blocks))
    return None if opinion is None else believed(upheld(opinion, case))


async def _repairable(turn: Turn, services: Services) -> bool:
    """Whether the answer may be written again: not twice, not beyond the turn's limit, not on credit."""
    state = turn.state
    if repairing(state) or state.model_calls >= most_steps(state, services.settings):
        return False
    if not services.budgets.lines(turn.home):
        return True
    await turn.flush()
    return await errands.affordable(services, turn.home, assemble(turn, services), await turn_spent(turn))


def _told(state: TurnState) -> list[Message]:
    """What the model was told in this turn: not the words of the answer itself, nor the engine's quotation of them."""
    repair = state.judged.message_id if state.judged is not None else None
    return [message for message in state.messages[:-1] if repair is None or message.id != repair]
