"""What a long message asks of memory, put into separate questions by the worker model, when there is one.

It is a help, never a need: it is given two seconds, and whatever goes wrong, the message is searched as it was said.
"""

import asyncio
import logging
from typing import Final

import msgspec

from aster.contracts.blocks import TextBlock, text_of
from aster.contracts.errors import EngineError
from aster.contracts.llm import ModelRequest
from aster.contracts.messages import Message
from aster.engine_core.aside import aside
from aster.engine_core.boundary import SHORT_RULE, Boundary
from aster.engine_core.services import Services
from aster.engine_core.turn import Turn
from aster.herald.failure import HeraldError

log = logging.getLogger("aster.remembering")

SECONDS: Final = 2.0
LONG_WORDS: Final = 20
"""A shorter message is one question."""
READ_CHARS: Final = 4000
MOST: Final = 3
LONGEST: Final = 300
TASK: Final = (
    "You prepare a search in somebody's memory. Read the message and write down what would have to be known about the"
    " person, other people, places, dates and earlier decisions to deal with it: at most three short questions, each"
    f" complete in itself. Answer with a JSON array of strings and nothing else. {SHORT_RULE}"
)


async def questions(turn: Turn, services: Services, text: str) -> tuple[str, ...]:
    """The questions in a long message; none when it is short, or when nobody can tell them in time."""
    if not services.settings.llm_pool_worker or len(text.split()) < LONG_WORDS:
        return ()
    said = Message(role="user", content=(TextBlock(text=Boundary.of(turn.turn_id).quote(text[:READ_CHARS])),))
    request = ModelRequest(model="", system=TASK, messages=(said,), max_tokens=300, role="worker")
    try:
        async with asyncio.timeout(SECONDS):
            response = await aside(turn, services, request, "recall")
        return told(text_of(response.blocks))
    except (EngineError, HeraldError, TimeoutError) as error:
        log.info("a message was searched for as it was said: %r", error)
        return ()


def told(answer: str) -> tuple[str, ...]:
    """The questions in an answer; none when it is anything else than a list of them."""
    begin, end = answer.find("["), answer.rfind("]")
    try:
        found = msgspec.json.decode(answer[begin : end + 1].encode("utf-8", "replace"), type=list[str])
    except msgspec.DecodeError:
        return ()
    asked = (" ".join(one.split())[:LONGEST] for one in found)
    return tuple(dict.fromkeys(one for one in asked if one))[:MOST]
