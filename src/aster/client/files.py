"""Files over the wire: those of a task's workspace, one by one or all as an archive, and files that go with a message.

What is fetched into a file of this machine is there whole or not at all.
"""

import asyncio
import base64
import mimetypes
import os
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import quote

from aster.client.whole_file import whole_file
from aster.client.wire import Payload, Wire, form
from aster.contracts.blocks import AudioBlock, Base64Source, DocumentBlock, ImageBlock, MediaBlock, VideoBlock
from aster.contracts.model import Contract

LocalFile: TypeAlias = str | os.PathLike[str]

_DOCUMENTS = frozenset({"application/pdf", "application/json", "text/csv", "text/html", "text/markdown"})
"""Kinds that an engine knows by their names; every other text is plain."""


class Uploaded(Contract):
    """Where a file is now; `created` is False when it replaced one."""

    path: str
    size: int
    created: bool
    task_id: str
    filename: str = ""


class Loaded(Contract):
    """How many files an archive brought, and the conversation that was kept with it."""

    files: int
    task_id: str
    chat_history: tuple[Any, ...] = ()


class FilesClient:
    """The files of workspaces."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    async def upload(self, task_id: str, file: LocalFile, path: str | None = None) -> Uploaded:
        """Put a file of this machine into a task's workspace, at `path` or by its own name."""
        local = Path(file)
        return await self.write(task_id, path or local.name, await asyncio.to_thread(local.read_bytes))

    async def write(self, task_id: str, path: str, content: bytes | str) -> Uploaded:
        """Put this content into a file of a task's workspace."""
        data = content.encode() if isinstance(content, str) else content
        body = await asyncio.to_thread(form, Path(path).name, data, {"task_id": task_id, "path": path})
        return await self._wire.ask(Uploaded, "POST", "/api/upload", body=body)

    async def read(self, task_id: str, path: str) -> bytes:
        """A file of a task's workspace."""
        async with self._wire.open("GET", _download(path), params={"task_id": task_id}) as response:
            return b"".join([chunk async for chunk in self._wire.chunks(response)])

    async def download(self, task_id: str, path: str, to: LocalFile) -> Path:
        """Fetch a file of a task's workspace into one of this machine."""
        return await self._fetch(_download(path), {"task_id": task_id}, Path(to))

    async def pack(self, task_id: str, to: LocalFile) -> Path:
        """Fetch a whole workspace as a zip archive; its files are below `sandbox/`."""
        return await self._fetch(_workspace(task_id), {}, Path(to))

    async def unpack(self, task_id: str, archive: LocalFile) -> Loaded:
        """Bring such an archive into a task's workspace, all of it or nothing."""
        content = await asyncio.to_thread(Path(archive).read_bytes)
        return await self._wire.ask(Loaded, "POST", _workspace(task_id), body=Payload(content, "application/zip"))

    async def _fetch(self, path: str, params: dict[str, str], to: Path) -> Path:
        async with self._wire.open("GET", path, params=params) as response:
            with whole_file(to) as file:
                async for chunk in self._wire.chunks(response):
                    await asyncio.to_thread(file.write, chunk)
        return to


def attach(file: LocalFile) -> MediaBlock:
    """A file of this machine as a part of a message (`media=[attach("chart.png")]`); text of any kind is a document."""
    path = Path(file)
    data = path.read_bytes()
    kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    match kind.partition("/")[0]:
        case "image":
            return ImageBlock(source=_inline(kind, data))
        case "audio":
            return AudioBlock(source=_inline(kind, data))
        case "video":
            return VideoBlock(source=_inline(kind, data))
        case _:
            told = "text/plain" if kind not in _DOCUMENTS and _is_text(data) else kind
            return DocumentBlock(source=_inline(told, data), title=path.name)


def _inline(kind: str, data: bytes) -> Base64Source:
    return Base64Source(media_type=kind, data=base64.b64encode(data).decode())


def _is_text(data: bytes) -> bool:
    try:
        return "\0" not in data.decode()
    except UnicodeDecodeError:
        return False


def _download(path: str) -> str:
    return f"/api/download/{quote(path)}"


def _workspace(task_id: str) -> str:
    return f"/tasks/{quote(task_id, safe='')}/workspace"
