"""One model call from request to last event.

Entered, the call is under way; iterated, it gives one list of events per network read; left, it is over on
the provider's side too. Whatever goes wrong comes out as `HeraldError`, after every event that came before.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from types import TracebackType
from typing import Self

import httpx2

from aster.contracts.llm import StreamEvent
from aster.contracts.sse import SseParser
from aster.herald.failure import FailureKind, HeraldError
from aster.herald.protocols.base import Decoder, SoFar, WireProtocol
from aster.herald.text_tools.decoder import TextToolDecoder

_ERROR_BODY_LIMIT = 64 * 1024
_LINGER_SECONDS = 0.2


class ModelCall:
    """`async with herald.stream(request) as call: async for batch in call: …`"""

    def __init__(
        self,
        transport: httpx2.AsyncBaseTransport,
        request: httpx2.Request,
        protocol: WireProtocol,
        decoder: Decoder,
        settled: Callable[[HeraldError | None], None],
        text_tools: TextToolDecoder | None = None,
    ) -> None:
        self._transport = transport
        self._request = request
        self._protocol = protocol
        self._decoder = decoder
        self._text_tools = text_tools
        self._settled = settled
        self._sse = SseParser()
        self._response: httpx2.Response | None = None
        self._chunks: AsyncIterator[bytes] | None = None
        self._error: HeraldError | None = None

    @property
    def finished(self) -> bool:
        """Whether the provider has closed its answer properly."""
        return self._decoder.finished

    @property
    def so_far(self) -> SoFar:
        """What has come of the answer until now."""
        return self._decoder.so_far()

    @property
    def headers(self) -> Mapping[str, str]:
        """What the provider said beside its answer; empty when there was none."""
        return {} if self._response is None else self._response.headers

    async def __aenter__(self) -> Self:
        try:
            self._response = response = await self._transport.handle_async_request(self._request)
            if response.status_code != 200 or _not_a_stream(response):
                raise await self._refusal(response)
        except httpx2.HTTPError as error:
            raise self._fail(_transport_failure(error)) from error
        except HeraldError as error:
            await self._close()
            raise self._fail(error) from None
        except BaseException:
            await self._close()
            raise
        self._chunks = _chunks(response)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None and self._decoder.finished:
            await self._linger()
        await self._close()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> list[StreamEvent]:
        assert self._chunks is not None, "enter the call before reading it"
        if self._error is not None:
            raise self._error
        while not self._decoder.finished:
            if batch := self._decode(await self._read()):
                return batch
            if self._error is not None:
                raise self._error
        raise StopAsyncIteration

    async def _read(self) -> bytes:
        """The next bytes; empty at the end, which also is where a broken connection leads."""
        assert self._chunks is not None
        try:
            return await anext(self._chunks, b"")
        except httpx2.HTTPError as error:
            self._fail(_transport_failure(error))
            return b""

    def _decode(self, data: bytes) -> list[StreamEvent]:
        events: list[StreamEvent] = []
        try:
            if data:
                feed = self._decoder.feed
                for event, payload in self._sse.feed(data):
                    events += feed(event, payload)
            elif self._error is None:
                events += self._decoder.end()
        except HeraldError as error:
            self._fail(error)
        if self._decoder.finished:
            self._settled(None)
        return events if self._text_tools is None else self._text_tools.read(events)

    async def _refusal(self, response: httpx2.Response) -> HeraldError:
        body = await error_body(response)
        if response.status_code == 200:
            kind = response.headers.get("content-type", "nothing")
            said = f"it answered with {kind} where an event stream was due; check LLM_BASE_URL"
            return HeraldError(FailureKind.BAD_REQUEST, said, status=200)
        return self._protocol.failure(response.status_code, response.headers, body)

    async def _linger(self) -> None:
        """Reads the end of an answer that is over, so that its connection can serve the next one."""
        assert self._chunks is not None
        try:
            async with asyncio.timeout(_LINGER_SECONDS):
                async for _ in self._chunks:
                    pass
        except (TimeoutError, httpx2.HTTPError):
            pass

    async def _close(self) -> None:
        if self._response is not None:
            await self._response.aclose()

    def _fail(self, error: HeraldError) -> HeraldError:
        self._error = error
        self._settled(error)
        return error


async def error_body(response: httpx2.Response) -> bytes:
    """What an answer that is not a stream says, as far as anybody would read it."""
    body = bytearray()
    async for chunk in _chunks(response):
        body += chunk
        if len(body) > _ERROR_BODY_LIMIT:
            break
    return bytes(body)


def _chunks(response: httpx2.Response) -> AsyncIterator[bytes]:
    """The body's bytes; decoded only if the provider compressed them although it was asked not to."""
    if "content-encoding" in response.headers:
        return response.aiter_bytes()
    stream = response.stream
    assert isinstance(stream, httpx2.AsyncByteStream)
    return aiter(stream)


def _not_a_stream(response: httpx2.Response) -> bool:
    return response.headers.get("content-type", "").startswith(("application/json", "text/html"))


def _transport_failure(error: httpx2.HTTPError) -> HeraldError:
    timed_out = isinstance(error, httpx2.TimeoutException)
    return HeraldError(FailureKind.TIMEOUT if timed_out else FailureKind.TRANSPORT, str(error))
