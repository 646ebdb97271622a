"""No answer over HTTP is endless: not what is encoded, not what is called a stream, not one event of a stream."""

import asyncio
import contextlib
import gzip
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager

import httpx2
import pytest

from aster.asset_directory.http import GuardedTransport
from aster.asset_directory.limits import MESSAGE_BYTES
from aster.sandbox.reach import Reach

EVENTS = "content-type: text/event-stream"
PIECE = b"x" * (1 << 20)
FLOOD = [PIECE] * (MESSAGE_BYTES // len(PIECE) + 1)
EVENT = [*[PIECE] * 9, b"\r", b"\n\r", b"\n"]


@asynccontextmanager
async def asked(
    pieces: Iterable[bytes], *headers: str, status: int = 200, streaming: str = "GET POST"
) -> AsyncGenerator[tuple[httpx2.AsyncClient, list[bytes]]]:
    """A client of a server that answers everything with this, and the heads of the requests."""
    heads: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await reader.readuntil(b"\r\n\r\n"))
        head = "\r\n".join((f"HTTP/1.1 {status} Fine", "connection: close", *headers))
        writer.write(f"{head}\r\n\r\n".encode())
        with contextlib.suppress(OSError):
            for piece in pieces:
                writer.write(piece)
                await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    transport = GuardedTransport(Reach(private="127.0.0.1"), lambda _: None, frozenset(streaming.split()))
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    async with server, httpx2.AsyncClient(transport=transport, base_url=url, trust_env=False) as client:
        yield client, heads


async def test_nothing_encoded_is_asked_for_or_taken() -> None:
    async with asked([gzip.compress(bytes(1 << 20))], "content-encoding: gzip") as (client, heads):
        with pytest.raises(httpx2.ReadError, match="gzip"):
            await client.get("/", headers={"Accept-Encoding": "gzip"})
        assert b"accept-encoding: identity\r\n" in heads[0].lower()
        assert b"gzip" not in heads[0]


@pytest.mark.parametrize(
    ("method", "status", "streaming"),
    [("POST", 500, "GET POST"), ("POST", 200, "GET"), ("DELETE", 200, "GET POST")],
)
async def test_what_is_no_stream_is_limited_whatever_it_is_called(method: str, status: int, streaming: str) -> None:
    async with asked(EVENT * 2, EVENTS, status=status, streaming=streaming) as (client, _):
        with pytest.raises(httpx2.ReadError, match="larger than"):
            await client.request(method, "/")


async def test_a_stream_lasts_and_its_events_are_limited() -> None:
    async with asked(EVENT * 3, EVENTS) as (client, _):
        assert len((await client.post("/")).content) == 3 * (9 * len(PIECE) + 4)
    async with asked([*EVENT, *FLOOD], EVENTS) as (client, _):
        with pytest.raises(httpx2.ReadError, match="larger than"):
            await client.get("/")
