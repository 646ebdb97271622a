"""Connections to where the model or its commands want to go, and never to what lies behind the engine's own walls.

A name is resolved once, every address in the answer is judged, and the connection is made to the judged address
itself: an answer that changes later changes nothing. TLS and the Host header keep the name.
"""

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable
from functools import cached_property
from ipaddress import ip_address, ip_network
from typing import TypeAlias

import httpx2

from aster.infra.settings import Settings
from aster.sandbox.addresses import Network, what_is_inside
from aster.sandbox.hosts import HostPattern, canonical, pattern, patterns

Resolve: TypeAlias = Callable[[str, int], Awaitable[list[str]]]
"""All addresses of a name; `OSError` when there are none."""

_EVERYWHERE: tuple[Network, ...] = (ip_network("0.0.0.0/0"), ip_network("::/0"))


class Refused(Exception):
    """A destination nobody is taken to; `why` is a sentence for the model."""

    def __init__(self, destination: str, why: str) -> None:
        super().__init__(f"{destination}: {why}")
        self.destination = destination
        self.why = why


async def system_resolve(host: str, port: int) -> list[str]:
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(item[4][0]) for item in found))


class Reach:
    """What may be reached, by the operator's settings; `resolve` is asked for names."""

    def __init__(
        self,
        *,
        private: str = "",
        allowed: str = "",
        blocked: str = "",
        resolve: Resolve = system_resolve,
    ) -> None:
        self._allowed = patterns("FETCH_ALLOWED_HOSTS", allowed)
        self._blocked = patterns("FETCH_BLOCKED_HOSTS", blocked)
        self._opened_hosts, self._opened_networks = _opened(private)
        self._resolve = resolve

    @classmethod
    def of(cls, settings: Settings) -> "Reach":
        return cls(
            private=settings.fetch_allowed_private,
            allowed=settings.fetch_allowed_hosts,
            blocked=settings.fetch_blocked_hosts,
        )

    @cached_property
    def tls(self) -> ssl.SSLContext:
        return httpx2.create_ssl_context()

    def check_host(self, host: str, port: int) -> str:
        """The host in its one spelling, if the operator's lists let it pass."""
        name = canonical(host)
        if name is None:
            raise Refused(host, "it is not a plain host name or IP address")
        if any(entry.matches(name) and entry.port in (None, port) for entry in self._blocked):
            raise Refused(name, "the operator has blocked this host")
        if self._allowed and not any(entry.matches(name) and entry.port in (None, port) for entry in self._allowed):
            raise Refused(name, "the operator allows other hosts only")
        return name

    async def addresses(self, name: str, port: int) -> list[str]:
        """Where to connect to; refused when any address of the name leads inside."""
        try:
            found = [str(ip_address(name))]
        except ValueError:
            found = await self._resolve(name, port)
        opened = _EVERYWHERE if any(entry.matches(name) for entry in self._opened_hosts) else ()
        for text in found:
            kind = what_is_inside(ip_address(text.partition("%")[0]), (*self._opened_networks, *opened))
            if kind is not None:
                raise Refused(name, f"it is not on the public internet ({kind} address)")
        return found

    async def connect(self, name: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A plain connection to the first judged address that answers."""
        failure: OSError | None = None
        for address in await self.addresses(name, port):
            try:
                return await asyncio.open_connection(address, port)
            except OSError as error:
                failure = error
        raise failure or OSError(f"{name} has no address")


def _opened(private: str) -> tuple[tuple[HostPattern, ...], tuple[Network, ...]]:
    hosts: list[HostPattern] = []
    networks: list[Network] = []
    for part in (part.strip() for part in private.split(",")):
        if not part:
            continue
        try:
            networks.append(ip_network(part, strict=False))
        except ValueError:
            hosts.append(pattern("FETCH_ALLOWED_PRIVATE", part))
    return tuple(hosts), tuple(networks)
