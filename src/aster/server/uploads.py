"""Bodies that are files: which routes take them, and files on their way out.

Everywhere else a body is JSON; the guard asks here before it lets anything else through. What leaves is always a
download, never a page of this server.
"""

import asyncio
import logging
import re
from collections.abc import Callable, Mapping
from typing import BinaryIO, Final
from urllib.parse import quote

from fastapi.responses import Response
from starlette.types import Message, Receive, Scope, Send

log = logging.getLogger("aster.server")

_FORM: Final = "multipart/form-data"
_ZIP: Final = "application/zip"
_FORMS: Final = frozenset({"/api/upload", "/api/workspace/load"})
_WORKSPACE: Final = re.compile(r"/tasks/[^/]+/workspace")
_PIECE: Final = 1 << 18
SEND_SECONDS: Final = 60.0
"""How long a client may take for one piece."""


def taken(path: str, headers: Mapping[bytes, bytes]) -> bool:
    """Whether a route takes a body of this kind that is not JSON."""
    kind = headers.get(b"content-type", b"").decode("latin-1").lower().partition(";")[0].strip()
    return (kind == _FORM and path in _FORMS) or (kind == _ZIP and _WORKSPACE.fullmatch(path) is not None)


class FileStream(Response):
    """Sends a file and closes it, also when nobody takes it; `done` is called when it is closed."""

    media_type = "application/octet-stream"

    def __init__(
        self,
        file: BinaryIO,
        size: int,
        name: str,
        media_type: str | None = None,
        *,
        done: Callable[[], None] | None = None,
        patience: float = SEND_SECONDS,
    ) -> None:
        headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}"}
        super().__init__(None, headers=headers, media_type=media_type)
        self.headers["content-length"] = str(size)
        self._file = file
        self._left = size
        self._done = done
        self._patience = patience

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def patiently(message: Message) -> None:
            async with asyncio.timeout(self._patience):
                await send(message)

        try:
            with self._file:
                await self._pieces(patiently)
        except TimeoutError:
            log.info("a client does not read the file it asked for; its connection is closed")
        finally:
            if self._done is not None:
                self._done()

    async def _pieces(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        while self._left:
            piece = await asyncio.to_thread(self._file.read, min(_PIECE, self._left))
            if not piece:
                break
            self._left -= len(piece)
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})
