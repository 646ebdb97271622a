"""The uncertainty tracker: what the agent does not know is asked before it acts, or told after it has answered.

A weighty unknown that a person can settle holds back the next call that would change something; the answer goes to the
model in the place of that call's result, so that it decides anew. What is left at the end stands beside the answer as
an event of its own: the conversation holds nothing that the model has not said. No model is asked for any of it.
"""

import re
from collections.abc import Iterator
from hashlib import blake2b
from itertools import islice
from typing import Final

from aster.contracts.blocks import TextBlock, ThinkingBlock, text_of
from aster.contracts.events import HitlRequest, Phase, RiskSummary, Uncertainty
from aster.contracts.tools import OutcomeClass, ToolOutcome
from aster.contracts.turn import Answer, Doubt, Question, TurnState
from aster.engine_core.doubts import WEIGHTY, to_ask, weighty
from aster.engine_core.hedges import Hedge, hedges
from aster.engine_core.ledger import HELD
from aster.engine_core.running import Entry
from aster.engine_core.services import Services
from aster.engine_core.turn import Turn
from aster.engine_core.verdict import Ask, Done, Verdict
from aster.infra.clock import now_iso
from aster.infra.ids import new_id
from aster.sandbox.policy import Policy
from aster.utility_directory.flag_uncertainty import USUAL_CONFIDENCE, USUAL_IMPACT, resolved
from aster.utility_directory.tool_runtime import Prepared

ASKED_AT_ONCE: Final = 3
MOST_HEDGES: Final = 5
SHOWN: Final = 3
UNVERIFIED: Final = 0.7
ECHOED: Final = 0.6
BEFORE: Final = "Before I proceed, I need to clarify:"
NOT_YET: Final = (
    "Not run: a person has just answered a question about this work. Call it again if it is still right."
)
NOBODY: Final = (
    "Not run: a person would have to clarify this first, and nobody is there. Find it out and settle it with"
    " flag_uncertainty, or leave this undone and say so:"
)

_WORD: Final = re.compile(r"\w{4,}")


def hold(turn: Turn, services: Services, entry: Entry, policy: Policy) -> Verdict | None:
    """What becomes of a call because of what is not known; None if it may go its usual way."""
    state, prepared = turn.state, entry.prepared
    if not state.doubts or isinstance(prepared, ToolOutcome) or entry.call.issued:
        return None
    asked = next((question for question in reversed(entry.call.questions) if question.about), None)
    if asked is not None:
        return None if asked.answer is None else _heard(turn, asked, asked.answer)
    if services.settings.uncertainty != "ask" or policy.mode == "bypass" or not _changes(prepared):
        return None
    if _answered_in_this_step(state):
        return Done(ToolOutcome.error(NOT_YET, reason=HELD))
    unknown = dict(islice(to_ask(state).items(), ASKED_AT_ONCE))
    if not unknown or services.tools.decide(prepared, entry.context).behavior == "deny":
        return None
    if policy.unattended:
        text = f"{NOBODY}\n{_lines(unknown)}"
        return Done(ToolOutcome.error(text, reason="unattended", failure=OutcomeClass.FATAL))
    return Ask((_question(entry, unknown),))


def close(turn: Turn, services: Services, phase: Phase) -> None:
    """The turn is about to end: note what its words give away, and sum up what of weight is unsettled."""
    state = turn.state
    if phase is not Phase.COMPLETED or services.settings.uncertainty == "off" or state.summarised:
        return
    found = [event for event in islice(_given_away(state), MOST_HEDGES) if event.item_id not in state.doubts]
    if found:
        turn.write(*found)
    text, item_ids = risks(weighty(state))
    if item_ids:
        turn.write(RiskSummary(text=text, item_ids=item_ids))


def risks(doubts: dict[str, Doubt]) -> tuple[str, tuple[str, ...]]:
    """What to tell a person about doubts, and which of them that is about; nothing if there are none."""
    unknown = {id_: doubt for id_, doubt in doubts.items() if doubt.item == "unknown"}
    assumed = {
        id_: doubt
        for id_, doubt in doubts.items()
        if doubt.item == "assumption" and (doubt.confidence is None or doubt.confidence < UNVERIFIED)
    }
    unknown, assumed = dict(islice(unknown.items(), SHOWN)), dict(islice(assumed.items(), SHOWN))
    parts = [f"**Things I'm not certain about:**\n{_lines(unknown)}"] if unknown else []
    parts += [f"**Assumptions I made:**\n{_lines(assumed)}"] if assumed else []
    return "\n\n".join(parts), (*unknown, *assumed)


