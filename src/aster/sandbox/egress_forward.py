"""Plain HTTP through the proxy: one checked request to one host, with what the operator adds to it, and its answer
without what was added. For a host with secrets the request leaves over TLS, although the command wrote `http://`.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any, cast

import httpcore2
import httpx2

from aster.sandbox.egress_ledger import Ledger, Visit
from aster.sandbox.egress_mask import Mask
from aster.sandbox.egress_request import ANSWER_HOP, BadRequest, Request, Unreachable
from aster.sandbox.egress_rules import Injection
from aster.sandbox.reach import Refused
from aster.sandbox.reach_http import guarded_pool

_BODILESS = frozenset((204, 304))


async def forward(request: Request, writer: asyncio.StreamWriter, ledger: Ledger) -> None:
    """Send the request on and the answer back; nothing is written before the destination has answered."""
    url = _whole_address(request)
    port = url.port or (443 if url.scheme == "https" else 80)
    name = ledger.name(url.host, port)
    injection = ledger.rules.injection(name, port)
    scheme, port = (injection.scheme, injection.port) if injection else (url.scheme, port)
    visit = ledger.enter(name, port)
    asked = httpcore2.Request(
        request.method,
        httpcore2.URL(scheme=scheme, host=url.raw_host, port=port, target=url.raw_path),
        headers=[(b"Host", _authority(url, scheme, port)), *_headers(request, injection)],
        content=_sent(request, visit, ledger, writer),
        extensions={"timeout": {"connect": ledger.limits.connect_seconds}},
    )
    async with guarded_pool(ledger.reach) as pool:
        try:
            response = await pool.handle_async_request(asked)
        except Refused as refused:
            raise ledger.refuse(visit, refused.why) from None
        except httpcore2.TimeoutException as error:
            raise TimeoutError from error
        except (httpcore2.NetworkError, httpcore2.ProtocolError) as error:
            raise Unreachable(str(error) or type(error).__name__) from error
        try:
            await _answer(request, response, writer, ledger, visit, Mask(injection.values if injection else ()))
        except (httpcore2.NetworkError, httpcore2.ProtocolError) as error:
            raise ConnectionResetError("the answer was cut short") from error
        finally:
            with contextlib.suppress(httpcore2.NetworkError, httpcore2.ProtocolError):
                await response.aclose()


def _whole_address(request: Request) -> httpx2.URL:
    try:
        url = httpx2.URL(request.target.decode("ascii"))
    except (UnicodeError, httpx2.InvalidURL) as error:
        raise BadRequest(f"the address is not a URL ({error})") from None
    if url.scheme not in ("http", "https") or not url.host:
        raise BadRequest("this is a proxy; ask it for a whole http:// address")
    return url


def _authority(url: httpx2.URL, scheme: str, port: int) -> bytes:
    name = f"[{url.host}]" if ":" in url.host else url.raw_host.decode("ascii")
    return (name if port == (443 if scheme == "https" else 80) else f"{name}:{port}").encode()


def _headers(request: Request, injection: Injection | None) -> list[tuple[bytes, bytes]]:
    """The command's own headers, and over them what the operator adds. The answer must then come readable, so that
    what was added can be kept out of it."""
    if injection is None:
        return request.headers
    added = [(name.encode(), value.encode()) for name, value in injection.headers]
    replaced = {name.lower() for name, _ in added} | {b"accept-encoding"}
    own = [pair for pair in request.headers if pair[0].lower() not in replaced]
    return [*own, *added, (b"Accept-Encoding", b"identity")]


async def _sent(
    request: Request, visit: Visit, ledger: Ledger, writer: asyncio.StreamWriter
) -> AsyncIterator[bytes]:
    if request.waits:
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    async for piece in request.body():
        ledger.count(visit, sent=len(piece))
        yield piece


async def _answer(
    request: Request,
    response: httpcore2.Response,
    writer: asyncio.StreamWriter,
    ledger: Ledger,
    visit: Visit,
    mask: Mask,
) -> None:
    """In chunks where the length is not known, so that an answer cut short is seen to be."""
    head = [b"HTTP/1.1 %d %s" % (response.status, _phrase(response))]
    head += [b"%s: %s" % pair for pair in response.headers if pair[0].lower() not in ANSWER_HOP]
    measured = any(name.lower() == b"content-length" for name, _ in response.headers)
    bodiless = request.method == b"HEAD" or response.status in _BODILESS
    chunked = request.version == "1.1" and not measured and not bodiless
    head += [b"Transfer-Encoding: chunked"] if chunked else []
    writer.write(mask.whole(b"\r\n".join([*head, b"Connection: close", b"", b""])))
    async for piece in response.aiter_stream():
        ledger.count(visit, received=len(piece))
        writer.write(_framed(mask.feed(piece), chunked))
        await writer.drain()
    writer.write(_framed(mask.finish(), chunked) + (b"0\r\n\r\n" if chunked else b""))
    await writer.drain()


def _framed(data: bytes, chunked: bool) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data) if chunked and data else data


def _phrase(response: httpcore2.Response) -> bytes:
    extensions = cast("dict[str, Any]", response.extensions)  # pyright: ignore[reportUnknownMemberType]
    return bytes(extensions.get("reason_phrase", b""))
