"""Addresses that a login deals with: compared the way the standards compare them, and none of them taken on trust.

Everything a server names goes over TLS, unless it is on this machine or is what the operator wrote down.
"""

import re
from collections.abc import Iterator
from ipaddress import ip_address
from typing import Final
from urllib.parse import SplitResult, urlsplit

from aster.contracts.errors import EngineError, ErrorCode

_PORTS: Final = {"http": 80, "https": 443}
_LONGEST: Final = 2000
_UNFIT: Final = re.compile(r"[\x00-\x20\x7f\"<>\\^`{|}]")


def split(url: str) -> SplitResult | None:
    """The parts of an http address; None if it is none, or has what a person who reads it could be misled by."""
    if not url.isascii() or _UNFIT.search(url) or len(url) > _LONGEST:
        return None
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018  # raises when it is no number
    except ValueError:
        return None
    plain = parts.scheme in _PORTS and parts.hostname and not parts.username and not parts.password
    return parts if plain and not parts.fragment else None


def origin(url: str) -> str:
    """Scheme, host and port in one spelling; empty for what is no http address."""
    parts = split(url)
    if parts is None:
        return ""
    port = parts.port or _PORTS[parts.scheme]
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return f"{parts.scheme}://{host}" + ("" if port == _PORTS[parts.scheme] else f":{port}")


def on_this_machine(url: str) -> bool:
    parts = split(url)
    name = (parts.hostname or "") if parts else ""
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


def covers(resource: str, url: str) -> bool:
    """Whether a resource is the server at this address: the same origin, and a path that it lies under."""
    named, asked = split(resource), split(url)
    if named is None or asked is None or named.query or origin(resource) != origin(url):
        return False
    above, path = named.path.rstrip("/"), asked.path.rstrip("/")
    return path == above or path.startswith(f"{above}/")


def same(one: str, other: str) -> bool:
    """Whether two names of an authorization server are one, give or take a slash at the end."""
    return one.rstrip("/") == other.rstrip("/")


def resource_documents(url: str) -> Iterator[str]:
    """Where a server says who gives out its tokens, if it does not say where it says so."""
    parts, base = urlsplit(url), origin(url)
    path = parts.path.rstrip("/")
    if path:
        yield f"{base}/.well-known/oauth-protected-resource{path}"
    yield f"{base}/.well-known/oauth-protected-resource"


def issuer_documents(issuer: str) -> Iterator[str]:
    """Where an authorization server describes itself: the word before its path, or (OpenID) after it."""
    base, path = origin(issuer), urlsplit(issuer).path.rstrip("/")
    yield f"{base}/.well-known/oauth-authorization-server{path}"
    yield f"{base}/.well-known/openid-configuration{path}"
    if path:
        yield f"{base}{path}/.well-known/openid-configuration"


def check(url: str, what: str, declared: frozenset[str]) -> str:
    """The address, if a login may go there; `declared` are the origins that the operator wrote down."""
    parts = split(url)
    if parts is None:
        raise refused(f"{what} is not an http address.")
    if parts.scheme == "http" and not on_this_machine(url) and origin(url) not in declared:
        raise refused(f"{what} ({origin(url)}) is not reached over https.")
    return url


def refused(why: str) -> EngineError:
    return EngineError(ErrorCode.MCP_CONNECTION_FAILED, f"The login is refused: {why}")
