"""Herald: asks a model and gives back what it says, as typed events or as one whole response.

One Herald speaks to one endpoint over kept connections. It retries nothing: a failure is typed and raised,
and the loop above decides; only how tools are offered is found out by asking a second time. The key leaves in a
header and appears nowhere else.
"""

import asyncio
from contextlib import AbstractAsyncContextManager
from time import monotonic
from typing import Literal

import httpx2
import msgspec

from aster.contracts.blocks import AssistantBlock
from aster.contracts.llm import BlockFinished, CallFinished, LLMResponse, ModelRequest
from aster.contracts.model import Contract
from aster.contracts.tools import ToolDef
from aster.herald import counting
from aster.herald.call import ModelCall, error_body
from aster.herald.endpoint import Endpoint
from aster.herald.failure import FailureKind, HeraldError
from aster.herald.protocols import PROTOCOLS
from aster.herald.text_tools.conversation import as_text
from aster.herald.text_tools.decoder import TextToolDecoder
from aster.herald.text_tools.toolbox import Toolbox
from aster.herald.tool_names import DottedDecoder, dotless
from aster.herald.transport import KeepAliveTransport
from aster.infra.clock import now_ms

_CONNECT_SECONDS = 10.0
_NOT_OFFERED = frozenset({404, 405, 501})
_ASKING = {"accept": "text/event-stream, application/json", "content-type": "application/json"}


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
    """The model gateway. `transport` may be shared by several, or be httpx2's own (for a proxy).

    `native_tools` is how tools are offered now; left to `auto`, it ends when the endpoint turns out to have none.
    """

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
        self.native_tools = endpoint.native_tools if text_tools == "auto" else text_tools == "false"
        self._learns = text_tools == "auto"
        self.last_call: CallStatus | None = None
        self._protocol = PROTOCOLS[endpoint.protocol]
        self._transport = transport or KeepAliveTransport()
        self._idle_timeout = idle_timeout
        self._counts = True
        self._timeout = httpx2.Timeout(first_byte_timeout, connect=_CONNECT_SECONDS).as_dict()
        self._urls: dict[str, httpx2.URL] = {}
        self._offered: tuple[tuple[ToolDef, ...], Toolbox] = (), Toolbox(())
        always = {
            "host": httpx2.URL(endpoint.base_url).netloc.decode(),
            "accept-encoding": "identity",
            "user-agent": "aster",
            **self._protocol.headers,
            **endpoint.auth,
        }
        self._probing, self._asking = httpx2.Headers(always), httpx2.Headers({**always, **_ASKING})

    def stream(self, request: ModelRequest) -> ModelCall:
        """The call, to be entered and iterated: one list of events per network read, the last one whole."""
        return self._call(request, native=self.native_tools)

    async def enter(self, call: ModelCall, request: ModelRequest) -> ModelCall:
        """The call under way. If it is refused because it offers tools, it is made again at once with tools as
        text; how that one is received decides what is believed. If it fails too, the first refusal stands."""
        may_learn = self._learns and self.native_tools and bool(request.tools)
        try:
            return await call.__aenter__()
        except HeraldError as refusal:
            if not (may_learn and refusal.refuses_tools):
                raise
            again = self._call(request, native=False)
            try:
                await again.__aenter__()
            except HeraldError:
                self._settle(refusal)
                raise refusal from None
        self.native_tools = False
        return again

    def _call(self, request: ModelRequest, *, native: bool) -> ModelCall:
        if not request.model:
            request = msgspec.structs.replace(request, model=self.endpoint.model)
        wire, dotted = dotless(request if native or not request.tools else as_text(request))
        path, headers, body = self._protocol.encode(wire, self.endpoint)
        http = self._http("POST", path, self._asking, body)
        http.headers["content-length"] = str(len(body))
        if headers:
            http.headers.update(headers)
        return ModelCall(
            self._transport,
            http,
            self._protocol,
            DottedDecoder(self._protocol.decoder(wire), dotted) if dotted else self._protocol.decoder(wire),
            self._settle,
            TextToolDecoder(request, self._toolbox(request.tools), native=native) if request.tools else None,
        )

    def _toolbox(self, tools: tuple[ToolDef, ...]) -> Toolbox:
        """The tools prepared for reading calls; most calls offer the same ones as the call before."""
        if tools != self._offered[0]:
            self._offered = tools, Toolbox(tools)
        return self._offered[1]

    async def complete(self, request: ModelRequest) -> LLMResponse:
        """The whole answer, for callers that do not need the stream."""
        return await whole(self.stream(request))

    async def count(self, request: ModelRequest, timeout: float) -> int | None:
        """How long the provider says that a prompt is; None if it does not say, or not in time."""
        if not self._counts:
            return None
        wire, _ = dotless(request if self.native_tools or not request.tools else as_text(request))
        try:
            asked = counting.question(self.endpoint.protocol, self._protocol.encode(wire, self.endpoint))
        except HeraldError:
            return None
        if asked is None:
            self._counts = False
            return None
        path, body = asked
        http = self._http("POST", path, self._asking, body)
        http.headers["content-length"] = str(len(body))
        http.extensions = {"timeout": httpx2.Timeout(timeout).as_dict(), "idle_timeout": timeout}
        try:
            async with asyncio.timeout(timeout):
                response = await self._transport.handle_async_request(http)
                try:
                    said = await error_body(response)
                finally:
                    await response.aclose()
        except (TimeoutError, httpx2.HTTPError):
            return None
        self._counts = response.status_code not in _NOT_OFFERED
        return counting.answer(self.endpoint.protocol, said) if response.status_code == 200 else None

    async def probe(self, timeout: float = 5.0) -> Probe:
        """Asks for the list of models: cheap, free, and it tells a wrong key from a dead endpoint."""
        request = self._http("GET", self._protocol.probe_path, self._probing, b"")
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

    def _http(self, method: str, path: str, headers: httpx2.Headers, body: bytes) -> httpx2.Request:
        """A request with a copy of headers that are whole already; httpx2 need not work them out for every call."""
        url = self._urls.get(path)
        if url is None:
            url = self._urls[path] = httpx2.URL(self.endpoint.base_url + path)
        return httpx2.Request(
            method,
            url,
            headers=headers,
            stream=httpx2.ByteStream(body),
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
