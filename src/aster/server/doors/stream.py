"""The way out of a door: frames as they come, and nothing before it is known that the answer does not begin with an
error, so that a client gets the HTTP status that says what is wrong."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from typing import Any, TypeAlias

from fastapi.responses import Response
from starlette.types import Receive, Scope, Send

from aster.contracts.errors import EngineError, ErrorBody
from aster.contracts.model import encode
from aster.engine_core.engine import Engine
from aster.server.doors.admission import Admitted
from aster.server.doors.retries import Delivery
from aster.server.doors.turn import Ended, Following, Piece, pieces
from aster.server.sse import HEADERS, MEDIA_TYPE, header_text, while_connected

KEEP_ALIVE = b": \n\n"

Write: TypeAlias = tuple[bytes, bool]
"""What goes out in one write, and whether more comes after it."""


class DoorStream(Response):
    """Sends what is written, up to the last of it; when the client goes, so does the stream, and the turn goes on.

    It has no status before the first write: what is raised until then is answered as any refusal."""

    media_type = MEDIA_TYPE

    def __init__(
        self,
        engine: Engine,
        writes: AsyncGenerator[Write, None],
        headers: Mapping[str, str],
        delivery: Delivery | None = None,
    ) -> None:
        super().__init__(None, headers={**HEADERS, **headers})
        del self.headers["content-length"]
        self._raven = engine.raven
        self._delivery = delivery
        self._writes = writes
        self._over = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._raven.stream_opened()
        try:
            await while_connected(receive, self._copy(send))
        except EngineError:
            self._over = True
            raise
        finally:
            self._raven.stream_closed()
            if self._delivery is not None:
                self._delivery.over(heard=self._over)

    async def _copy(self, send: Send) -> None:
        async with aclosing(self._writes) as writes:
            begun = False
            async for data, more in writes:
                if not begun:
                    await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
                    begun = True
                await send({"type": "http.response.body", "body": data, "more_body": more})
                self._over = not more


class DoorAnswer(Response):
    """Sends an answer that is given at once, when it is whole; when the client goes before, the turn goes on."""

    media_type = "application/json"

    def __init__(
        self, whole: Callable[[], Awaitable[dict[str, Any]]], headers: Mapping[str, str], delivery: Delivery
    ) -> None:
        super().__init__(None, headers=dict(headers))
        self._delivery = delivery
        self._whole = whole
        self._over = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await while_connected(receive, self._answer(scope, receive, send))
        except EngineError:
            self._over = True
            raise
        finally:
            self._delivery.over(heard=self._over)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.body = encode(await self._whole())
        self.headers["content-length"] = str(len(self.body))
        await super().__call__(scope, receive, send)
        self._over = True


async def opened(engine: Engine, admitted: Admitted) -> AsyncGenerator[list[Piece], None]:
    """The pieces of a turn; raises what it begins with, if it begins by failing."""
    begun = False
    async with aclosing(pieces(engine, admitted.turn)) as said:
        async for new in said:
            if not begun:
                if isinstance(new[0], Ended) and new[0].error is not None:
                    raise failed(new[0].error)
                begun = True
            yield new


def failed(body: ErrorBody) -> EngineError:
    """The error that ended a turn, to be said as an answer."""
    after = (body.details or {}).get("retry_after_seconds")
    return EngineError(body.error, body.message, body.details, retry_after=after)


def headers_of(turn: Following) -> dict[str, str]:
    """Where the answer is found besides: its task and its turn."""
    return {"X-Task-ID": header_text(turn.task_id), "X-Turn-ID": turn.turn_id}
