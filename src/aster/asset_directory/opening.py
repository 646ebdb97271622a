"""The way to a server: a program in the sandbox, or an address over guarded connections.

What fails on the way becomes one error that says which server, what happened, and the last words of a program.
"""

import shutil
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import msgspec

from aster.asset_directory.credentials import Credentials, NeedsLogin
from aster.asset_directory.held import Held, Refusal
from aster.asset_directory.oauth.renewal import Renewal
from aster.contracts.assets import ServerConfigPayload
from aster.contracts.errors import EngineError, ErrorCode
from aster.infra.settings import Settings
from aster.sandbox import host
from aster.sandbox.backend import Command, Sandbox
from aster.sandbox.limits import Limits
from aster.sandbox.reach import Reach
from aster.sandbox.workspaces import Workspaces

if TYPE_CHECKING:
    from aster.asset_directory.link import Link

_SERVING_SECONDS: Final = 30 * 86_400.0
_CPU_SECONDS: Final = 86_400
_WORKSPACE: Final = "${WORKSPACE}"
_REASON_CHARS: Final = 500
_READ_CHARS: Final = 40_000


class Way:
    """Opens sessions."""

    def __init__(
        self,
        settings: Settings,
        sandbox: Sandbox,
        workspaces: Workspaces,
        credentials: Credentials,
        renewal: Renewal,
    ) -> None:
        self._settings = settings
        self._sandbox = sandbox
        self._workspaces = workspaces
        self._credentials = credentials
        self._renewal = renewal

    async def open(self, user_id: str, held: Held, changed: Callable[[], None]) -> "Link":
        from aster.asset_directory.link import Link

        server = held.server
        held.complaints = None
        try:
            if server.transport == "stdio":
                transport = await self._program(user_id, held)
            else:
                transport = await self._address(held)
        except NeedsLogin as needed:
            held.refuse("credentials")
            raise expired(server) from needed
        link = Link(server, transport, changed, held.breaker)
        await link.open()
        return link

    def said(self, held: Held) -> str:
        """The last words of a server's program."""
        return "" if held.complaints is None else held.complaints.text

    async def _program(self, user_id: str, held: Held) -> Callable[[], AbstractAsyncContextManager[Any]]:
        from aster.asset_directory.stdio import Complaints, stdio_transport

        server = held.server
        workspace = await self._workspaces.apart(user_id, server.server_name)
        shown = str(workspace.roots[1] if len(workspace.roots) > 1 else workspace.cwd)
        program = shutil.which(server.command[0], path=host.PATH) or server.command[0]
        placed = {name: value.replace(_WORKSPACE, shown) for name, value in server.environment.items()}
        asked = msgspec.structs.replace(server, environment=placed)
        environment = await self._credentials.environment_for(held.row, asked)
        command = Command(
            (program, *(argument.replace(_WORKSPACE, shown) for argument in server.command[1:])),
            workspace,
            timeout_seconds=_SERVING_SECONDS,
            limits=replace(Limits.of(self._settings), cpu_seconds=_CPU_SECONDS),
            environment=tuple(environment.items()),
            readable=tuple(map(Path, server.readable)),
        )
        complaints = held.complaints = Complaints()
        return lambda: stdio_transport(self._sandbox, command, complaints)

    async def _address(self, held: Held) -> Callable[[], AbstractAsyncContextManager[Any]]:
        from aster.asset_directory.http import http_transport

        server = held.server
        headers = await self._credentials.headers_for(held.row, server)
        reach = Reach.of(self._settings) if held.own else Reach(private=urlsplit(server.url or "").hostname or "")
        if server.auth_method != "oauth":
            return lambda: http_transport(server, headers, reach, held.refuse)
        from aster.asset_directory.oauth.bearer import BearerTransport

        await self._renewal.token(held)

        def seen(what: Refusal) -> None:
            if what != "credentials":
                held.refuse(what)

        return lambda: http_transport(
            server, headers, reach, seen, lambda inner: BearerTransport(inner, held, self._renewal)
        )


def expired(server: ServerConfigPayload) -> EngineError:
    if server.auth_method == "oauth":
        return EngineError(
            ErrorCode.MCP_TOKEN_EXPIRED,
            f"The login to the server {server.server_name!r} has ended; log in again with POST /assets/connect.",
            {"server_name": server.server_name},
        )
    return EngineError(
        ErrorCode.MCP_TOKEN_EXPIRED,
        f"The server {server.server_name!r} does not accept the credentials (any more); connect it again with"
        " POST /assets/connect.",
        {"server_name": server.server_name},
    )


def wants_more(server: ServerConfigPayload, scopes: tuple[str, ...]) -> EngineError:
    return EngineError(
        ErrorCode.MCP_TOKEN_EXPIRED,
        f"The server {server.server_name!r} wants more than the login allows ({' '.join(scopes)[:_REASON_CHARS]});"
        " log in again and allow it.",
        {"server_name": server.server_name, "scopes": list(scopes)},
    )


def failed(server: ServerConfigPayload, error: Exception, said: str, hidden: Callable[[str], str]) -> EngineError:
    """What went wrong on the way to a server, for whoever wanted to go there; what it repeats of the credentials is
    `hidden`."""
    if isinstance(error, EngineError):
        return error
    why = (
        f"it did not answer within {server.timeout_seconds:g} seconds"
        if isinstance(error, TimeoutError)
        else hidden(str(error)[:_READ_CHARS])
    )
    said = hidden(said.strip()[-_READ_CHARS:])
    words = f" It said: {said[-_REASON_CHARS:]}" if said else ""
    return EngineError(
        ErrorCode.MCP_CONNECTION_FAILED,
        f"The server {server.server_name!r} cannot be used: {why[:_REASON_CHARS] or type(error).__name__}.{words}",
        {"server_name": server.server_name},
    )
