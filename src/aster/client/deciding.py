"""Answering what a turn asks a person, while it is followed.

A request is handed to the program after it was handed on as an event, and only while it is still open: one that is read
again after a restart, or was answered elsewhere meanwhile, is nobody's question any more. The first answer counts.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from aster.client.callbacks import call
from aster.client.follow import Patience, ThreadEvent
from aster.client.records import Answered, PendingList
from aster.client.wire import Wire
from aster.contracts.blocks import MediaBlock
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.events import HitlRequest
from aster.contracts.model import Contract, to_builtins
from aster.contracts.permissions import GrantScope

T = TypeVar("T")


class Decision(Contract):
    """An answer to a request. `yes`, `no` or `always` (with `scope` and `expires_in_seconds`) to a permission, one of
    the `options` or free text to a question, the result to a call of a tool of your own."""

    answer: str
    feedback: str | None = None
    content_blocks: tuple[MediaBlock, ...] = ()
    scope: GrantScope | None = None
    expires_in_seconds: int | None = None

    def body(self, **address: str | None) -> dict[str, Any]:
        """As it is sent, to a request or the oldest one of a task."""
        named = {name: value for name, value in address.items() if value is not None}
        return {**to_builtins(self), **named}


Decided: TypeAlias = Decision | str | None
OnRequest: TypeAlias = Callable[[HitlRequest], Decided | Awaitable[Decided]]
"""Given a request, says what to answer; None leaves it to somebody else."""


@dataclass(frozen=True, slots=True)
class Desk:
    """Where the requests of a stream are answered."""

    wire: Wire
    patience: Patience
    on_request: OnRequest

    async def attend(self, events: AsyncGenerator[ThreadEvent]) -> AsyncGenerator[ThreadEvent]:
        """The same events; what they ask is answered on the way."""
        async with aclosing(events):
            async for event in events:
                yield event
                if isinstance(event, HitlRequest):
                    await self._decide(event)

    async def _decide(self, request: HitlRequest) -> None:
        waiting = await self._insist(PendingList, "GET", "/hitl/pending")
        if all(one.request_id != request.request_id for one in waiting.pending):
            return
        decided = await call(self.on_request, request)
        if decided is None:
            return
        decision = Decision(answer=decided) if isinstance(decided, str) else decided
        self.patience.restore()
        try:
            await self._insist(Answered, "POST", "/hitl/respond", decision.body(request_id=request.request_id))
        except EngineError as error:
            if error.code is not ErrorCode.HITL_NOT_PENDING:
                raise

    async def _insist(self, kind: type[T], method: str, path: str, body: dict[str, Any] | None = None) -> T:
        """Ask until the engine is back; an answer that is given twice counts once."""
        while True:
            try:
                return await self.wire.ask(kind, method, path, body=body)
            except EngineError as error:
                await self.patience.wait(error)
