"""Runtime tasks over the wire: the commands and agents that work behind turns, what they say, and ending them."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from urllib.parse import quote

from aster.client.follow import OnWait, Patience
from aster.client.wire import Wire
from aster.contracts.errors import EngineError
from aster.contracts.model import Contract, decode
from aster.contracts.sse import SseParser


class RuntimeTask(Contract):
    """A command or an agent that works behind a turn, or did."""

    id: str
    kind: str
    task_id: str
    turn_id: str
    tool_call_id: str
    status: str
    description: str
    started_at: str
    ended_at: str | None = None
    exit_code: int | None = None
    output_size: int = 0
    notified: bool = False
    notified_at: str | None = None
    work_item: str | None = None
    wake: bool = False
    stalled_since: str | None = None
    artifact_id: str | None = None
    child_task_id: str | None = None
    agent: str | None = None


class RuntimeTasks(Contract):
    tasks: tuple[RuntimeTask, ...]
    next: str | None = None


class RuntimeText(Contract):
    """A piece of what a runtime task has said, from `offset` up to `next_offset`."""

    id: str
    offset: int
    next_offset: int
    text: str
    status: str = ""
    more: bool = False
    size: int = 0
    left_out: int = 0


class RuntimeClient:
    """The part of a client that is about runtime tasks; one that is followed is come back to for `patience` seconds."""

    def __init__(self, wire: Wire, patience: float, on_wait: OnWait | None = None) -> None:
        self._wire = wire
        self._patience = patience
        self._on_wait = on_wait

    async def list(
        self,
        *,
        status: str | None = None,
        task_id: str | None = None,
        kind: str | None = None,
        limit: int = 50,
        after: str | None = None,
    ) -> RuntimeTasks:
        """One page, newest first; `status="active"` is what has not ended."""
        params = {"status": status, "task_id": task_id, "kind": kind, "limit": limit, "after": after}
        return await self._wire.ask(RuntimeTasks, "GET", "/runtime", params=params)

    async def get(self, runtime_id: str) -> RuntimeTask:
        return await self._wire.ask(RuntimeTask, "GET", _path(runtime_id))

    async def output(self, runtime_id: str, *, offset: int = 0, limit: int | None = None) -> RuntimeText:
        """A page of what it has said so far."""
        params = {"offset": offset, "limit": limit}
        return await self._wire.ask(RuntimeText, "GET", _path(runtime_id, "output"), params=params)

    async def follow(self, runtime_id: str, *, offset: int = 0) -> AsyncGenerator[RuntimeText]:
        """Everything from a character on, as it is said, until it has ended; over as many connections as it takes."""
        patience, position = Patience(self._wire, self._patience, self._on_wait), offset
        while True:
            error: EngineError | None = None
            opening = self._wire.open("GET", _path(runtime_id, "stream"), params={"offset": position})
            try:
                async with opening as response, aclosing(self._wire.chunks(response)) as chunks:
                    parser = SseParser()
                    async for chunk in chunks:
                        for frame in parser.feed(chunk):
                            patience.restore()
                            if frame.event == "runtime_end":
                                return
                            if frame.event == "runtime_output":
                                piece = decode(frame.data, RuntimeText)
                                position = piece.next_offset
                                yield piece
                                patience.restore()
            except EngineError as failure:
                error = failure
            await patience.wait(error)

    async def kill(self, runtime_id: str) -> RuntimeTask:
        """End it with everything it has started; as it stands then."""
        return await self._wire.ask(RuntimeTask, "POST", _path(runtime_id, "kill"))


def _path(runtime_id: str, *more: str) -> str:
    return "/".join(("/runtime", quote(runtime_id, safe=""), *more))
