"""A place between the brain and its database where a connection is cut at a chosen moment: with the commit never
sent, or with the commit done and its answer lost."""

import asyncio
from typing import Literal, TypeAlias

Loss: TypeAlias = Literal["commit", "answer"]


class Between:
    """Passes everything on, until `lose` says what to lose of the next commit; after that all is well again."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._lose: Loss | None = None
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[None]] = set()
        self.lost = 0

    async def __aenter__(self) -> "Between":
        self._server = await asyncio.start_server(self._pass_on, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in list(self._open):
            task.cancel()
        await asyncio.gather(*self._open, self._server.wait_closed(), return_exceptions=True)

    def url(self, url: str) -> str:
        assert self._server is not None
        return url.replace(f":{self._port}/", f":{self._server.sockets[0].getsockname()[1]}/")

    def lose(self, what: Loss) -> None:
        self._lose = what

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        task.add_done_callback(self._open.discard)
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._port)
        back = asyncio.create_task(_copy(far_reader, writer))
        try:
            await self._forward(reader, far_writer, back)
        finally:
            back.cancel()
            far_writer.close()
            writer.close()
            await asyncio.gather(back, far_writer.wait_closed(), writer.wait_closed(), return_exceptions=True)

    async def _forward(
        self, reader: asyncio.StreamReader, far: asyncio.StreamWriter, back: asyncio.Task[None]
    ) -> None:
        while data := await reader.read(1 << 16):
            lost = self._lose if b"COMMIT\x00" in data else None
            if lost is not None:
                self._lose = None
                self.lost += 1
            if lost == "commit":
                return
            if lost == "answer":
                back.cancel()
                await asyncio.gather(back, return_exceptions=True)
            far.write(data)
            await far.drain()
            if lost == "answer":
                far.write_eof()
                return


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(1 << 16):
        writer.write(data)
        await writer.drain()
    writer.close()
