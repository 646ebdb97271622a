"""Where commands may go and what is added on the way, as the operator wrote it down.

Nothing is allowed that is not listed. A secret is bound to hosts and goes out over TLS, unless its entry says
`http://` in so many words.
"""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from aster.contracts.errors import EngineError, ErrorCode
from aster.infra.settings import Settings
from aster.sandbox.hosts import HostPattern, pattern, patterns

_USUAL_PORTS = (80, 443)
_REFERENCE = re.compile(r"\$\{(\w+)\}")
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_WORTH_HIDING = 6


@dataclass(frozen=True, slots=True)
class Injection:
    """Headers that are set on every request to a host; `scheme` and `port` are how the host is then spoken to."""

    pattern: HostPattern
    scheme: str
    port: int
    headers: tuple[tuple[str, str], ...]

    def holds(self, host: str, port: int) -> bool:
        return self.pattern.matches(host) and port in (80 if self.pattern.port is None else self.port, self.port)

    @property
    def values(self) -> tuple[bytes, ...]:
        """What must not come back: each value, and the words of it (a token after `Bearer`), longest first."""
        words = {
            word for _, value in self.headers for word in (value, *value.split()) if len(word) >= _WORTH_HIDING
        }
        return tuple(word.encode("latin-1") for word in sorted(words, key=len, reverse=True))


@dataclass(frozen=True, slots=True)
class EgressRules:
    """All of them, read once at start."""

    allowed: tuple[HostPattern, ...]
    injections: tuple[Injection, ...] = ()

    @classmethod
    def of(cls, settings: Settings) -> "EgressRules":
        given = settings.egress_secrets
        return cls(
            patterns("EGRESS_ALLOW", settings.egress_allow),
            read_injections(given.get_secret_value(), os.environ) if given else (),
        )

    def permit(self, host: str, port: int) -> bool:
        return any(
            entry.matches(host) and (port == entry.port if entry.port else port in _USUAL_PORTS)
            for entry in self.allowed
        )

    def injection(self, host: str, port: int) -> Injection | None:
        return next((entry for entry in self.injections if entry.holds(host, port)), None)


def read_injections(text: str, environ: Mapping[str, str]) -> tuple[Injection, ...]:
    """EGRESS_SECRETS: JSON, or the path of a file with it; `${NAME}` stands for an environment variable."""
    source = text if text.lstrip().startswith("{") else _file(text)
    try:
        read: object = json.loads(source)
    except ValueError as error:
        raise _wrong(f"it is neither JSON nor a file with JSON ({error})") from None
    if not isinstance(read, dict):
        raise _wrong("the outermost value must be an object of hosts")
    hosts = cast("dict[str, object]", read)
    return tuple(_injection(key, headers, environ) for key, headers in hosts.items())


def _file(path: str) -> str:
    try:
        return Path(path).expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        raise _wrong(f"the file cannot be read ({error})") from None


def _injection(key: str, headers: object, environ: Mapping[str, str]) -> Injection:
    scheme, separator, host = key.partition("://")
    if not separator:
        scheme, host = "https", key
    if scheme not in ("http", "https"):
        raise _wrong(f"{key!r} begins with a scheme that is neither http nor https")
    where = pattern("EGRESS_SECRETS", host)
    if not isinstance(headers, dict) or not headers:
        raise _wrong(f"{key!r} needs an object of header names and values")
    given = cast("dict[str, object]", headers)
    found = tuple((name, _value(key, name, value, environ)) for name, value in given.items())
    return Injection(where, scheme, where.port or (443 if scheme == "https" else 80), found)


def _value(key: str, name: str, value: object, environ: Mapping[str, str]) -> str:
    if not isinstance(value, str) or not _HEADER_NAME.fullmatch(name):
        raise _wrong(f"{key!r}: header {name!r} must be a plain name with a text as its value")
    missing = [variable for variable in _REFERENCE.findall(value) if not environ.get(variable)]
    if missing:
        raise _wrong(f"{key!r}: header {name!r} needs the environment variable {missing[0]}, which is not set")
    filled = _REFERENCE.sub(lambda found: environ[found[1]], value).strip()
    if not filled.isprintable() or not filled.isascii():
        raise _wrong(f"{key!r}: the value of header {name!r} must be one line of plain characters")
    return filled


def _wrong(problem: str) -> EngineError:
    example = '{"api.example.com": {"Authorization": "Bearer ${EXAMPLE_TOKEN}"}}'
    return EngineError(
        ErrorCode.CONFIGURATION_INVALID,
        f"EGRESS_SECRETS: {problem}. Write it like {example}.",
        {"EGRESS_SECRETS": problem},
    )
