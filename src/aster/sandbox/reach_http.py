"""HTTP over guarded connections: httpcore's pool, with the address chosen by `Reach`. It sends no cookies, reads no
proxy from the environment, follows no redirect and keeps nothing open. Loaded by whoever first needs it.
"""

from collections.abc import Iterable
from typing import Any, cast

import httpcore2

from aster.sandbox.reach import Reach

_TOGETHER = 100


def guarded_pool(reach: Reach, kept: int = 0) -> httpcore2.AsyncConnectionPool:
    """Connections where `reach` lets them go; so many are kept open for the next request."""
    return httpcore2.AsyncConnectionPool(
        ssl_context=reach.tls,
        max_connections=_TOGETHER,
        max_keepalive_connections=kept,
        network_backend=_Judged(reach),
    )


class _Judged(httpcore2.AsyncNetworkBackend):
    """httpcore's way to the network, with the address chosen by us."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach
        # Its type is only known where the library's optional part is installed.
        self._network = cast("httpcore2.AsyncNetworkBackend", httpcore2.AnyIOBackend())

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        try:
            found = await self._reach.addresses(self._reach.check_host(host, port), port)
        except OSError as error:
            raise httpcore2.ConnectError(f"{host} cannot be found ({error.strerror or error})") from error
        for address in found[:-1]:
            try:
                return await self._network.connect_tcp(address, port, timeout)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                continue
        return await self._network.connect_tcp(found[-1], port, timeout)

    async def sleep(self, seconds: float) -> None:
        await self._network.sleep(seconds)
