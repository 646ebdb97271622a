"""Servers as the operator writes them down: `CATALOG_DIR/mcp/<name>.json`, read as a whole or not at all.

A name is part of every tool's name and goes to providers that take few characters, so it is short and plain. What a
user brings is held to more: it is reached over HTTP, with credentials from the vault alone.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import msgspec

from aster.contracts.assets import ServerConfigPayload
from aster.contracts.errors import EngineError, ErrorCode

NAME: Final = re.compile(r"[a-z][a-z0-9]*(?:[_-][a-z0-9]+)*")
NAME_CHARS: Final = 24
MOST_SERVERS: Final = 200
MOST_BYTES: Final = 64_000
LONGEST_SECONDS: Final = 3600.0


def read_servers(directory: Path) -> dict[str, ServerConfigPayload]:
    """Every server of a directory; refused with everything that is wrong."""
    files = sorted(directory.glob("[!.]*.json")) if directory.is_dir() else []
    found: dict[str, ServerConfigPayload] = {}
    problems: dict[str, str] = {}
    if len(files) > MOST_SERVERS:
        problems["mcp"] = f"there are {len(files)} files, and at most {MOST_SERVERS} are read"
    for file in files[:MOST_SERVERS]:
        try:
            found[file.stem] = _read(file)
        except (OSError, ValueError) as error:
            problems[f"mcp/{file.name}"] = str(error)
    if problems:
        listed = "; ".join(f"{name}: {problem}" for name, problem in sorted(problems.items()))
        raise EngineError(ErrorCode.CONFIGURATION_INVALID, f"CATALOG_DIR: {listed}.", {"problems": problems})
    return found


def _read(file: Path) -> ServerConfigPayload:
    if file.is_symlink() or not file.is_file():
        raise ValueError("it is not a file")
    data = file.read_bytes()
    if len(data) > MOST_BYTES:
        raise ValueError(f"it is larger than {MOST_BYTES:,} bytes")
    try:
        fields = msgspec.json.decode(data, type=dict[str, msgspec.Raw])
        fields.setdefault("server_name", msgspec.Raw(msgspec.json.encode(file.stem)))
        server = msgspec.json.decode(msgspec.json.encode(fields), type=ServerConfigPayload)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ValueError(str(error)) from None
    if server.server_name != file.stem:
        raise ValueError(f"it is about the server {server.server_name!r}; call the file {server.server_name}.json")
    problem = unsound(server)
    if problem is not None:
        raise ValueError(problem)
    return server


def unsound(server: ServerConfigPayload) -> str | None:
    """What is wrong with a server's description, if something is."""
    if not NAME.fullmatch(server.server_name) or len(server.server_name) > NAME_CHARS:
        return f"`server_name` must be lowercase letters and digits, joined by single _ or -, {NAME_CHARS} at most"
    if not 0 < server.timeout_seconds <= LONGEST_SECONDS:
        return f"`timeout_seconds` must be between 0 and {LONGEST_SECONDS:g}"
    if server.transport == "stdio":
        if not server.command or server.url is not None:
            return "a server over stdio has a `command` and no `url`"
        if server.auth_method == "oauth" or server.oauth is not None:
            return "a server over stdio has no login; use `auth_method` static or none"
        if server.auth_method == "static" and not server.asks:
            return "with `auth_method` static, `asks` must name the variables that users give"
        if not all(Path(place).is_absolute() for place in server.readable):
            return "`readable` must be absolute paths"
        return None
    if server.command or server.readable or server.environment:
        return "a server over HTTP has a `url`, and no `command`, `readable` or `environment`"
    problem = _unsound_login(server)
    if problem is not None:
        return problem
    place = urlsplit(server.url or "")
    if place.scheme not in ("http", "https") or not place.hostname or place.username or place.password:
        return "`url` must be an http or https address without a user name"
    return None


def _unsound_login(server: ServerConfigPayload) -> str | None:
    given = server.oauth
    if given is None:
        return None
    if server.auth_method != "oauth":
        return "`oauth` goes with `auth_method` oauth"
    if given.client_secret and not given.client_id:
        return "`oauth.client_secret` goes with a `client_id`"
    if given.client_secret and not given.issuer:
        return "`oauth.client_secret` goes with an `issuer`: it is told to nobody else, whomever the server names"
    if given.issuer and urlsplit(given.issuer).scheme not in ("http", "https"):
        return "`oauth.issuer` must be an http or https address"
    return None


def check_own(server: ServerConfigPayload) -> None:
    """Refuse what a user must not bring."""
    problem = unsound(server)
    if problem is None and server.transport == "stdio":
        problem = "`transport` must be http: only the operator can have programs started"
    if problem is None and (server.headers or server.policy or server.effects):
        problem = "`headers`, `policy` and `effects` are the operator's; give credentials with `credentials`"
    if problem is None and server.oauth is not None and (server.oauth.client_secret or server.oauth.issuer):
        problem = "`oauth.client_secret` and `oauth.issuer` are the operator's; give `oauth.client_id` alone"
    if problem is not None:
        raise EngineError(
            ErrorCode.INVALID_REQUEST,
            f"`server_config`: {problem}.",
            {"fields": [{"field": "server_config", "problem": problem}]},
        )


def meant(
    servers: Mapping[str, ServerConfigPayload],
    server_name: str,
    config: ServerConfigPayload | None,
    *,
    own_allowed: bool,
) -> ServerConfigPayload:
    """The server a user wants to connect to: one of the operator's, or the user's own where that is allowed."""
    if config is None:
        server = servers.get(server_name)
        if server is None:
            raise EngineError(
                ErrorCode.NOT_FOUND,
                f"There is no server named {server_name!r}. GET /assets/servers lists them.",
                {"server_name": server_name},
            )
        return server
    if not own_allowed:
        raise EngineError(
            ErrorCode.PERMISSION_DENIED,
            "The operator has not allowed servers of your own (MCP_USER_SERVERS); leave `server_config` out.",
        )
    if server_name in servers:
        raise EngineError(
            ErrorCode.INVALID_REQUEST, f"There is a server named {server_name!r} already; rename yours."
        )
    server = msgspec.structs.replace(config, server_name=server_name, sampling=False)
    check_own(server)
    return server
