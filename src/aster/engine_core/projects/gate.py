"""The end of a turn that works on an item of a project: whether its answer counts, or a person is asked first.

A line of the answer that begins with `HUMAN_GATE:` asks; so does a result that contradicts an earlier one. The
question is one like any other: it is in the inbox, the turn is parked meanwhile, and goes on with the answer. What a
turn may use of its project's budgets is looked at before every step.
"""

import re
from typing import Final

from aster.brain.projects import LogRecord
from aster.brain.work import Actor
from aster.contracts.blocks import TextBlock, text_of
from aster.contracts.events import HitlRequest, TransitionReason, TurnTransition
from aster.contracts.llm import StopReason
from aster.contracts.projects import BOARDS, AdvanceOf
from aster.contracts.turn import Question, TurnState
from aster.engine_core.services import Services
from aster.engine_core.signals import Ended, Suspended
from aster.engine_core.telling import told
from aster.engine_core.turn import Turn
from aster.infra.clock import now_iso
from aster.infra.ids import derived_id
from aster.work.projects import contradictions
from aster.work.projects.advancing import SPENT

GATE: Final = "HUMAN_GATE:"
MOST_GATES: Final = 5
"""Questions of one turn; what would ask once more is left to a person."""
EARLIER: Final = 100
"""Results that a new one is held against."""
QUESTION_CHARS: Final = 2000
MESSAGE: Final = "msg-gate-"
ENDS: Final = frozenset((StopReason.END_TURN, StopReason.STOP_SEQUENCE))
_GATE: Final = re.compile(rf"^{GATE}[ \t]*(.*)\Z", re.MULTILINE | re.DOTALL)
_UNSAID: Final = "A person has to decide how to go on."
_HOLDS: Final = ("the new one", "the earlier one")


async def may_end(turn: Turn, services: Services, stop_reason: str) -> bool:
    """Whether a turn that is about to end may, as far as its project is concerned; raises `Suspended` when a person has
    to be asked first."""
    state = turn.state
    advance = state.request.advance
    if advance is None or stop_reason not in ENDS:
        return True
    if any(gate.answer is None for gate in state.gates):
        raise Suspended
    if (heard := _unheard(state)) is not None:
        _go_on(turn, heard)
        return False
    if len(state.gates) >= MOST_GATES:
        return True
    answer = answer_of(state)
    if (question := asks(answer)) is not None:
        _ask(turn, services, advance, question, "human_gate")
    if not any(gate.kind == "contradiction" for gate in state.gates):
        against = await _against(turn, services, advance, answer)
        if against is not None:
            _ask(turn, services, advance, _which(against), "contradiction", _HOLDS)
    return True


def afford(turn: Turn) -> None:
    """End a turn that has used all that its project may."""
    advance, state = turn.state.request.advance, turn.state
    if advance is None:
        return
    calls = advance.tool_calls is not None and len(state.runs) >= advance.tool_calls and state.model_calls > 0
    if (calls and state.runs) or (advance.usd is not None and state.cost_usd >= advance.usd):
        raise Ended(SPENT)


def asks(answer: str) -> str | None:
    """What an answer asks a person for, if it does."""
    found = _GATE.search(answer)
    return None if found is None else found[1].strip()[:QUESTION_CHARS] or _UNSAID


def answer_of(state: TurnState) -> str:
    """The turn's last words."""
    said = next((message for message in reversed(state.messages) if message.role == "assistant"), None)
    blocks = () if said is None else tuple(block for block in said.content if isinstance(block, TextBlock))
    return text_of(blocks).strip()


async def _against(
    turn: Turn, services: Services, advance: AdvanceOf, answer: str
) -> contradictions.Contradiction | None:
    earlier = await services.brain.projects.results(turn.key.user_id, advance.project_id, EARLIER)
    return contradictions.found(
        answer, ((one.name, one.content) for one in earlier if one.item_id != advance.item_id)
    )


def _which(against: contradictions.Contradiction) -> str:
    new, earlier = f"“{against.sentence}”", f"“{against.earlier}”"
    return f"This result says: {new} An earlier one ({against.name}) says: {earlier} Which holds?"


def _ask(
    turn: Turn,
    services: Services,
    advance: AdvanceOf,
    question: str,
    reason: str,
    options: tuple[str, ...] = (),
) -> None:
    request_id = derived_id("hitl", turn.turn_id, str(len(turn.state.gates)))
    request = HitlRequest(
        request_id=request_id,
        kind="question",
        question=question,
        options=options,
        reason=reason,
        input={"project_id": advance.project_id, "item_id": advance.item_id},
        created_at=now_iso(),
    )
    board = f"{BOARDS}{advance.project_id}"
    noted = LogRecord(
        actor=Actor(user_id=turn.key.user_id, name=board, task_id=turn.key.task_id, turn_id=turn.turn_id),
        project_id=advance.project_id,
        record_id=derived_id("record", request_id),
        kind="needs_user",
        message=question,
    )
    turn.write(request, deed=services.brain.projects.deed(noted))
    services.raven.hitl_opened("question")
    raise Suspended


def _unheard(state: TurnState) -> Question | None:
    """A question whose answer the model has not been told."""
    known = {message.id for message in state.messages}
    return next((gate for gate in state.gates if f"{MESSAGE}{gate.request_id}" not in known), None)


def _go_on(turn: Turn, gate: Question) -> None:
    assert gate.answer is not None
    said = f"{gate.answer.text}\n\n{gate.answer.feedback}" if gate.answer.feedback else gate.answer.text
    text = (
        f"The person was asked and answered: {said}\nGo on from that, and end with the result, complete in itself as if"
        " nothing had been asked."
    )
    turn.write(
        TurnTransition(
            reason=TransitionReason.HUMAN_GATE,
            step=turn.state.step + 1,
            attempt=len(turn.state.gates),
            limit=MOST_GATES,
        ),
        told(text, f"{MESSAGE}{gate.request_id}"),
    )
