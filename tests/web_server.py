"""A small web server on loopback that answers byte for byte as a test says, and remembers what it was asked."""

import asyncio
import ssl
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Asked:
    method: str
    target: str
    headers: dict[str, str]
    body: bytes


@dataclass
class WebServer:
    host: str
    port: int
    scheme: str = "http"
    asked: list[Asked] = field(default_factory=list[Asked])

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.host}:{self.port}"


def reply(body: bytes | str = b"", content_type: str = "text/html", status: int = 200, **headers: str) -> bytes:
    data = body.encode() if isinstance(body, str) else body
    lines = [f"HTTP/1.1 {status} Said", f"Content-Length: {len(data)}", f"Content-Type: {content_type}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + data


@asynccontextmanager
async def web_server(
    answer: Callable[[Asked], bytes], host: str = "127.0.0.1", tls: ssl.SSLContext | None = None
) -> AsyncGenerator[WebServer, None]:
    """Serve until the block ends; each connection gets one answer."""
    served = WebServer(host, 0, "https" if tls else "http")

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            first, *lines = head.rstrip("\r\n").split("\r\n")
            method, target, _ = first.split(" ", 2)
            headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
            body = await reader.readexactly(int(headers.get("content-length", 0)))
            if headers.get("transfer-encoding") == "chunked":
                while size := int(await reader.readline(), 16):
                    body += (await reader.readexactly(size + 2))[:-2]
            served.asked.append(Asked(method, target, headers, body))
            writer.write(answer(served.asked[-1]))
            await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(talk, host, 0, ssl=tls)
    served.port = server.sockets[0].getsockname()[1]
    try:
        yield served
    finally:
        server.close()
