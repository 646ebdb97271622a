"""The way to a local model: a call is taken at once, told what it waits for, and sent on when it is time.

Only requests for the local model's own name are treated so; all others take the usual way.
"""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

import httpx2

from aster.contracts.llm import CallWaiting
from aster.herald.endpoint import LOCAL_HOST
from aster.herald.local import notices
from aster.herald.local.runtime import LocalRuntime
from aster.herald.local.server import ModelProcess
from aster.herald.transport import KeepAliveTransport

_FIRST_BYTE_SECONDS = 900.0
_IDLE_SECONDS = 300.0
_BUSY = CallWaiting(stage="queued", text="The local model answers one call at a time; another one is before this.")


class LocalTransport(httpx2.AsyncBaseTransport):
    def __init__(self, runtime: LocalRuntime, usual: httpx2.AsyncBaseTransport | None = None) -> None:
        self._runtime = runtime
        self._usual = usual or KeepAliveTransport()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if request.url.host != LOCAL_HOST:
            return await self._usual.handle_async_request(request)
        if request.method == "POST":
            headers = {"content-type": "text/event-stream"}
            return httpx2.Response(200, headers=headers, stream=_Patience(self._answer(request)))
        process = self._runtime.process
        if process is None or not self._runtime.ready:
            raise httpx2.ConnectError(self._runtime.state.text)
        return await self._usual.handle_async_request(_addressed(request, process))

    async def aclose(self) -> None:
        await self._usual.aclose()

    async def _answer(self, request: httpx2.Request) -> AsyncGenerator[bytes]:
        runtime = self._runtime
        runtime.wanted()
        while True:
            async with aclosing(runtime.waiting()) as states:
                async for state in states:
                    yield notices.waiting(state)
            if runtime.state.stage == "unavailable":
                text, after = runtime.state.text, runtime.retry_after
                yield notices.unavailable(notices.Unavailable(text=text, retry_after=after))
                return
            if runtime.one_at_a_time.locked():
                yield notices.waiting(_BUSY)
            async with runtime.one_at_a_time:
                process = runtime.process
                if process is None or not runtime.ready:
                    continue
                async with aclosing(self._sent(_addressed(request, process))) as pieces:
                    async for piece in pieces:
                        yield piece
                return

    async def _sent(self, request: httpx2.Request) -> AsyncGenerator[bytes]:
        response = await self._usual.handle_async_request(request)
        try:
            if response.status_code == 200:
                async for piece in response.aiter_raw():
                    yield piece
            else:
                yield b"event: error\ndata: %s\n\n" % (await response.aread()).replace(b"\n", b" ")
        finally:
            await response.aclose()


class _Patience(httpx2.AsyncByteStream):
    """A body that is made while it is read."""

    def __init__(self, answer: AsyncGenerator[bytes]) -> None:
        self._answer = answer

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._answer

    async def aclose(self) -> None:
        await self._answer.aclose()


def _addressed(request: httpx2.Request, process: ModelProcess) -> httpx2.Request:
    """The request for the process that runs now; a slow machine may read a long prompt for minutes."""
    assert process.url is not None
    url = request.url.copy_with(host=process.url.host, port=process.url.port)
    headers = {name: value for name, value in request.headers.items() if name not in ("host", "authorization")}
    return httpx2.Request(
        request.method,
        url,
        headers={**headers, "authorization": f"Bearer {process.key}"},
        stream=request.stream,
        extensions={
            "timeout": {**request.extensions["timeout"], "read": _FIRST_BYTE_SECONDS},
            "idle_timeout": _IDLE_SECONDS,
        },
    )
