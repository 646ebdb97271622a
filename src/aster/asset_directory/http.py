"""Talking to a server over HTTP: every connection goes where it was judged that it may, and no answer is endless.

What the operator registered may be anywhere, also on this machine; what a user brought is on the public internet.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

import httpcore2
import httpx2
from mcp.client._transport import TransportStreams
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client

from aster.asset_directory.held import Refusal
from aster.asset_directory.limits import MESSAGE_BYTES
from aster.contracts.assets import ServerConfigPayload
from aster.sandbox.reach import Reach, Refused
from aster.sandbox.reach_http import guarded_pool

_KEPT: Final = 4
_UNAUTHORISED: Final = 401
_UNKNOWN: Final = frozenset((400, 404))
"""What servers say to the name of a session that they do not know."""
_SESSION: Final = "mcp-session-id"
_LISTENING_SECONDS: Final = 300.0
_OK: Final = 200
_EVENT_ENDS: Final = (b"\n\n", b"\r\r", b"\n\r")


class GuardedTransport(httpx2.AsyncBaseTransport):
    """httpx2 over guarded connections; `seen` hears when a server does not accept who asks, or knows no
    such session. Events come in answers to `streaming` methods; nothing is taken that is larger than it was sent."""

    def __init__(self, reach: Reach, seen: Callable[[Refusal], None], streaming: frozenset[str]) -> None:
        self._pool = guarded_pool(reach, kept=_KEPT)
        self._seen = seen
        self._streaming = streaming

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        url = request.url
        request.headers["Accept-Encoding"] = "identity"
        sent = httpcore2.Request(
            method=request.method,
            url=httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
            headers=request.headers.raw,
            content=request.stream,
            extensions=request.extensions,
        )
        try:
            answer = await self._pool.handle_async_request(sent)
        except Refused as refused:
            raise httpx2.ConnectError(f"{refused.destination}: {refused.why}") from refused
        except httpcore2.TimeoutException as error:
            raise httpx2.ConnectTimeout(str(error) or "no answer in time") from error
        except (httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.UnsupportedProtocol) as error:
            raise httpx2.ConnectError(str(error) or type(error).__name__) from error
        if answer.status == _UNAUTHORISED:
            self._seen("credentials")
        elif answer.status in _UNKNOWN and _SESSION in request.headers:
            self._seen("session")
        headers = httpx2.Headers(answer.headers)
        encoding = headers.get("content-encoding", "identity")
        if encoding.strip().lower() != "identity":
            await answer.aclose()
            raise httpx2.ReadError(f"the answer is encoded ({encoding[:40]}), which was not asked for")
        events = headers.get("content-type", "").lower().startswith("text/event-stream")
        streaming = events and answer.status == _OK and request.method in self._streaming
        return httpx2.Response(answer.status, headers=headers, stream=_Body(answer, events=streaming))

    async def aclose(self) -> None:
        await self._pool.aclose()


class _Body(httpx2.AsyncByteStream):
    """An answer's body up to a limit; of a stream, which may last, every event up to the limit."""

    def __init__(self, answer: httpcore2.Response, *, events: bool) -> None:
        self._answer = answer
        self._events = events

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size, before = 0, b""
        try:
            async for piece in self._answer.aiter_stream():
                size += len(piece)
                if self._events:
                    joined = before + piece
                    end = max(map(joined.rfind, _EVENT_ENDS))
                    size = size if end < 0 else len(joined) - end - 2
                    before = piece[-1:]
                if size > MESSAGE_BYTES:
                    raise httpx2.ReadError(f"the answer is larger than {MESSAGE_BYTES:,} bytes")
                yield piece
        except httpcore2.TimeoutException as error:
            raise httpx2.ReadTimeout(str(error) or "the server fell silent") from error
        except (httpcore2.NetworkError, httpcore2.ProtocolError) as error:
            raise httpx2.ReadError(str(error) or type(error).__name__) from error

    async def aclose(self) -> None:
        await self._answer.aclose()


def _as_it_is(transport: httpx2.AsyncBaseTransport) -> httpx2.AsyncBaseTransport:
    return transport


@asynccontextmanager
async def http_transport(
    server: ServerConfigPayload,
    given: dict[str, str],
    reach: Reach,
    seen: Callable[[Refusal], None],
    around: Callable[[httpx2.AsyncBaseTransport], httpx2.AsyncBaseTransport] = _as_it_is,
) -> AsyncGenerator[TransportStreams]:
    """The streams of a session with a server, for as long as the block lasts; `around` may add to what is sent."""
    patience = httpx2.Timeout(server.timeout_seconds, read=max(server.timeout_seconds, _LISTENING_SECONDS))
    assert server.url is not None, "a server over HTTP has an address"

    streaming = frozenset(("GET",) if server.transport == "sse" else ("GET", "POST"))

    def client(
        headers: dict[str, str] | None = None,
        timeout: httpx2.Timeout | None = None,
        auth: httpx2.Auth | None = None,
    ) -> httpx2.AsyncClient:
        del timeout, auth
        wanted = {**given, **(headers or {})}
        transport = around(GuardedTransport(reach, seen, streaming))
        return httpx2.AsyncClient(transport=transport, headers=wanted, timeout=patience, trust_env=False)

    if server.transport == "sse":
        async with sse_client(server.url, httpx_client_factory=client) as streams:
            yield streams
        return
    async with (
        client() as http,
        streamable_http_client(server.url, http_client=http, max_sse_event_size=MESSAGE_BYTES) as streams,
    ):
        yield streams