def _lines(doubts: dict[str, Doubt]) -> str:
    return "\n".join(f"- {doubt.text} ({_weight(doubt)})" for doubt in doubts.values())


def _weight(doubt: Doubt) -> str:
    if doubt.item == "unknown" or doubt.confidence is None:
        return f"impact: {doubt.impact}/5"
    return f"confidence: {doubt.confidence:.0%}"


def _changes(prepared: Prepared) -> bool:
    return not (prepared.asks_human or prepared.tool.own_notes or prepared.effect == "pure")


def _answered_in_this_step(state: TurnState) -> bool:
    """A call beside it was held back, so the model has not seen the answer yet."""
    return any(
        question.about and question.answer is not None
        for call in state.calls.values()
        for question in call.questions
    )


def _question(entry: Entry, unknown: dict[str, Doubt]) -> HitlRequest:
    call = entry.call.call
    return HitlRequest(
        request_id=new_id("hitl"),
        kind="question",
        question=f"{BEFORE}\n" + "\n".join(f"- {doubt.text}" for doubt in unknown.values()),
        tool=call.name,
        tool_call_id=call.id,
        input=call.input,
        reason="uncertainty",
        created_at=now_iso(),
        about=tuple(unknown),
    )


def _heard(turn: Turn, asked: Question, answer: Answer) -> Verdict:
    """A person has answered: that settles what was asked, and the model decides anew."""
    said = f"{answer.text}\n\n{answer.feedback}" if answer.feedback else answer.text
    doubts = {item_id: turn.state.doubts[item_id] for item_id in asked.about if item_id in turn.state.doubts}
    settled = [resolved(item_id, doubt, said) for item_id, doubt in doubts.items() if not doubt.resolved]
    if settled:
        turn.write(*settled)
    wondered = "\n".join(f"- {doubt.text}" for doubt in doubts.values())
    text = (
        f"Not run yet: the person was asked first.\n{wondered}\nThey answered: {said}\n"
        "Decide by that: call it again as it should be now, or do something else."
    )
    outcome = ToolOutcome(
        ok=False,
        output=(TextBlock(text=text), *answer.content),
        failure=OutcomeClass.DIAGNOSTIC,
        reason=HELD,
    )
    return Done(outcome)


def _given_away(state: TurnState) -> Iterator[Uncertainty]:
    """Hedges of the answer, which people have read; then those of the thoughts behind it, which they may not have.
    What was thought and not said weighs more when something was changed."""
    spoken = [message for message in state.messages if message.role == "assistant"]
    if not spoken:
        return
    answer = text_of(spoken[-1].content)
    for hedge in hedges(answer):
        yield _uncertainty(state, hedge, USUAL_IMPACT)
    said = answer.casefold()
    for message in spoken:
        for block in message.content:
            for hedge in hedges(block.text) if isinstance(block, ThinkingBlock) else ():
                settled_later = hedge.item == "unknown" and message is not spoken[-1]
                if not settled_later and not _echoed(hedge.sentence, said):
                    yield _uncertainty(state, hedge, WEIGHTY if state.lasting_effects else USUAL_IMPACT)


def _echoed(sentence: str, said: str) -> bool:
    words = set(_WORD.findall(sentence.casefold()))
    return sum(word in said for word in words) >= ECHOED * len(words)


def _uncertainty(state: TurnState, hedge: Hedge, impact: int) -> Uncertainty:
    """The same sentence of a turn has the same id, however often it is looked for."""
    digest = blake2b(f"{state.turn_id}\0{hedge.sentence}".encode(), digest_size=10).hexdigest()
    unknown = hedge.item == "unknown"
    return Uncertainty(
        item_id=f"unc_{digest}",
        item=hedge.item,
        text=hedge.sentence,
        impact=impact,
        confidence=None if unknown else USUAL_CONFIDENCE,
        resolution="find_out" if unknown else None,
        source="hedge",
    )
