"""HTTP as providers really speak it: chunked or not, kept or closed, complete or broken."""

import asyncio
import socket

import httpx2
import pytest

from aster.herald.transport import KeepAliveTransport
from tests.herald.conftest import RawServer

_OK = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"


def _request(url: str, body: bytes = b"{}", first: float = 5.0, idle: float = 5.0) -> httpx2.Request:
    timeout = {"connect": 5.0, "read": first}
    return httpx2.Request("POST", url, content=body, extensions={"timeout": timeout, "idle_timeout": idle})


async def _head(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
    return head + await reader.readexactly(length)


async def _read(transport: KeepAliveTransport, request: httpx2.Request) -> tuple[int, bytes]:
    response = await transport.handle_async_request(request)
    assert isinstance(response.stream, httpx2.AsyncByteStream)
    return response.status_code, b"".join([part async for part in response.stream])


def _chunked(*parts: bytes) -> bytes:
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


@pytest.mark.parametrize(
    "answer",
    [
        _OK + b"transfer-encoding: chunked\r\n\r\n" + _chunked(b"one", b"two"),
        _OK + b"content-length: 6\r\n\r\nonetwo",
        _OK + b"\r\nonetwo",
        b"HTTP/1.0 200 OK\r\n\r\nonetwo",
        b"HTTP/1.1 100 Continue\r\n\r\n" + _OK + b"content-length: 6\r\n\r\nonetwo",
        b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n" + _OK + b"content-length: 6\r\n\r\nonetwo",
    ],
)
@pytest.mark.parametrize("step", [1, 7, 10_000])
async def test_every_framing_in_every_cut(raw_server: RawServer, answer: bytes, step: int) -> None:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await _head(reader)
        for start in range(0, len(answer), step):
            writer.write(answer[start : start + step])
            await asyncio.sleep(0)

    async with raw_server(handle) as url:
        transport = KeepAliveTransport()
        assert await _read(transport, _request(url)) == (200, b"onetwo")
        await transport.aclose()


async def test_the_request_as_it_goes_out(raw_server: RawServer) -> None:
    heard: list[bytes] = []

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await _head(reader))
        writer.write(_OK + b"content-length: 0\r\n\r\n")

    async with raw_server(handle) as url:
        transport = KeepAliveTransport()
        assert await _read(transport, _request(url + "/v1/x?y=1", b'{"a":1}')) == (200, b"")
        await transport.aclose()
    head, _, body = heard[0].partition(b"\r\n\r\n")
    first, *lines = head.decode().lower().split("\r\n")
    assert first == "post /v1/x?y=1 http/1.1"
    assert sorted(line.partition(":")[0] for line in lines) == ["content-length", "host"]
    assert body == b'{"a":1}'


async def test_all_of_one_network_read_comes_together(raw_server: RawServer) -> None:
    parts = [b"data: %d\n\n" % number for number in range(500)]

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await _head(reader)
        writer.write(_OK + b"transfer-encoding: chunked\r\n\r\n" + _chunked(*parts))
        await writer.drain()
        await reader.read()

    async with raw_server(handle) as url:
        transport = KeepAliveTransport()
        response = await transport.handle_async_request(_request(url))
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        reads = [part async for part in response.stream]
        await transport.aclose()
    assert b"".join(reads) == b"".join(parts)
    assert len(reads) <= 5


async def test_a_reader_that_waits_holds_the_sender(raw_server: RawServer) -> None:
    total = 20_000_000
    sent = 0

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        await _head(reader)
        writer.write(_OK + b"content-length: %d\r\n\r\n" % total)
        while sent < total:
            writer.write(b"x" * 100_000)
            sent += 100_000
            await writer.drain()

    async with raw_server(handle) as url:
        transport = KeepAliveTransport()
        response = await transport.handle_async_request(_request(url))
        settled = -1
        while settled != sent:
            settled = sent
            await asyncio.sleep(0.05)
        assert sent < total
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        assert sum([len(part) async for part in response.stream]) == total
        await transport.aclose()


