"""A call that cannot go on before a person has logged in to a server: what they are asked, and what goes on after.

The question is answered by the login itself, wherever and whenever it is finished; a person may also refuse, which ends
the call and nothing else. A server that is not content with a login is not logged in to for ever.
"""

from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeAlias

import msgspec

from aster.brain.protocol import Brain
from aster.brain.records import HitlRecord
from aster.contracts.assets import Connection, ConnectionStatus
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.events import HitlRequest
from aster.contracts.tools import OutcomeClass, ToolOutcome
from aster.contracts.turn import CallState, Question
from aster.engine_core.connectors import elicitation
from aster.engine_core.orders import HitlReply
from aster.infra.clock import now_iso
from aster.infra.ids import new_id
from aster.utility_directory.tool import ToolContext

KIND: Final = "login"
DONE: Final = "done"
_DONE: Final = frozenset((DONE, "yes", "y", "ok"))
_NO: Final = frozenset(("no", "n", "decline", "cancel", "deny"))
_MOST: Final = 3
"""So often one call may ask for a login."""

Respond: TypeAlias = Callable[[str, HitlReply], Awaitable[tuple[str, str]]]


def request(error: EngineError, url: str, context: ToolContext, tool: str) -> HitlRequest:
    """The question as people are asked it; where to log in is in it."""
    details: dict[str, Any] = error.details or {}
    server = str(details["server_name"])
    asked = {"server": server, "url": url, **({"scopes": details["scopes"]} if "scopes" in details else {})}
    return HitlRequest(
        request_id=new_id("hitl"),
        kind=KIND,
        question=f"Log in to the server {server!r}, then `{tool}` goes on: {url}",
        tool=tool,
        tool_call_id=context.tool_call_id,
        input=asked,
        options=(DONE, "no"),
        reason=error.message,
        created_at=now_iso(),
    )


def answered(call: CallState) -> Question | None:
    """What the present attempt of a call asked a person for its server, with the answer."""
    return call.asked(elicitation.KIND) or call.asked(KIND)


def approved(text: str) -> bool | None:
    """What an answer means; None if it means nothing."""
    word = text.strip().lower()
    return True if word in _DONE else False if word in _NO else None


def refusal(question: Question | None) -> ToolOutcome | None:
    """What a call comes to whose person does not want to log in."""
    if question is None or question.kind != KIND or question.answer is None or question.answer.approved:
        return None
    words = f" They add: {question.answer.feedback}" if question.answer.feedback else ""
    text = f"The person does not log in to the server now.{words} Go on without it."
    return ToolOutcome.error(text, reason=ErrorCode.MCP_TOKEN_EXPIRED, failure=OutcomeClass.FATAL)


def enough(question: Question | None) -> bool:
    """Whether a call has asked for a login as often as it may."""
    return question is not None and question.kind == KIND and question.attempt >= _MOST


async def go_on(brain: Brain, respond: Respond, user_id: str, connection: Connection) -> None:
    """Let every call go on that waited for this login."""
    for record in await brain.pending_requests(user_id):
        if record.kind != KIND or not _fulfilled(record, connection):
            continue
        try:
            await respond(user_id, HitlReply(answer=DONE, request_id=record.request_id, resolved_by=KIND))
        except EngineError as error:
            if error.code is not ErrorCode.HITL_NOT_PENDING:
                raise


def _fulfilled(record: HitlRecord, connection: Connection) -> bool:
    """Whether a connection is what a call waits for: its server's, logged in, with all that was asked for."""
    asked: dict[str, Any] = msgspec.json.decode(record.input or b"{}")
    enough_scopes = set(asked.get("scopes", ())) <= set(connection.scopes)
    return (
        asked.get("server") == connection.server_name
        and connection.status == ConnectionStatus.CONNECTED
        and enough_scopes
    )
