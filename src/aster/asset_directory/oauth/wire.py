"""Requests of a login, over guarded connections: nothing is followed, nothing is endless, nothing inside is reached.

The server and the issuer that the operator wrote down may be anywhere, also on this machine; whatever they name in turn
is on the public internet, or where `FETCH_ALLOWED_PRIVATE` says.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any, Final, NamedTuple, TypeVar, cast
from urllib.parse import urlsplit

import httpx2
import msgspec

from aster.asset_directory.oauth.addresses import check, origin, refused
from aster.contracts.assets import ServerConfigPayload
from aster.contracts.errors import EngineError, ErrorCode
from aster.infra.settings import Settings
from aster.sandbox.reach import Reach

T = TypeVar("T")

MOST_BYTES: Final = 256_000
_SECONDS: Final = 20.0
_WHY_CHARS: Final = 300


class Reply(NamedTuple):
    status: int
    headers: httpx2.Headers
    body: bytes

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300

    def read(self, kind: type[T]) -> T | None:
        """The body as this, None if it is something else; what is null counts as left out."""
        try:
            fields = msgspec.json.decode(self.body)
            if not isinstance(fields, dict):
                return None
            given = {name: value for name, value in cast("dict[str, Any]", fields).items() if value is not None}
            return msgspec.convert(given, kind, strict=False)
        except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
            return None


async def _nothing() -> AsyncIterator[bytes]:
    return
    yield b""


class Wire:
    """The way to everybody a login has to do with, for one server."""

    def __init__(self, settings: Settings, server: ServerConfigPayload, *, own: bool) -> None:
        self._settings = settings
        named = [] if own else [server.url or "", server.oauth.issuer if server.oauth else ""]
        self.declared = frozenset(place for place in map(origin, named) if place)

    async def get(self, url: str, what: str) -> Reply:
        return await self._send("GET", url, what, headers={"Accept": "application/json"})

    async def post(
        self,
        url: str,
        what: str,
        *,
        form: Mapping[str, str] | None = None,
        body: object = None,
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        wanted = {"Accept": "application/json", **(headers or {})}
        if form is not None:
            return await self._send("POST", url, what, headers=wanted, data=dict(form))
        return await self._send("POST", url, what, headers=wanted, json=body)

    async def knock(self, url: str, body: object) -> Reply:
        """Ask the server itself something without saying who asks, for what it says to that; its words are not read."""
        wanted = {"Accept": "application/json, text/event-stream"}
        return await self._send("POST", url, "The server", most=0, headers=wanted, json=body)

    async def _send(self, method: str, url: str, what: str, *, most: int = MOST_BYTES, **request: Any) -> Reply:
        from aster.asset_directory.http import GuardedTransport

        check(url, what, self.declared)
        transport = GuardedTransport(self._reach(url), lambda _: None, frozenset())
        async with httpx2.AsyncClient(transport=transport, timeout=_SECONDS, trust_env=False) as client:
            try:
                async with asyncio.timeout(_SECONDS), client.stream(method, url, **request) as answer:
                    body = b""
                    async for piece in answer.aiter_raw() if most else _nothing():
                        body += piece
                        if len(body) > most:
                            raise refused(f"{what} answers with more than {most:,} bytes.")
            except (httpx2.HTTPError, httpx2.InvalidURL, TimeoutError) as error:
                raise EngineError(
                    ErrorCode.MCP_CONNECTION_FAILED,
                    f"{what} ({origin(url)}) cannot be reached: {str(error)[:_WHY_CHARS] or type(error).__name__}.",
                ) from error
        return Reply(answer.status_code, answer.headers, body)

    def _reach(self, url: str) -> Reach:
        if origin(url) not in self.declared:
            return Reach.of(self._settings)
        host = urlsplit(url).hostname or ""
        return Reach(private=host, blocked=self._settings.fetch_blocked_hosts)
