"""The desk: what is attached to a message passes here once, before a turn begins with it.

An address never leads into the engine's own network. What a flag asks for is done here (types told by content, sizes,
smaller pictures, long texts put into parts), so that everything behind it, a restart and a retry included, sees the
same blocks. What is wrong is the sender's to correct: it is refused by the number of its block, and no turn begins.
"""

import asyncio
import base64
import binascii
from importlib.util import find_spec
from typing import Final

from msgspec.structs import replace

from aster.contracts.blocks import (
    AudioBlock,
    Base64Source,
    DocumentBlock,
    FileBlock,
    ImageBlock,
    MediaBlock,
    TextBlock,
    UrlSource,
    VideoBlock,
)
from aster.contracts.errors import EngineError, ErrorCode
from aster.herald.image_size import image_size
from aster.infra.secrets import Secrets
from aster.infra.settings import Settings
from aster.media.ingestion import Ingestion
from aster.media.pictures import NotAPicture, smaller
from aster.media.sniffing import sniffed
from aster.memory.memory import Memory
from aster.sandbox.fetch import Fetcher, FetchFailed
from aster.sandbox.identity import Identity
from aster.sandbox.reach import Reach, Refused
from aster.utility_directory.web_reading import NotReadable, read_pdf

IMAGE_BYTES: Final = 5_000_000
IMAGE_EDGE: Final = 8_000
FILE_BYTES: Final = 20_000_000
PDF: Final = "application/pdf"
WORKERS: Final = 4
"""Pictures and PDFs that are taken apart at the same time, each in a process of its own."""
FETCHES: Final = 4
"""Addresses that are fetched at the same time, whoever sent them."""
_LOOKUP_SECONDS: Final = 2.0
_HEAD: Final = 65_536
_PREFIXES: Final[dict[type[FileBlock], tuple[str, ...]]] = {
    ImageBlock: ("image/",),
    DocumentBlock: ("text/", PDF),
    AudioBlock: ("audio/", "video/mp4", "video/webm"),
    VideoBlock: ("video/",),
}
_KINDS: Final[dict[type[FileBlock], str]] = {
    ImageBlock: "a PNG, JPEG, WebP or GIF image",
    DocumentBlock: "a PDF or text",
    AudioBlock: "an audio recording",
    VideoBlock: "a video",
}


class Room:
    """How many bytes the files of one request may still have, together."""

    def __init__(self, most: int) -> None:
        self._most = self._left = most

    def take(self, block: FileBlock, field: str) -> None:
        if not isinstance(block.source, Base64Source):
            return
        self._left -= len(block.source.data) * 3 // 4
        if self._left < 0:
            raise _too_large(
                field, f"is one too many: all files may have {self._most:,} bytes together (MAX_REQUEST_BYTES)"
            )


