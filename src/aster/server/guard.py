"""The guard before every handler: names the request, turns hostile pages away, asks for the key, weighs the body.

Nothing of a request is parsed before its caller is known, and no failure leaves here but as the documented
envelope. It is plain ASGI because every byte of every stream passes through it.
"""

import logging
from collections.abc import Mapping
from time import monotonic
from typing import Final

from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from aster.contracts.errors import EngineError, ErrorCode
from aster.engine_core.engine import Engine
from aster.infra.ids import new_id
from aster.infra.logging import bind
from aster.server import console, uploads, visit
from aster.server.auth import Doorkeeper
from aster.server.errors import answer
from aster.server.origin import Header, Origins, preflight
from aster.server.routes import oauth

log = logging.getLogger("aster.server")

REQUEST_ID_CHARS: Final = 128
OPEN_PATHS: Final = frozenset({"/health"}) | oauth.OPEN_PATHS

_WITH_BODY: Final = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_UNROUTED: Final = "unknown"


class Guard:
    def __init__(self, app: ASGIApp, *, engine: Engine, door: Doorkeeper, origins: Origins) -> None:
        self._app = app
        self._engine = engine
        self._door = door
        self._origins = origins
        self._most_bytes = engine.settings.max_request_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers: dict[bytes, bytes] = dict(scope["headers"])
        reply = Reply(self._engine, scope, send, request_id(headers))
        with bind(request_id=reply.request_id):
            try:
                await self._serve(scope, headers, receive, reply)
            except EngineError as error:
                await reply.refuse(scope, receive, error)
            except Exception:  # the boundary of a request: whatever happens inside is answered
                log.exception("A request failed.", extra={"method": scope["method"], "path": scope["path"]})
                self._engine.raven.note("error", "error", "A request failed unexpectedly.", path=scope["path"])
                await reply.refuse(scope, receive, _unforeseen(reply.request_id))

    async def _serve(self, scope: Scope, headers: Mapping[bytes, bytes], receive: Receive, reply: "Reply") -> None:
        admitted = self._origins.admit(headers)
        reply.extra += self._origins.headers(admitted)
        if scope["method"] == "OPTIONS" and b"access-control-request-method" in headers:
            reply.extra += preflight()
            await Response(status_code=204)(scope, receive, reply.send)
            return
        # Routes are matched on the path as it was sent, so that an encoded slash in a task id stays inside it.
        scope["path"] = scope.get("raw_path", scope["path"].encode()).decode("latin-1")
        if scope["path"] not in OPEN_PATHS and not console.is_open(scope["path"]):
            peer = scope["client"][0] if scope.get("client") else None
            caller = await self._door.admit(headers, peer)
            scope[visit.SCOPE] = visit.Visit(reply.request_id, caller)
        if _carries_body(scope, headers):
            uploading = uploads.taken(scope["path"], headers)
            most = self._engine.settings.upload_max_bytes if uploading else self._most_bytes
            self._check_body(headers, most, uploading=uploading)
            receive = Scale(receive, most).receive
        await self._app(scope, receive, reply.send)

    def _check_body(self, headers: Mapping[bytes, bytes], most: int, *, uploading: bool) -> None:
        declared = headers.get(b"content-length", b"0")
        if declared.isdigit() and int(declared) > most:
            raise EngineError(ErrorCode.PAYLOAD_TOO_LARGE, _too_large(most))
        if uploading:
            return
        kind, _, parameters = headers.get(b"content-type", b"").decode("latin-1").lower().partition(";")
        media, charset = kind.strip(), parameters.replace('"', "").replace(" ", "").partition("charset=")[2]
        if media != "application/json" or charset.split(";")[0] not in ("", "utf-8"):
            raise EngineError(
                ErrorCode.UNSUPPORTED_MEDIA_TYPE,
                "Send the body as JSON in UTF-8, with Content-Type: application/json.",
                {"content_type": media[:128]},
            )


class Reply:
    """The way back: adds the headers every answer has, and knows whether an answer has begun."""

    def __init__(self, engine: Engine, scope: Scope, send: Send, name: str) -> None:
        self.request_id = name
        self.started = False
        self.extra: list[Header] = [
            (b"x-request-id", name.encode("latin-1")),
            (b"x-content-type-options", b"nosniff"),
        ]
        self._raven = engine.raven
        self._scope = scope
        self._send = send
        self._since = monotonic()

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.started = True
            message["headers"] = [*message["headers"], *self.extra]
            route = getattr(self._scope.get("route"), "path", _UNROUTED)
            self._raven.request_served(route, self._scope["method"], message["status"], monotonic() - self._since)
        await self._send(message)

    async def refuse(self, scope: Scope, receive: Receive, error: EngineError) -> None:
        """Say an error, unless something else is being said already; then the connection just ends."""
        if not self.started:
            await answer(error, path=scope["path"])(scope, receive, self.send)


class Scale:
    """Weighs a body while it comes in, whatever length was declared."""

    def __init__(self, receive: Receive, most: int) -> None:
        self._receive = receive
        self._most = most
        self._seen = 0

    async def receive(self) -> Message:
        message = await self._receive()
        self._seen += len(message.get("body", b""))
        if self._seen > self._most:
            raise HTTPException(413, _too_large(self._most))
        return message


def request_id(headers: Mapping[bytes, bytes]) -> str:
    """The client's own id for a request if it is fit to be logged and sent back, a new one otherwise."""
    given = headers.get(b"x-request-id", b"").decode("latin-1")
    if 0 < len(given) <= REQUEST_ID_CHARS and given.isascii() and given.isprintable():
        return given
    return new_id("req")


def _carries_body(scope: Scope, headers: Mapping[bytes, bytes]) -> bool:
    if scope["method"] not in _WITH_BODY:
        return False
    return headers.get(b"content-length", b"0") != b"0" or b"transfer-encoding" in headers


def _too_large(most: int) -> str:
    return (
        f"The body is larger than {most} bytes. Send less, or raise MAX_REQUEST_BYTES (UPLOAD_MAX_BYTES for files)."
    )


def _unforeseen(name: str) -> EngineError:
    return EngineError(
        ErrorCode.INTERNAL,
        f"Something failed that should not have. The engine's log has it under request id {name}.",
        {"request_id": name},
    )