async def _count_connections(raw_server: RawServer, answer: bytes, calls: int = 3) -> int:
    connections = 0

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        while True:
            await _head(reader)
            writer.write(answer)

    async with raw_server(handle) as url:
        transport = KeepAliveTransport()
        for _ in range(calls):
            assert await _read(transport, _request(url)) == (200, b"ok")
            await asyncio.sleep(0.01)
        await transport.aclose()
    return connections


async def test_connections_are_reused_when_they_may_be(raw_server: RawServer) -> None:
    kept = _OK + b"content-length: 2\r\n\r\nok"
    assert await _count_connections(raw_server, kept) == 1
    assert await _count_connections(raw_server, _OK + b"transfer-encoding: chunked\r\n\r\n" + _chunked(b"ok")) == 1
    assert await _count_connections(raw_server, _OK + b"connection: close\r\ncontent-length: 2\r\n\r\nok") == 3
    assert await _count_connections(raw_server, kept + b"unasked") == 3


async def test_a_connection_the_server_closed_is_not_used_again(raw_server: RawServer) -> None:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await _head(reader)
        writer.write(_OK + b"content-length: 2\r\n\r\nok")

    async with raw_server(handle) as url:
        transport = KeepAliveTransport()
        for _ in range(3):
            assert await _read(transport, _request(url)) == (200, b"ok")
            await asyncio.sleep(0.02)
        await transport.aclose()


async def test_unasked_bytes_end_a_resting_connection(raw_server: RawServer) -> None:
    speak, left = asyncio.Event(), asyncio.Event()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await _head(reader)
        writer.write(_OK + b"content-length: 2\r\n\r\nok")
        await speak.wait()
        writer.write(b"HTTP/1.1 408 Request Timeout\r\n\r\n")
        await reader.read()
        left.set()

    async with raw_server(handle) as url:
        transport = KeepAliveTransport()
        assert await _read(transport, _request(url)) == (200, b"ok")
        speak.set()
        await asyncio.wait_for(left.wait(), 5)
        assert await _read(transport, _request(url)) == (200, b"ok")
        await transport.aclose()


async def test_concurrent_requests_have_a_connection_each(raw_server: RawServer) -> None:
    waiting = 0
    all_here = asyncio.Event()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal waiting
        while True:
            await _head(reader)
            waiting += 1
            if waiting == 50:
                all_here.set()
            await all_here.wait()
            writer.write(_OK + b"content-length: 2\r\n\r\nok")

    async with raw_server(handle) as url:
        transport = KeepAliveTransport()
        answers = await asyncio.gather(*(_read(transport, _request(url)) for _ in range(50)))
        assert answers == [(200, b"ok")] * 50
        await transport.aclose()


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (b"", httpx2.ReadError),
        (b"HTTP/1.1 20", httpx2.ReadError),
        (_OK + b"content-length: 9\r\n\r\nshort", httpx2.ReadError),
        (_OK + b"transfer-encoding: chunked\r\n\r\n5\r\nab", httpx2.ReadError),
        (b"SSH-2.0-OpenSSH\r\n", httpx2.RemoteProtocolError),
        (_OK + b"transfer-encoding: chunked\r\n\r\nzz\r\n", httpx2.RemoteProtocolError),
        (
            b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n",
            httpx2.RemoteProtocolError,
        ),
    ],
)
async def test_broken_answers(raw_server: RawServer, answer: bytes, kind: type[Exception]) -> None:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await _head(reader)
        writer.write(answer)
        await writer.drain()

    async with raw_server(handle) as url:
        transport = KeepAliveTransport()
        with pytest.raises(kind):
            await _read(transport, _request(url))
        await transport.aclose()


async def test_nobody_listens() -> None:
    transport = KeepAliveTransport()
    with pytest.raises(httpx2.ConnectError):
        await _read(transport, _request("http://127.0.0.1:9"))
    with pytest.raises(httpx2.ConnectError):
        await _read(transport, _request(f"http://{'x' * 70}.invalid"))


async def test_a_host_that_does_not_answer() -> None:
    with socket.socket() as deaf, socket.socket() as one, socket.socket() as two:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen(0)
        for client in (one, two):
            client.setblocking(False)
            client.connect_ex(deaf.getsockname())
        request = _request(f"http://127.0.0.1:{deaf.getsockname()[1]}")
        request.extensions["timeout"]["connect"] = 0.05
        with pytest.raises(httpx2.ConnectTimeout):
            await _read(KeepAliveTransport(), request)


