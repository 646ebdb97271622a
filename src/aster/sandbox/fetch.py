"""Getting one page for the model: every hop checked, bytes and time limited, nothing sent that was not meant.

The limit holds for what a page unpacks to, so a small answer cannot become a large one in memory.
"""

import asyncio
import zlib
from collections.abc import AsyncGenerator, AsyncIterable
from contextlib import aclosing
from dataclasses import dataclass

import httpcore2
import httpx2

from aster import __version__
from aster.contracts.tools import OutcomeClass
from aster.sandbox.reach import Reach, Refused
from aster.sandbox.reach_http import guarded_pool

PAGE_BYTES = 5_000_000
PAGE_SECONDS = 20.0
REDIRECTS = 5
USER_AGENT = f"Aster/{__version__} (agent engine)"

_HEADERS = {
    "User-Agent": USER_AGENT,
    "Accept": "text/html,application/xhtml+xml,application/pdf;q=0.9,text/*;q=0.9,application/json;q=0.8,*/*;q=0.1",
    "Accept-Language": "en,*;q=0.5",
    "Accept-Encoding": "gzip, deflate",
    "Connection": "close",
}
_MOVED = frozenset((301, 302, 303, 307, 308))
_LATER = frozenset((408, 425, 429))
_CLOSED = frozenset((401, 403, 407, 451))
_URL_CHARS = 8000
_PIECE = 65_536


class FetchFailed(Exception):
    """No page, and what may be done about it. `reason` is a machine word, the message is for the model."""

    def __init__(
        self,
        reason: str,
        message: str,
        failure: OutcomeClass = OutcomeClass.FATAL,
        retry_after: float | None = None,
        status: int | None = None,
    ) -> None:
        super().__init__(message)
        self.reason = reason
        self.failure = failure
        self.retry_after = retry_after
        self.status = status


@dataclass(frozen=True, slots=True)
class Page:
    """What was found at the end of the redirects."""

    url: str
    status: int
    content_type: str
    body: bytes
    hops: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Fetcher:
    """Fetches pages within limits."""

    reach: Reach
    most_bytes: int = PAGE_BYTES
    seconds: float = PAGE_SECONDS

    async def get(self, url: str) -> Page:
        """The page at this address; `Refused` and `FetchFailed` say why there is none."""
        try:
            async with asyncio.timeout(self.seconds), guarded_pool(self.reach) as pool:
                return await self._follow(pool, url)
        except (TimeoutError, httpcore2.TimeoutException):
            text = f"{url} did not answer completely within {self.seconds:g} seconds."
            raise FetchFailed("timeout", text, OutcomeClass.RETRYABLE) from None
        except (httpcore2.NetworkError, OSError) as error:
            raise FetchFailed("unreachable", f"{url}: {error}", OutcomeClass.RETRYABLE) from error
        except httpcore2.ProtocolError as error:
            raise FetchFailed("not_http", f"{url} did not answer with valid HTTP: {error}") from error

    async def _follow(self, pool: httpcore2.AsyncConnectionPool, url: str) -> Page:
        hops: list[str] = []
        where = self.parse(url)
        while True:
            request = httpcore2.URL(
                scheme=where.raw_scheme, host=where.raw_host, port=where.port, target=where.raw_path
            )
            headers: list[tuple[bytes | str, bytes | str]] = [("Host", where.netloc), *_HEADERS.items()]
            async with pool.stream("GET", request, headers=headers) as response:
                location = _header(response, b"location")
                if response.status not in _MOVED or not location:
                    return await self._page(response, where, tuple(hops))
            hops.append(str(where))
            if len(hops) > REDIRECTS:
                raise FetchFailed("too_many_redirects", f"{url}: too many redirects (more than {REDIRECTS}).")
            try:
                where = self.parse(str(where.join(location)))
            except Refused as refused:
                raise Refused(refused.destination, f"{refused.why}; {hops[-1]} redirects there") from None

    def parse(self, url: str) -> httpx2.URL:
        """The address, if it is one that may be fetched as far as can be told before looking up its name."""
        try:
            parsed = httpx2.URL(url.strip())
        except (httpx2.InvalidURL, UnicodeError, ValueError) as error:
            raise Refused(url[:200], f"it is not a valid URL ({error})") from None
        if len(url) > _URL_CHARS:
            raise Refused(url[:200], f"the URL is longer than {_URL_CHARS} characters")
        if parsed.scheme not in ("http", "https"):
            raise Refused(url[:200], "only http and https addresses can be fetched")
        if not parsed.host:
            raise Refused(url[:200], "the URL names no host")
        if parsed.userinfo:
            raise Refused(parsed.host, "a URL with a user name or password in it is not fetched")
        self.reach.check_host(parsed.host, parsed.port or (443 if parsed.scheme == "https" else 80))
        return parsed.copy_with(fragment=None)

    async def _page(self, response: httpcore2.Response, where: httpx2.URL, hops: tuple[str, ...]) -> Page:
        if response.status >= 400:
            raise _failed(response, where)
        length = _header(response, b"content-length")
        if length.isdigit() and int(length) > self.most_bytes:
            raise self._too_large(where)
        body = bytearray()
        encoding = _header(response, b"content-encoding").strip().lower()
        async with aclosing(unpacked(response.aiter_stream(), encoding, self.most_bytes + 1)) as pieces:
            async for piece in pieces:
                body += piece
                if len(body) > self.most_bytes:
                    raise self._too_large(where)
        return Page(str(where), response.status, _header(response, b"content-type"), bytes(body), hops)

    def _too_large(self, where: httpx2.URL) -> FetchFailed:
        return FetchFailed("too_large", f"{where} is larger than {self.most_bytes / 1e6:g} MB and was not read.")