class MediaDesk:
    """`reads_pdf`: every model that may answer reads PDF files by itself, so nobody needs their text."""

    def __init__(
        self, settings: Settings, memory: Memory, secrets: Secrets, identity: Identity | None, *, reads_pdf: bool
    ) -> None:
        self._checks = settings.media_presend_validation_enabled
        self._resizes = settings.media_image_resize_enabled
        if self._resizes and find_spec("PIL") is None:
            problem = "Install the `media` extra (pip install 'aster-engine[media]'), or set it to false."
            raise EngineError(
                ErrorCode.CONFIGURATION_INVALID,
                f"MEDIA_IMAGE_RESIZE_ENABLED needs a library that is not there. {problem}",
                {"MEDIA_IMAGE_RESIZE_ENABLED": problem},
            )
        self.ingestion = Ingestion(settings, memory) if settings.content_ingestion_enabled else None
        self._longest = settings.content_ingestion_chars
        self._secrets = secrets
        self._identity = identity
        self._reads = not reads_pdf or self.ingestion is not None
        self._workers = asyncio.Semaphore(WORKERS)
        self._fetches = asyncio.Semaphore(FETCHES)
        self._most_bytes = settings.max_request_bytes
        self._reach = Reach.of(settings)
        self._fetcher = Fetcher(self._reach, most_bytes=FILE_BYTES)

    def concerned(self, message: str, media: tuple[MediaBlock, ...]) -> bool:
        """Whether there is anything to do; an ordinary message passes by."""
        return bool(media) or (self.ingestion is not None and len(message) >= self._longest)

    async def taken_in(
        self,
        user_id: str,
        task_id: str,
        message: str,
        media: tuple[MediaBlock, ...],
        earlier: tuple[FileBlock, ...] = (),
    ) -> tuple[str, tuple[MediaBlock, ...], tuple[FileBlock, ...]]:
        """A message, what is attached to it and the files said before it, as the turn is to have them."""
        room = Room(self._most_bytes)
        blocks = await self.checked(media, room=room)
        before = tuple([await self._fit(block, f"history.{at}", room) for at, block in enumerate(earlier)])
        if self.ingestion is None:
            return message, blocks, before
        short = await self.ingestion.shortened(user_id, task_id, message)
        return short, tuple([await self._ingested(user_id, task_id, block) for block in blocks]), before

    async def checked(
        self, media: tuple[MediaBlock, ...], field: str = "media", room: Room | None = None
    ) -> tuple[MediaBlock, ...]:
        """What is attached, looked into and made fit as far as the settings say."""
        room = room or Room(self._most_bytes)
        return tuple(
            [
                block if isinstance(block, TextBlock) else await self._fit(block, f"{field}.{number}", room)
                for number, block in enumerate(media)
            ]
        )

    async def _fit(self, block: FileBlock, field: str, room: Room) -> FileBlock:
        fit = await self._checked(block, field)
        room.take(fit, field)
        return fit

    async def _checked(self, block: FileBlock, field: str) -> FileBlock:
        if isinstance(block.source, UrlSource):
            if not (self._checks or self._resizes):
                await self._reachable(block.source.url, field)
                return block
            block = await self._fetched(block, block.source.url, field)
        assert isinstance(block.source, Base64Source)
        resized = self._resizes and isinstance(block, ImageBlock)
        read = self._reads and isinstance(block, DocumentBlock)
        if not (self._checks or resized or read):
            return block
        data = _decoded(block.source, field)
        if self._checks:
            block = self._sound(block, data, field)
        async with self._workers:
            if isinstance(block, ImageBlock):
                return await self._smaller(block, data, field) if resized else block
            return await self._read(block, data) if read and isinstance(block, DocumentBlock) else block

    async def _reachable(self, url: str, field: str) -> None:
        """The provider fetches the address, maybe from inside: what leads there is refused, as far as can be told."""
        try:
            parsed = self._fetcher.parse(url)
            async with asyncio.timeout(_LOOKUP_SECONDS):
                await self._reach.addresses(parsed.host, parsed.port or 443)
        except Refused as refused:
            raise _unfit(field, f"leads to {refused.destination}: {refused.why}") from None
        except (OSError, TimeoutError):
            return

    async def _fetched(self, block: FileBlock, url: str, field: str) -> FileBlock:
        try:
            async with self._fetches:
                page = await self._fetcher.get(url)
        except Refused as refused:
            raise _unfit(field, f"leads to {refused.destination}: {refused.why}") from None
        except FetchFailed as failed:
            raise _unfit(field, f"cannot be fetched: {failed}") from None
        if not page.body:
            raise _unfit(field, "is empty at its address")
        declared = page.content_type.partition(";")[0].strip().lower()
        data = base64.b64encode(page.body).decode("ascii")
        found = sniffed(page.body)
        source = Base64Source(media_type=_type(block, declared, found) or declared, data=data)
        return replace(block, source=source)

    def _sound(self, block: FileBlock, data: bytes, field: str) -> FileBlock:
        """The block with the type its content has; refused when that is another kind, or more than models take."""
        source = block.source
        assert isinstance(source, Base64Source)
        found = _type(block, source.media_type, sniffed(data))
        if found is None:
            raise _unfit(field, f"is not {_KINDS[type(block)]}, whatever it is called")
        if isinstance(block, ImageBlock) and not self._resizes:
            size = image_size(data[:_HEAD])
            if size is not None and max(size) > IMAGE_EDGE:
                raise _too_large(field, f"is {size[0]}×{size[1]} pixels large; {IMAGE_EDGE} is the most")
            if len(data) > IMAGE_BYTES:
                raise _too_large(field, f"has {len(data):,} bytes; {IMAGE_BYTES:,} is the most for an image")
        if len(data) > FILE_BYTES:
            raise _too_large(field, f"has {len(data):,} bytes; {FILE_BYTES:,} is the most")
        return block if found == source.media_type else replace(block, source=replace(source, media_type=found))

    async def _smaller(self, block: ImageBlock, data: bytes, field: str) -> ImageBlock:
        if not (sniffed(data) or "").startswith("image/"):
            return block
        try:
            picture = await smaller(data, self._identity)
        except NotAPicture as problem:
            raise _unfit(field, str(problem)) from None
        if picture is None:
            return block
        encoded = base64.b64encode(picture.data).decode("ascii")
        return ImageBlock(source=Base64Source(media_type=picture.media_type, data=encoded), note=picture.note)

    async def _read(self, block: DocumentBlock, data: bytes) -> DocumentBlock:
        """With the text of a PDF beside it."""
        source = block.source
        if not isinstance(source, Base64Source) or source.media_type != PDF:
            return block
        try:
            text = (await read_pdf(data, self._identity)).text
        except NotReadable:
            return block
        return replace(block, text=self._secrets.clean(text, "person"))

    async def _ingested(self, user_id: str, task_id: str, block: MediaBlock) -> MediaBlock:
        assert self.ingestion is not None
        match block:
            case TextBlock(text=text):
                short = await self.ingestion.shortened(user_id, task_id, text)
                return block if short is text else TextBlock(text=short)
            case DocumentBlock(source=Base64Source(media_type=kind, data=data), title=title, text=text):
                said = (
                    text if text is not None or kind == PDF else base64.b64decode(data).decode("utf-8", "replace")
                )
                if said is None or len(said) < self._longest:
                    return block
                said = self._secrets.clean(said, "person")
                return TextBlock(text=await self.ingestion.shortened(user_id, task_id, said, title or "document"))
            case _:
                return block


def _type(block: FileBlock, declared: str, found: str | None) -> str | None:
    """The type of something of this kind; what is text is whatever text it is said to be."""
    if found is None or not found.startswith(_PREFIXES[type(block)]):
        return None
    if found == "text/plain":
        return declared if declared.startswith("text/") or declared == "application/json" else found
    if isinstance(block, AudioBlock) and found.startswith("video/"):
        return found.replace("video/", "audio/")
    return found


def _decoded(source: Base64Source, field: str) -> bytes:
    try:
        return base64.b64decode(source.data, validate=True)
    except (binascii.Error, ValueError):
        raise _unfit(field, "is not valid base64") from None


def _unfit(field: str, problem: str) -> EngineError:
    return EngineError(
        ErrorCode.INVALID_REQUEST,
        f"`{field}` {problem}. Send another file, or none.",
        {"fields": [{"field": field, "problem": problem}]},
    )


def _too_large(field: str, problem: str) -> EngineError:
    return EngineError(
        ErrorCode.PAYLOAD_TOO_LARGE,
        f"`{field}` {problem}. Send a smaller one.",
        {"fields": [{"field": field, "problem": problem}]},
    )
