"""Handing a message to an engine exactly once, then following the turn that takes it.

A connection cut before the answer began leaves open whether the engine took the message. The message has a name, by
which the engine knows it again: sent once more, it is taken if it was not, and otherwise the answer says where it is.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from secrets import token_hex
from typing import Any, TypedDict
from urllib.parse import quote

from aster.client.deciding import OnRequest
from aster.client.follow import Patience, Reader, ThreadEvent
from aster.client.records import OnBusy, RawPage
from aster.client.wire import EngineUnreachable, Wire
from aster.contracts.blocks import MediaBlock
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.permissions import PermissionMode
from aster.contracts.tools import ToolDef

_UNCERTAIN = ErrorCode.STORAGE_UNAVAILABLE
"""An engine that lost its storage says so whether or not the message was written before."""


class TurnOptions(TypedDict, total=False):
    """What may be said about a message. `tools` are run by your side: answer their calls, which are requests of the
    kind `client_tool`, like any other request, in `on_request`."""

    media: Sequence[MediaBlock]
    direct: bool
    super_thinking: bool
    model: str | None
    agent: str | None
    instructions: str | None
    tools: Sequence[ToolDef]
    edit_message_id: str | None
    retry_message_id: str | None
    on_busy: OnBusy
    permission_mode: PermissionMode | None
    unattended: bool
    subagents: bool
    on_request: OnRequest | None


@dataclass(slots=True)
class Submission:
    wire: Wire
    task_id: str
    message: str
    options: dict[str, Any]
    patience: Patience
    _doubtful: bool = False
    _name: str = field(default_factory=lambda: token_hex(12))

    async def run(self) -> AsyncGenerator[ThreadEvent]:
        """Every event of the turn that takes the message, from its beginning to its end."""
        head = await self._head()
        shown = self.options.get("subagents") is not False
        reader = Reader(self.wire, self.task_id, head, self.patience, subagents=shown)
        error: EngineError | None = None
        while not reader.addressed:
            try:
                opening = self.wire.open(
                    "POST", "/execute", body=self._body(), headers={"Idempotency-Key": self._name}
                )
                async with opening as response:
                    reader.address(response)
                    async with aclosing(reader.read(response)) as events:
                        async for event in events:
                            yield event
            except EngineError as failure:
                error = failure
                if not reader.addressed:
                    await self._failed(reader, failure)
                    error = None
        async with aclosing(reader.resume(error)) as events:
            async for event in events:
                yield event

    def _body(self) -> dict[str, Any]:
        given = {name: value for name, value in self.options.items() if value is not None}
        return {"message": self.message, "task_id": self.task_id, **given}

    async def _head(self) -> int:
        """The newest event of the thread, however long the engine takes to come back; 0 when there is no such task."""
        path = f"/tasks/{quote(self.task_id, safe='')}/events"
        while True:
            try:
                page = await self.wire.ask(RawPage, "GET", path, params={"limit": 1})
            except EngineError as error:
                if error.code is ErrorCode.TASK_NOT_FOUND:
                    return 0
                await self.patience.wait(error)
            else:
                self.patience.calm()
                return page.head_seq

    async def _failed(self, reader: Reader, failure: EngineError) -> None:
        """The post failed: follow the message if it was taken all the same, else wait to post it again."""
        taken = (failure.details or {}).get("message_id") if failure.code is ErrorCode.TASK_BUSY else None
        if taken is not None and self._doubtful:
            reader.message_id = str(taken)
            return
        lost = failure.sent if isinstance(failure, EngineUnreachable) else failure.code is _UNCERTAIN
        self._doubtful = self._doubtful or lost
        if not self._doubtful and failure.code is not ErrorCode.DRAINING:
            raise failure
        await self.patience.wait(failure)
