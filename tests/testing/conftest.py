"""A running server, the providers' own clients as judges of what it sends, and a client that hides nothing."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
from anthropic import AsyncAnthropic
from openai import AsyncOpenAI

from aster.testing import ModelServer


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as running:
        yield running


@pytest.fixture
async def claude(server: ModelServer) -> AsyncIterator[AsyncAnthropic]:
    plain = httpx2.AsyncClient(verify=False)  # no certificates to load for loopback
    async with AsyncAnthropic(base_url=server.url, api_key="test-key", max_retries=0, http_client=plain) as client:
        yield client


@pytest.fixture
async def gpt(server: ModelServer) -> AsyncIterator[AsyncOpenAI]:
    plain = httpx2.AsyncClient(verify=False)
    url = server.url + "/v1"
    async with AsyncOpenAI(base_url=url, api_key="test-key", max_retries=0, http_client=plain) as client:
        yield client


class RawAnswer:
    """What the server wrote on one connection until it ended."""

    def __init__(self, data: bytes) -> None:
        self.head, _, rest = data.partition(b"\r\n\r\n")
        self.status = int(self.head.split()[1])
        self.chunks: list[bytes] = []
        self.complete = not self.is_chunked or rest.endswith(b"0\r\n\r\n")
        self.body = self._read_chunks(rest) if self.is_chunked else rest

    @property
    def is_chunked(self) -> bool:
        return b"transfer-encoding: chunked" in self.head

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    def _read_chunks(self, rest: bytes) -> bytes:
        while rest:
            size, _, rest = rest.partition(b"\r\n")
            self.chunks.append(rest[: int(size, 16)])
            rest = rest[int(size, 16) + 2 :]
        return b"".join(self.chunks)


class RawHttp:
    """HTTP with nothing between the test and the socket; every connection it opened is closed at the end."""

    def __init__(self, server: ModelServer) -> None:
        self._server = server
        self._writers: list[asyncio.StreamWriter] = []

    async def open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._server.port)
        self._writers.append(writer)
        return reader, writer

    async def call(self, path: str, body: Any = None, *, method: str = "POST") -> RawAnswer:
        reader, writer = await self.open()
        writer.write(self.request(path, body, method=method))
        return RawAnswer(await asyncio.wait_for(reader.read(), 10))

    async def anthropic(self, text: str, *, stream: bool = True, **fields: Any) -> RawAnswer:
        return await self.call("/v1/messages", self.ask(text, stream=stream, **fields))

    async def openai(self, text: str, *, stream: bool = True, **fields: Any) -> RawAnswer:
        return await self.call("/v1/chat/completions", self.ask(text, stream=stream, **fields))

    async def close(self) -> None:
        for writer in self._writers:
            writer.close()
        await asyncio.gather(*(w.wait_closed() for w in self._writers), return_exceptions=True)

    @staticmethod
    def ask(text: str, *, stream: bool = True, **fields: Any) -> dict[str, Any]:
        """A request body that both protocols accept."""
        messages = [{"role": "user", "content": text}]
        return {"model": "m", "max_tokens": 100, "stream": stream, "messages": messages, **fields}

    @staticmethod
    def request(path: str, body: Any = None, *, method: str = "POST", close: bool = True) -> bytes:
        data = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        last = "connection: close\r\n" if close else ""
        head = f"{method} {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {len(data)}\r\n{last}\r\n"
        return head.encode() + data


@pytest.fixture
async def raw(server: ModelServer) -> AsyncIterator[RawHttp]:
    client = RawHttp(server)
    yield client
    await client.close()