async def test_tls_is_spoken_where_it_is_asked_for(raw_server: RawServer) -> None:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        hello = await reader.readexactly(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n" if hello == b"\x16" else b"")

    async with raw_server(handle) as url:
        transport = KeepAliveTransport()
        with pytest.raises(httpx2.ConnectError):
            await _read(transport, _request(url.replace("http:", "https:")))


@pytest.mark.parametrize(
    ("start", "first", "idle", "said"),
    [
        (b"", 0.05, 9.0, "sent no answer for 0.05 s"),
        (_OK + b"content-length: 9\r\n\r\n", 0.05, 9.0, "sent no answer for 0.05 s"),
        (_OK + b"content-length: 9\r\n\r\nab", 9.0, 0.05, "was silent for 0.05 s"),
    ],
)
async def test_silence(raw_server: RawServer, start: bytes, first: float, idle: float, said: str) -> None:
    left = asyncio.Event()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await _head(reader)
        writer.write(start)
        await reader.read()
        left.set()

    async with raw_server(handle) as url:
        transport = KeepAliveTransport()
        with pytest.raises(httpx2.ReadTimeout, match=said):
            await _read(transport, _request(url, first=first, idle=idle))
        await asyncio.wait_for(left.wait(), 5)
        await transport.aclose()


async def test_a_slow_but_steady_stream_is_not_silent(raw_server: RawServer) -> None:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await _head(reader)
        writer.write(_OK + b"content-length: 8\r\n\r\n")
        for _ in range(8):
            writer.write(b"x")
            await asyncio.sleep(0.07)

    async with raw_server(handle) as url:
        transport = KeepAliveTransport()
        assert await _read(transport, _request(url, first=1.0, idle=0.4)) == (200, b"x" * 8)
        await transport.aclose()


async def test_a_busy_reader_is_not_the_providers_silence(raw_server: RawServer) -> None:
    go_on = asyncio.Event()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await _head(reader)
        writer.write(_OK + b"content-length: 2\r\n\r\na")
        await go_on.wait()
        writer.write(b"b")

    async with raw_server(handle) as url:
        transport = KeepAliveTransport()
        response = await transport.handle_async_request(_request(url, idle=0.05))
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        parts = aiter(response.stream)
        assert await anext(parts) == b"a"
        await asyncio.sleep(0.15)
        go_on.set()
        assert await anext(parts) == b"b"
        await transport.aclose()


async def test_bytes_that_came_before_a_break_are_read_first(raw_server: RawServer) -> None:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await _head(reader)
        writer.write(_OK + b"content-length: 9\r\n\r\nabc")
        await writer.drain()
        writer.transport.abort()

    async with raw_server(handle) as url:
        transport = KeepAliveTransport()
        response = await transport.handle_async_request(_request(url))
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        parts = aiter(response.stream)
        assert await anext(parts) == b"abc"
        with pytest.raises(httpx2.ReadError):
            await anext(parts)


async def test_a_kept_connection_that_the_server_gave_up_is_replaced(raw_server: RawServer) -> None:
    """The server promises to keep it and hangs up on the next request: that one is sent again, once."""
    requests: list[int] = []

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        requests.append(1)
        await _head(reader)
        writer.write(_OK + b"content-length: 2\r\n\r\nok")
        await _head(reader)
        requests.append(2)

    async with raw_server(handle) as url:
        transport = KeepAliveTransport()
        assert await _read(transport, _request(url)) == (200, b"ok")
        assert await _read(transport, _request(url)) == (200, b"ok")
        assert requests == [1, 2, 1]
        await transport.aclose()


async def test_an_answer_that_had_begun_is_not_asked_for_again(raw_server: RawServer) -> None:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await _head(reader)
        writer.write(_OK + b"content-length: 2\r\n\r\nok")
        await _head(reader)
        writer.write(b"HTTP/1.1 200 OK\r\n")
        await writer.drain()

    async with raw_server(handle) as url:
        transport = KeepAliveTransport()
        assert await _read(transport, _request(url)) == (200, b"ok")
        with pytest.raises(httpx2.ReadError):
            await _read(transport, _request(url))
        await transport.aclose()
