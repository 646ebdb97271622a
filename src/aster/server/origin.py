"""Which web pages may talk to the engine, and which names it goes by when it has no key.

A browser lets any page send requests to a loopback port; a page of a foreign origin is refused before anything
else is looked at, and without a key only a loopback name in `Host` is believed (DNS rebinding).
"""

from collections.abc import Mapping
from ipaddress import ip_address
from urllib.parse import urlsplit

from aster.contracts.errors import EngineError, ErrorCode

Header = tuple[bytes, bytes]

_METHODS = b"GET, POST, PUT, DELETE, OPTIONS"
_ACCEPTED = b"Authorization, Content-Type, Last-Event-ID, X-Engine-Key, X-Ghost-Key, X-Request-ID"
_EXPOSED = b"Retry-After, X-Aster-Warning, X-Message-ID, X-Request-ID, X-Task-ID, X-Turn-ID"
_PREFLIGHT_SECONDS = b"600"


def is_loopback(host: str) -> bool:
    """Whether a host name or address (without port) can only mean this machine."""
    name = host.rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ip_address(name.strip("[]")).is_loopback
    except ValueError:
        return False


def host_name(header: str) -> str:
    """The name in a `Host` header, without the port; empty when it makes no sense."""
    try:
        return urlsplit(f"//{header}").hostname or ""
    except ValueError:
        return ""


class Origins:
    """The origins an operator has allowed; the engine's own is always among them."""

    def __init__(self, allowed: frozenset[str]) -> None:
        self._allowed = frozenset(_checked(origin) for origin in allowed)

    def admit(self, headers: Mapping[bytes, bytes]) -> bytes | None:
        """The foreign origin this request may be answered to, None when it comes from no foreign page."""
        raw = headers.get(b"origin")
        if raw is None:
            return None
        origin = raw.decode("latin-1").lower()
        if origin in self._allowed:
            return raw
        host = headers.get(b"host", b"").decode("latin-1").lower()
        if host and origin in (f"http://{host}", f"https://{host}"):
            return None
        raise EngineError(
            ErrorCode.ORIGIN_REFUSED,
            "A page of this origin may not call the engine. Add the origin to ALLOWED_ORIGINS if it should.",
            {"origin": origin[:256]},
        )

    def headers(self, admitted: bytes | None) -> list[Header]:
        """What every answer says about who may read it."""
        if admitted is None:
            return [(b"vary", b"Origin")] if self._allowed else []
        return [
            (b"vary", b"Origin"),
            (b"access-control-allow-origin", admitted),
            (b"access-control-expose-headers", _EXPOSED),
        ]


def preflight() -> list[Header]:
    """The answer to a browser that asks before it sends; who may is said by `Origins.headers`."""
    return [
        (b"access-control-allow-methods", _METHODS),
        (b"access-control-allow-headers", _ACCEPTED),
        (b"access-control-max-age", _PREFLIGHT_SECONDS),
    ]


def _checked(origin: str) -> str:
    parts = urlsplit(origin)
    if parts.scheme and parts.netloc and origin == f"{parts.scheme}://{parts.netloc}":
        return origin.lower()
    raise EngineError(
        ErrorCode.CONFIGURATION_INVALID,
        f"ALLOWED_ORIGINS: {origin!r} is not an origin. Write scheme://host or scheme://host:port, without a path;"
        " there is no wildcard.",
        {"ALLOWED_ORIGINS": origin},
    )
