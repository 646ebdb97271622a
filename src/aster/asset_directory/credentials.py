"""What a call to a server carries to show who asks, wherever that comes from.

Whoever gives credentials may say that the user has to log in first; nothing else of how they are got is known here.
"""

import os
import re
from collections.abc import Mapping
from typing import Final, Protocol

from aster.asset_directory.vault import Kept, Vault, learn
from aster.brain.assets import ConnectionRow
from aster.contracts.assets import ServerConfigPayload
from aster.contracts.errors import EngineError, ErrorCode
from aster.infra.secrets import Secrets

_VARIABLE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


_TELLING: Final = re.compile(r"auth|key|token|secret|password|cookie", re.IGNORECASE)
"""Names of headers and variables whose values nobody else should see."""


class NeedsLogin(Exception):
    """The user has to log in to the server (again)."""


class Credentials(Protocol):
    """Who asks, as headers over HTTP or as variables for a program; raises `NeedsLogin`."""

    async def headers_for(self, connection: ConnectionRow, server: ServerConfigPayload) -> dict[str, str]: ...

    async def environment_for(self, connection: ConnectionRow, server: ServerConfigPayload) -> dict[str, str]: ...

    def filled_in(self, server: ServerConfigPayload, secret: str) -> str:
        """A secret of the operator's with its variables filled in."""
        ...


class StoredCredentials:
    """What the operator wrote into the server's file, and over it what the user gave when connecting."""

    def __init__(self, vault: Vault, secrets: Secrets, environ: Mapping[str, str] | None = None) -> None:
        self._vault = vault
        self._secrets = secrets
        self._environ = os.environ if environ is None else environ

    async def headers_for(self, connection: ConnectionRow, server: ServerConfigPayload) -> dict[str, str]:
        return {**self._filled(server, server.headers), **self._own(connection).headers}

    async def environment_for(self, connection: ConnectionRow, server: ServerConfigPayload) -> dict[str, str]:
        return {**self._filled(server, server.environment), **self._own(connection).environment}

    def filled_in(self, server: ServerConfigPayload, secret: str) -> str:
        filled = _VARIABLE.sub(lambda found: self._variable(server, found[1]), secret)
        self._secrets.register(filled, "client_secret")
        return filled

    def _own(self, connection: ConnectionRow) -> Kept:
        return self._vault.open(connection.credentials)

    def _filled(self, server: ServerConfigPayload, given: Mapping[str, str]) -> dict[str, str]:
        def value(found: re.Match[str]) -> str:
            return self._variable(server, found[1])

        filled = {name: _VARIABLE.sub(value, text) for name, text in given.items()}
        for name, text in filled.items():
            if _TELLING.search(name):
                learn(self._secrets, text, name)
        return filled

    def _variable(self, server: ServerConfigPayload, name: str) -> str:
        value = self._environ.get(name)
        if value is None:
            raise EngineError(
                ErrorCode.CONFIGURATION_INVALID,
                f"The server {server.server_name!r} needs the environment variable {name}, which is not set.",
            )
        self._secrets.register(value, name)
        return value


def check_login(server: ServerConfigPayload, kept: Kept | None) -> None:
    """Whether what was given is what the server wants."""
    if server.auth_method == "oauth" and kept is not None:
        raise EngineError(
            ErrorCode.INVALID_REQUEST,
            f"The server {server.server_name!r} wants a login and takes no credentials; leave them out and open the"
            " address that the answer names.",
            {"fields": [{"field": "credentials", "problem": "is not taken"}]},
        )
    if server.auth_method == "static" and kept is None:
        wanted = "environment" if server.transport == "stdio" else "headers"
        raise EngineError(
            ErrorCode.INVALID_REQUEST,
            f"The server {server.server_name!r} wants credentials: give `credentials` with `{wanted}`.",
            {"fields": [{"field": "credentials", "problem": f"expected {wanted}"}]},
        )
    for name in (*kept.headers, *kept.environment) if kept is not None else ():
        if not _asked(server, name):
            wanted = ", ".join(server.asks) or "Authorization, or a header that begins with X-"
            raise EngineError(
                ErrorCode.INVALID_REQUEST,
                f"`credentials`: the server {server.server_name!r} does not ask for {name!r}. It takes: {wanted}.",
                {"fields": [{"field": "credentials", "problem": f"{name!r} is not asked for"}]},
            )
    if server.auth_method == "none" and kept is not None:
        raise EngineError(
            ErrorCode.INVALID_REQUEST, f"The server {server.server_name!r} takes no credentials; leave them out."
        )


def _asked(server: ServerConfigPayload, name: str) -> bool:
    """Whether a user may give this: no other variable reaches a program that may hold secrets of the operator's."""
    if server.transport == "stdio" or server.asks:
        return name in server.asks
    return name.lower() == "authorization" or name.lower().startswith("x-")
