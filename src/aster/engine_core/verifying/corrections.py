"""Corrections: an answer that is checked after its turn, and put right at the start of the task's next one.

Nobody waits for the check. What it refutes is a row until it is told; the message that tells it and the mark that it
was told are one commit. A correction that comes too late, or whose answer is not part of the conversation any more,
is not told.
"""

import asyncio
import logging
from typing import Final

import msgspec

from aster.brain.corrections import CorrectionRow, CorrectionToldRow
from aster.brain.records import ThreadKey
from aster.brain.unit import Conflict, Present
from aster.contracts.blocks import text_of
from aster.contracts.errors import EngineError
from aster.contracts.events import Verification
from aster.contracts.llm import ModelRequest
from aster.contracts.model import decode, encode
from aster.engine_core import errands
from aster.engine_core.assemble import boundary_of
from aster.engine_core.redaction import cleaned
from aster.engine_core.services import Services
from aster.engine_core.telling import told
from aster.engine_core.turn import Turn
from aster.engine_core.verifying import consequence, critic
from aster.engine_core.verifying.evidence import Case
from aster.engine_core.verifying.finding import believed
from aster.engine_core.verifying.objections import upheld
from aster.engine_core.verifying.verifier import case_of, worth_asking
from aster.engine_core.verifying.waiting import MOST_OF_ONE
from aster.infra.ids import new_id
from aster.infra.logging import bind

log = logging.getLogger("aster.corrections")

TTL_SECONDS: Final = 900


def consider(turn: Turn, services: Services) -> None:
    """A turn has been completed: have its answer checked behind it, if that is how it is done here."""
    settings, waiting, state = services.settings, services.corrections, turn.state
    if (
        settings.verifier == "off"
        or settings.verifier_mode != "after"
        or not state.runs
        or state.judged is not None
    ):
        return
    seat = critic.seat(settings)
    if seat is None or waiting.closed or waiting.full(turn.key):
        return
    case = case_of(turn, services)
    if case is None or not worth_asking(case):
        return
    about = _About(turn_id=turn.turn_id, message_id=state.messages[-1].id or "", step=state.step)
    checking = _check(services, turn.key, case, critic.request(case, *seat, boundary_of(turn)), about)
    task = asyncio.create_task(checking, name=f"verify {turn.key.task_id}")
    waiting.add(turn.key, task)


async def deliver(turn: Turn, services: Services) -> None:
    """Tell the person and the model what was wrong with earlier answers, before the first step of a turn."""
    due = services.corrections.due
    seen = due.get(turn.key)
    if seen is None or turn.state.model_calls:
        return
    await turn.flush()
    found = await turn.brain.corrections(turn.key, services.now())
    said = {message.id for message in turn.history if message.role == "assistant"}
    untold = [record for record in found if record.message_id in said][-MOST_OF_ONE:]
    if untold:
        events = [decode(record.event, Verification) for record in untold]
        boundary = boundary_of(turn)
        text = "\n\n".join(
            consequence.CORRECT.format(found=consequence.objection(boundary, event.claim, event.issues))
            for event in events
        )
        now = services.now()
        turn.write(
            *(msgspec.structs.replace(event, action="correct") for event in events),
            told(text),
            rows=[CorrectionToldRow(correction_id=record.correction_id, told_at=now) for record in untold],
        )
    elif not found and due.get(turn.key) == seen:
        del due[turn.key]


async def recover(services: Services) -> None:
    """At boot: corrections that were found before it and not told."""
    services.corrections.due.update(await services.brain.correction_threads(services.now()))


class _About(msgspec.Struct, frozen=True):
    """The answer that is checked."""

    turn_id: str
    message_id: str
    step: int


async def _check(services: Services, key: ThreadKey, case: Case, request: ModelRequest, about: _About) -> None:
    with bind(user_id=key.user_id, task_id=key.task_id):
        try:
            response = await errands.run(services, key, request, "verify")
            opinion = critic.read(text_of(response.blocks))
            if opinion is None:
                return
            finding = believed(upheld(opinion, case))
            event = consequence.event(case, finding, "later" if finding.refuted else "none", about.step)
            event = cleaned(services.secrets, msgspec.structs.replace(event, about_turn_id=about.turn_id))
            rows = [_row(about, event, services.now())] if finding.refuted else []
            await services.brain.append(key, None, [event], rows=rows, guard=Present())
            if rows:
                services.corrections.due[key] += 1
        except Conflict:
            log.debug("the task was deleted meanwhile")
        except EngineError as error:
            log.info("an answer stays unverified: %s", error.message)
        except Exception:  # the boundary of work nobody waits for
            log.exception("verifying an answer after its turn failed unexpectedly")


def _row(about: _About, event: object, now: int) -> CorrectionRow:
    return CorrectionRow(
        correction_id=new_id("corr"),
        turn_id=about.turn_id,
        message_id=about.message_id,
        event=encode(event),
        created_at=now,
        expires_at=now + TTL_SECONDS * 1000,
    )
