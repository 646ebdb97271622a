"""The balancer before real model servers: it spreads, avoids the dead and the draining, and cuts when told."""

import asyncio
import json
from contextlib import AsyncExitStack

import httpx2

from aster.testing import ModelServer
from aster.testing.balancer import Balancer


async def settled(balancer: Balancer, taking: list[bool]) -> None:
    """Wait until the balancer sees its replicas like this."""
    async with asyncio.timeout(10):
        while [one.taking for one in balancer.backends] != taking:
            await asyncio.sleep(0.01)


async def serving(stack: AsyncExitStack, count: int) -> list[ModelServer]:
    return [await stack.enter_async_context(ModelServer()) for _ in range(count)]


async def spread(balancer: Balancer, asks: int) -> list[int]:
    """How many of so many requests, each on a connection of its own and all open at once, each replica got."""
    before = [one.served for one in balancer.backends]
    async with AsyncExitStack() as stack:
        for _ in range(asks):
            client = await stack.enter_async_context(httpx2.AsyncClient(base_url=balancer.url, trust_env=False))
            assert (await client.get("/v1/models")).status_code == 200
    return [one.served - count for one, count in zip(balancer.backends, before, strict=True)]


async def test_connections_are_spread_over_the_replicas() -> None:
    async with AsyncExitStack() as stack:
        servers = await serving(stack, 3)
        balancer = await stack.enter_async_context(Balancer([one.port for one in servers]))
        assert await spread(balancer, 9) == [3, 3, 3]


async def test_a_replica_that_is_gone_gets_nothing_and_is_taken_back() -> None:
    async with AsyncExitStack() as stack:
        stays = (await serving(stack, 1))[0]
        leaves = ModelServer()
        await leaves.__aenter__()
        balancer = await stack.enter_async_context(Balancer([stays.port, leaves.port], every=0.02))
        await leaves.__aexit__(None, None, None)
        assert await spread(balancer, 4) == [4, 0]
        await settled(balancer, [True, False])
        back = await stack.enter_async_context(ModelServer(port=leaves.port))
        assert back.port == leaves.port
        await settled(balancer, [True, True])
        assert sum(await spread(balancer, 4)) == 4


async def test_a_replica_that_drains_keeps_its_connections_and_gets_no_new_ones() -> None:
    async with AsyncExitStack() as stack:
        stays = (await serving(stack, 1))[0]
        fate = {"status": b"200 OK"}

        async def draining(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                while await reader.readuntil(b"\r\n\r\n"):
                    writer.write(b"HTTP/1.1 " + fate["status"] + b"\r\ncontent-length: 2\r\n\r\nok")
            except asyncio.IncompleteReadError:
                writer.close()

        server = await stack.enter_async_context(await asyncio.start_server(draining, "127.0.0.1", 0))
        port = server.sockets[0].getsockname()[1]
        balancer = await stack.enter_async_context(Balancer([stays.port, port], every=0.02))
        async with httpx2.AsyncClient(base_url=balancer.url, trust_env=False) as client:
            balancer.backends[0].taking = False
            assert (await client.get("/any")).text == "ok"
            fate["status"] = b"503 Service Unavailable"
            await settled(balancer, [True, False])
            assert (await client.get("/any")).text == "ok"
        assert await spread(balancer, 3) == [3, 0]


async def test_a_replica_that_hangs_loses_its_connections() -> None:
    silent = asyncio.Event()

    async def hanging(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await silent.wait()
        writer.close()

    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(await asyncio.start_server(hanging, "127.0.0.1", 0))
        port = server.sockets[0].getsockname()[1]
        balancer = await stack.enter_async_context(Balancer([port], every=0.02, patience=0.1))
        reader, writer = await asyncio.open_connection("127.0.0.1", balancer.port)
        writer.write(b"GET / HTTP/1.1\r\n\r\n")
        async with asyncio.timeout(5):
            try:
                assert await reader.read() == b""
            except ConnectionResetError:
                pass
        silent.set()
        writer.close()


async def test_a_stream_passes_as_it_comes_and_is_cut_when_told() -> None:
    async with AsyncExitStack() as stack:
        servers = await serving(stack, 1)
        balancer = await stack.enter_async_context(Balancer([servers[0].port]))
        client = await stack.enter_async_context(httpx2.AsyncClient(base_url=balancer.url, trust_env=False))
        body = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "[[text=5000 rate=100]]"}]}
        async with client.stream("POST", "/v1/chat/completions", content=json.dumps(body)) as answer:
            chunks = answer.aiter_raw()
            assert b"data:" in await anext(chunks)
            assert balancer.cut(1.0) >= 1
            try:
                async for _ in chunks:
                    pass
                raise AssertionError("the stream went on to its end")
            except httpx2.TransportError:
                pass


async def test_a_large_answer_is_not_held_in_memory_for_a_slow_reader() -> None:
    sent = 0

    async def pouring(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        if (await reader.readuntil(b"\r\n\r\n")).startswith(b"GET /health"):
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
            writer.close()
            return
        for _ in range(2000):
            writer.write(b"x" * 65536)
            await writer.drain()
            sent += 1
        writer.close()

    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(await asyncio.start_server(pouring, "127.0.0.1", 0))
        balancer = await stack.enter_async_context(Balancer([server.sockets[0].getsockname()[1]]))
        reader, writer = await asyncio.open_connection("127.0.0.1", balancer.port)
        writer.write(b"GET / HTTP/1.1\r\n\r\n")
        await reader.readexactly(10)
        held = -1
        while held != sent:
            held = sent
            await asyncio.sleep(0.1)
        assert held < 1000, "nobody reads, and yet it was taken"
        assert len(await reader.read(-1)) + 10 == 2000 * 65536
        writer.close()
