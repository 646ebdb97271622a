"""The way out of a door: frames as they come, and nothing before it is known that the answer does not begin with an
error, so that a client gets the HTTP status that says what is wrong."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing

from fastapi.responses import Response
from starlette.types import Receive, Scope, Send

from aster.contracts.errors import EngineError, ErrorBody
from aster.engine_core.engine import Engine
from aster.server.doors.admission import Admitted
from aster.server.doors.turn import Ended, Following, Piece, pieces
from aster.server.sse import HEADERS, MEDIA_TYPE, header_text, while_connected

KEEP_ALIVE = b": \n\n"


class DoorStream(Response):
    """Sends frames until there are no more; when the client goes, so does the stream, and the turn goes on."""

    media_type = MEDIA_TYPE

    def __init__(self, engine: Engine, frames: AsyncGenerator[bytes, None], headers: Mapping[str, str]) -> None:
        super().__init__(None, headers={**HEADERS, **headers})
        del self.headers["content-length"]
        self._raven = engine.raven
        self._frames = frames

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._raven.stream_opened()
        try:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            await while_connected(receive, self._copy(send))
        finally:
            self._raven.stream_closed()

    async def _copy(self, send: Send) -> None:
        async with aclosing(self._frames) as frames:
            async for data in frames:
                await send({"type": "http.response.body", "body": data, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def opened(engine: Engine, admitted: Admitted) -> AsyncGenerator[Piece, None]:
    """The pieces of a turn, once it is known that it does not begin by failing and that it will be found again."""
    stream = pieces(engine, admitted.turn)
    first = await anext(stream)
    await asyncio.wait([admitted.noting])
    if isinstance(first, Ended) and first.error is not None:
        await stream.aclose()
        raise failed(first.error)
    return _from(first, stream)


async def _from(first: Piece, rest: AsyncGenerator[Piece, None]) -> AsyncGenerator[Piece, None]:
    async with aclosing(rest):
        yield first
        async for piece in rest:
            yield piece


def failed(body: ErrorBody) -> EngineError:
    """The error that ended a turn, to be said as an answer."""
    after = (body.details or {}).get("retry_after_seconds")
    return EngineError(body.error, body.message, body.details, retry_after=after)


def headers_of(turn: Following) -> dict[str, str]:
    """Where the answer is found besides: its task and its turn."""
    return {"X-Task-ID": header_text(turn.task_id), "X-Turn-ID": turn.turn_id}
