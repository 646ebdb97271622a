"""Patterns for hosts as operators write them: `example.com`, `*.example.com`, `10.0.0.5:8080`, `*`.

A name is compared in one spelling (lower case, no final dot, IDNA), so that no other spelling of it slips past a
rule. `*.example.com` means what is below it, not `example.com` itself.
"""

from dataclasses import dataclass
from ipaddress import ip_address

import httpx2

from aster.contracts.errors import EngineError, ErrorCode

_NAME = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_.")


def canonical(host: str) -> str | None:
    """The one spelling of a host name or address; None for what is neither.

    `127.1`, `0x7f.0.0.1`, `2130706433` and the like are addresses to some programs and names to others: refused.
    """
    text = host.strip("[]").lower() if host.startswith("[") and host.endswith("]") else host.lower()
    try:
        return str(ip_address(text)) if "%" not in text else None
    except ValueError:
        pass
    text = text.removesuffix(".")
    if not text.isascii():
        try:
            text = httpx2.URL(f"http://{text}/").raw_host.decode("ascii")
        except (httpx2.InvalidURL, UnicodeError):
            return None
    labels = text.split(".")
    if len(text) > 253 or not set(text) <= _NAME or not all(0 < len(label) < 64 for label in labels):
        return None
    return None if labels[-1].isdigit() or labels[-1].startswith("0x") else text


@dataclass(frozen=True, slots=True)
class HostPattern:
    """One entry of a list of hosts; without a port it speaks of every port its user thinks of."""

    host: str
    port: int | None = None

    def matches(self, host: str) -> bool:
        if self.host == "*":
            return True
        if self.host.startswith("*."):
            return host.endswith(self.host[1:])
        return host == self.host


def patterns(variable: str, text: str) -> tuple[HostPattern, ...]:
    """A comma-separated list, or an error that names the variable and the entry."""
    return tuple(pattern(variable, part.strip()) for part in text.split(",") if part.strip())


def pattern(variable: str, entry: str) -> HostPattern:
    host, port = split_port(entry)
    name = "*" if host == "*" else canonical(host.removeprefix("*."))
    if name is None or (port is not None and not 0 < port < 65536):
        raise EngineError(
            ErrorCode.CONFIGURATION_INVALID,
            f"{variable}: {entry!r} is not a host. Write example.com, *.example.com or example.com:8443.",
            {variable: entry},
        )
    return HostPattern(f"*.{name}" if host.startswith("*.") else name, port)


def split_port(authority: str) -> tuple[str, int | None]:
    """`host:port`, `[v6]:port` or a bare host; a port that is no number makes the whole a bare host."""
    host, colon, port = authority.rpartition(":")
    if colon and port.isascii() and port.isdigit() and (":" not in host or host.endswith("]")):
        return host, int(port)
    return authority, None
