"""Herald: asks a model and gives back what it says, as typed events or as one whole response.

One Herald speaks to one endpoint over kept connections. It retries nothing: a failure is typed and raised,
and the loop above decides. The key leaves in a header and appears nowhere else.
"""

from contextlib import AbstractAsyncContextManager
from time import monotonic
from typing import Literal

import httpx2
import msgspec

from aster.contracts.blocks import AssistantBlock
from aster.contracts.llm import BlockFinished, CallFinished, LLMResponse, ModelRequest
from aster.contracts.model import Contract
from aster.herald.call import ModelCall, error_body
from aster.herald.endpoint import Endpoint
from aster.herald.failure import FailureKind, HeraldError
from aster.herald.protocols import PROTOCOLS
from aster.herald.protocols.base import Decoder
from aster.herald.text_tools.conversation import as_text
from aster.herald.text_tools.decoder import TextToolDecoder
from aster.herald.transport import KeepAliveTransport
from aster.infra.clock import now_ms

_CONNECT_SECONDS = 10.0


class CallStatus(Contract):
    """How the last model call went, for `/health`."""

    ok: bool
    at_ms: int
    kind: FailureKind | None = None
    problem: str | None = None


class Probe(Contract):
    """Whether the endpoint answers at all, and what is wrong if something is."""

    reachable: bool
    latency_ms: float
    problem: str | None = None


class Herald:
    """The model gateway. `transport` may be shared by several, or be httpx2's own (for a proxy)."""

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        first_byte_timeout: float = 120.0,
        idle_timeout: float = 60.0,
        transport: httpx2.AsyncBaseTransport | None = None,
        text_tools: Literal["auto", "true", "false"] = "auto",
    ) -> None:
        self.endpoint = endpoint
        self._native_tools = endpoint.native_tools if text_tools == "auto" else text_tools == "false"
        self.last_call: CallStatus | None = None
        self._protocol = PROTOCOLS[endpoint.protocol]
        self._transport = transport or KeepAliveTransport()
        self._idle_timeout = idle_timeout
        self._timeout = httpx2.Timeout(first_byte_timeout, connect=_CONNECT_SECONDS).as_dict()
        self._urls: dict[str, httpx2.URL] = {}
        self._headers = {
            "accept-encoding": "identity",
            "user-agent": "aster",
            **self._protocol.headers,
            **endpoint.auth,
        }

    def stream(self, request: ModelRequest) -> ModelCall:
        """The call, to be entered and iterated: one list of events per network read, the last one whole."""
        if not request.model:
            request = msgspec.structs.replace(request, model=self.endpoint.model)
        wire = request if self._native_tools or not request.tools else as_text(request)
        path, headers, body = self._protocol.encode(wire, self.endpoint)
        headers = {
            **self._headers,
            "accept": "text/event-stream, application/json",
            "content-type": "application/json",
            **headers,
        }
        return ModelCall(
            self._transport,
            self._http("POST", path, headers, body),
            self._protocol,
            self._decoder(request, wire),
            self._settle,
        )

    def _decoder(self, request: ModelRequest, wire: ModelRequest) -> Decoder:
        """Reads the answer to what went over the wire; calls in its text too, if tools were offered."""
        decoder = self._protocol.decoder(wire)
        return TextToolDecoder(decoder, request, native=self._native_tools) if request.tools else decoder

    async def complete(self, request: ModelRequest) -> LLMResponse:
        """The whole answer, for callers that do not need the stream."""
        return await whole(self.stream(request))

    async def probe(self, timeout: float = 5.0) -> Probe:
        """Asks for the list of models: cheap, free, and it tells a wrong key from a dead endpoint."""
        request = self._http("GET", self._protocol.probe_path, self._headers, b"")
        request.extensions = {"timeout": httpx2.Timeout(timeout).as_dict(), "idle_timeout": timeout}
        started = monotonic()
        try:
            response = await self._transport.handle_async_request(request)
            status = response.status_code
            body = await error_body(response) if status >= 400 else b""
            await response.aclose()
        except httpx2.HTTPError as error:
            return Probe(reachable=False, latency_ms=_since(started), problem=str(error))
        kind = self._protocol.failure(status, response.headers, body).kind
        fine = status < 400 or kind is FailureKind.BAD_REQUEST
        problem = None if fine else HeraldError(kind, f"HTTP {status}").message
        return Probe(reachable=True, latency_ms=_since(started), problem=problem)

    async def close(self) -> None:
        """Ends every connection."""
        await self._transport.aclose()

    def _http(self, method: str, path: str, headers: dict[str, str], body: bytes) -> httpx2.Request:
        url = self._urls.get(path)
        if url is None:
            url = self._urls[path] = httpx2.URL(self.endpoint.base_url + path)
        return httpx2.Request(
            method,
            url,
            headers=headers,
            content=body,
            extensions={"timeout": self._timeout, "idle_timeout": self._idle_timeout},
        )

    def _settle(self, error: HeraldError | None) -> None:
        if error is None:
            self.last_call = CallStatus(ok=True, at_ms=now_ms())
        else:
            problem = error.hide(self.endpoint.key).message
            self.last_call = CallStatus(ok=False, at_ms=now_ms(), kind=error.kind, problem=problem)


async def whole(opening: AbstractAsyncContextManager[ModelCall]) -> LLMResponse:
    """Reads a call to its end."""
    blocks: list[AssistantBlock] = []
    end: CallFinished | None = None
    async with opening as call:
        async for batch in call:
            for event in batch:
                if isinstance(event, BlockFinished):
                    blocks.append(event.block)
                elif isinstance(event, CallFinished):
                    end = event
    assert end is not None, "a call that ends without CallFinished raises"
    return LLMResponse(blocks=tuple(blocks), stop_reason=end.stop_reason, usage=end.usage, model=end.model)


def _since(started: float) -> float:
    return round((monotonic() - started) * 1000, 3)
