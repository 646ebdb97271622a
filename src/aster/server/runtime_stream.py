"""What a runtime task says, as it says it: a stream that ends with the task, and that can be come back to.

The `id` of a frame is the position up to which its reader has everything; the stream holds that place and nothing else,
so it is the same from every replica, and a slow reader only delays itself.
"""

import asyncio
from typing import Final

from fastapi.responses import Response
from starlette.types import Receive, Scope, Send

from aster.brain.runtime import RuntimeRecord
from aster.contracts.events import Heartbeat, Reconnect
from aster.contracts.model import encode
from aster.engine_core.engine import Engine
from aster.engine_core.runtime.desk import Following
from aster.infra.clock import now_iso
from aster.server.runtime_answers import RuntimeTaskAnswer
from aster.server.sse import HEADERS, MEDIA_TYPE, RETRY_MS, unstored, while_connected

REST_SECONDS: Final = 0.05
"""What is said within so short a time is sent together."""


class RuntimeStream(Response):
    media_type = MEDIA_TYPE

    def __init__(self, engine: Engine, following: Following) -> None:
        super().__init__(None, headers=HEADERS)
        del self.headers["content-length"]
        self._engine = engine
        self._following = following

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        raven = self._engine.raven
        raven.stream_opened()
        try:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            await while_connected(receive, self._follow(send))
        finally:
            raven.stream_closed()

    async def _follow(self, send: Send) -> None:
        engine, following = self._engine, self._following
        interval = engine.settings.heartbeat_seconds
        clock = asyncio.get_running_loop().time
        status, said_at = following.record.status, clock()
        await _send(send, _told("runtime_status", following.record), more=True)
        while True:
            leaving, began = engine.leaving, following.position
            piece = await following.next(0.0 if leaving else max(0.0, said_at + interval - clock()))
            frames = b""
            if piece.text:
                frames = _output(following.record.runtime_id, began, piece.next, piece.text)
            if following.record.status != status and not following.over:
                frames += _told("runtime_status", following.record)
            status = following.record.status
            if following.over:
                await _send(send, frames + _told("runtime_end", following.record), more=False)
                return
            if leaving and not piece.more:
                await _send(send, frames + self._goodbye(), more=False)
                return
            if not frames and clock() - said_at >= interval:
                frames = self._heartbeat()
            if frames:
                await _send(send, frames, more=True)
                said_at = clock()
            if not piece.more:
                await asyncio.sleep(REST_SECONDS)

    def _heartbeat(self) -> bytes:
        record = self._following.record
        return unstored(Heartbeat(task_id=record.task_id, turn_id=None, seq=0, timestamp=now_iso()))

    def _goodbye(self) -> bytes:
        record = self._following.record
        return unstored(
            Reconnect(
                task_id=record.task_id, turn_id=None, seq=0, timestamp=now_iso(), after_seq=0, retry_ms=RETRY_MS
            )
        )


def _told(event: str, record: RuntimeRecord) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (event.encode(), RuntimeTaskAnswer.of(record).model_dump_json().encode())


def _output(runtime_id: str, offset: int, position: int, text: str) -> bytes:
    data = {"id": runtime_id, "offset": offset, "next_offset": position, "text": text}
    return b"event: runtime_output\nid: %d\ndata: %s\n\n" % (position, encode(data))


async def _send(send: Send, data: bytes, *, more: bool) -> None:
    await send({"type": "http.response.body", "body": data, "more_body": more})