async def unpacked(raw: AsyncIterable[bytes], encoding: str, most: int) -> AsyncGenerator[bytes, None]:
    """The content of an answer in small pieces, whatever it was packed with; at most about `most` bytes."""
    if encoding in ("", "identity"):
        async for piece in raw:
            yield piece
        return
    if encoding not in ("gzip", "x-gzip", "deflate"):
        raise FetchFailed("unsupported_encoding", f"The answer is packed as {encoding!r}, which is not understood.")
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 32) if encoding != "deflate" else None
    total = 0
    try:
        async for packed in raw:
            unpacker = unpacker or zlib.decompressobj(_deflate_window(packed))
            while packed and total < most:
                piece = unpacker.decompress(packed, _PIECE)
                packed = unpacker.unconsumed_tail
                total += len(piece)
                yield piece
            if total >= most or unpacker.eof:
                return
    except zlib.error as error:
        raise FetchFailed("not_http", f"The answer is damaged: {error}.") from error


def _deflate_window(first: bytes) -> int:
    """`deflate` means a zlib stream, but servers also send a bare one."""
    return zlib.MAX_WBITS if first[0] & 0x0F == 8 else -zlib.MAX_WBITS


def _failed(response: httpcore2.Response, where: httpx2.URL) -> FetchFailed:
    status = response.status
    later = status in _LATER or status >= 500
    final = OutcomeClass.FATAL if status in _CLOSED else OutcomeClass.DIAGNOSTIC
    return FetchFailed(
        "http_status",
        f"{where} answered with status {status}.",
        OutcomeClass.RETRYABLE if later else final,
        retry_after(_header(response, b"retry-after")) if later else None,
        status,
    )


def retry_after(value: str) -> float | None:
    """Seconds to wait, when a server gives them as a number."""
    return float(value) if value.isascii() and value.isdigit() and len(value) < 7 else None


def _header(response: httpcore2.Response, name: bytes) -> str:
    return next((value.decode("latin-1") for key, value in response.headers if key.lower() == name), "")
