"""The wire to an engine: requests out, answers in, and every failure as an `EngineError`.

A refusal of the engine keeps its own code. What never reached an engine, or came from something in between, is
`EngineUnreachable`; `sent` says whether the engine may have acted on the request all the same.
"""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any, NamedTuple, TypeVar

import httpx2
import msgspec

from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.model import decode, encode

T = TypeVar("T")

_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_NOT_SENT = (
    *(httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.ProxyError),
    httpx2.UnsupportedProtocol,
)
_CONNECT_SECONDS = 10.0
_IN_BETWEEN = frozenset({502, 503, 504})
_CODES = frozenset(str(code) for code in ErrorCode)


class _Refusal(msgspec.Struct):
    """`ErrorBody` as a newer engine may write it: with a code this version does not know."""

    error: str
    message: str
    details: dict[str, Any] | None = None


class Payload(NamedTuple):
    """A body that is not JSON, and what it is."""

    content: bytes
    kind: str


def form(name: str, content: bytes, fields: Mapping[str, str]) -> Payload:
    """A form with a file of this name, and fields beside it."""
    request = httpx2.Request("POST", "http://form", files={"file": (name, content)}, data=dict(fields))
    return Payload(request.read(), request.headers["content-type"])


class EngineUnreachable(EngineError):
    """No engine answered. `sent` is False when the request certainly never left."""

    def __init__(self, url: str, reason: str, *, sent: bool) -> None:
        super().__init__(ErrorCode.DRAINING, f"No engine answers at {url} ({reason}).", {"url": url})
        self.sent = sent


class Wire:
    """One engine's address and key, over one pool of connections."""

    def __init__(self, url: str, key: str | None, silence: float) -> None:
        self.url = url.rstrip("/")
        self.met = False
        self._silence = silence
        headers = {"X-Engine-Key": key} if key else {}
        self._http = httpx2.AsyncClient(
            base_url=self.url,
            headers=headers,
            timeout=httpx2.Timeout(connect=_CONNECT_SECONDS, read=silence, write=silence, pool=None),
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=20),
            trust_env=httpx2.URL(self.url).host not in _LOOPBACK,
        )

    async def close(self) -> None:
        await self._http.aclose()

    async def ask(
        self,
        kind: type[T],
        method: str,
        path: str,
        *,
        params: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | Payload | None = None,
        accept: frozenset[int] = frozenset(),
    ) -> T:
        """One request, one answer of this kind; `accept` names statuses besides 2xx that carry an answer."""
        async with self.open(method, path, params=params, body=body, accept=accept) as response:
            try:
                data = await response.aread()
            except httpx2.TransportError as error:
                raise self._unreachable(error) from error
            try:
                return decode(data, kind)
            except msgspec.DecodeError as error:
                raise EngineError(
                    ErrorCode.INTERNAL, f"What answers at {self.url}{path} does not speak like an engine: {error}."
                ) from error

    @asynccontextmanager
    async def open(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | Payload | None = None,
        accept: frozenset[int] = frozenset(),
        headers: Mapping[str, str] | None = None,
    ) -> AsyncGenerator[httpx2.Response]:
        """A response whose body is still to come; a refusal is raised instead."""
        given = {key: value for key, value in (params or {}).items() if value is not None}
        if body is not None and not isinstance(body, Payload):
            body = Payload(encode(body), "application/json")
        request = self._http.build_request(
            method,
            path,
            params=given,
            content=None if body is None else body.content,
            headers={**(headers or {}), **({} if body is None else {"Content-Type": body.kind})},
        )
        try:
            response = await self._http.send(request, stream=True)
        except httpx2.TransportError as error:
            raise self._unreachable(error) from error
        try:
            if not response.is_success and response.status_code not in accept:
                raise await self._refusal(response)
            self.met = True
            yield response
        finally:
            await response.aclose()

    async def chunks(self, response: httpx2.Response) -> AsyncGenerator[bytes]:
        """The body as it arrives; an end that was not the engine's own is `EngineUnreachable`."""
        try:
            async for chunk in response.aiter_bytes():
                yield chunk
        except httpx2.TransportError as error:
            raise self._unreachable(error) from error

    def _unreachable(self, error: httpx2.TransportError) -> EngineUnreachable:
        return EngineUnreachable(self.url, self._reason(error), sent=not isinstance(error, _NOT_SENT))

    def _reason(self, error: httpx2.TransportError) -> str:
        match error:
            case httpx2.ConnectTimeout():
                return f"the connection was not taken within {_CONNECT_SECONDS:g} seconds"
            case httpx2.ReadTimeout():
                return f"nothing was heard for {self._silence:g} seconds"
            case httpx2.WriteTimeout():
                return f"nothing was taken for {self._silence:g} seconds"
            case httpx2.RemoteProtocolError() | httpx2.ReadError() | httpx2.WriteError():
                return "the connection was cut"
            case _:
                return str(error) or type(error).__name__

    async def _refusal(self, response: httpx2.Response) -> EngineError:
        try:
            data = await response.aread()
        except httpx2.TransportError as error:
            return self._unreachable(error)
        try:
            said = decode(data, _Refusal)
        except msgspec.DecodeError:
            return self._foreign(response, data)
        self.met = True
        if said.error in _CODES:
            return EngineError(ErrorCode(said.error), said.message, said.details, retry_after=_seconds(response))
        return EngineError(ErrorCode.INTERNAL, f"{said.error}: {said.message}", said.details)

    def _foreign(self, response: httpx2.Response, data: bytes) -> EngineError:
        """An error that is not in the engine's words: a gateway's page, or another program's."""
        if response.status_code in _IN_BETWEEN:
            return EngineUnreachable(self.url, f"HTTP {response.status_code}", sent=True)
        said = data[:200].decode("utf-8", "replace").strip()
        return EngineError(
            ErrorCode.INTERNAL,
            f"{self.url} answered {response.status_code} {said!r}; is that an Aster engine?",
            {"status": response.status_code},
        )


def _seconds(response: httpx2.Response) -> float | None:
    value = response.headers.get("retry-after", "")
    return float(value) if value.replace(".", "", 1).isdigit() else None
