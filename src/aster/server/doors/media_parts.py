"""Pictures, recordings and documents as clients of the `/v1` doors attach them, made into content blocks."""

import binascii
from typing import Final

from aster.contracts.blocks import AudioBlock, Base64Source, DocumentBlock, FileBlock, ImageBlock, Source, UrlSource
from aster.contracts.errors import EngineError
from aster.engine_core.client_tools import unfit
from aster.server.media import AUDIO_TYPES, DOCUMENT_TYPES, IMAGE_TYPES, URL_CHARS

_SOUNDS: Final = {"wav": "audio/wav", "mp3": "audio/mpeg"}


def image(url: str, field: str) -> FileBlock:
    """A picture at an address, or in one (`data:image/png;base64,…`)."""
    return ImageBlock(source=_source(url, field, IMAGE_TYPES))


def document(data: str, title: str | None, field: str) -> FileBlock:
    """A file in an address of its own (`data:application/pdf;base64,…`), or at one."""
    return DocumentBlock(source=_source(data, field, DOCUMENT_TYPES), title=title)


def recording(data: str, form: str, field: str) -> FileBlock:
    kind = _SOUNDS.get(form, f"audio/{form}")
    if kind not in AUDIO_TYPES:
        raise unfit(field, f"has a format that is not taken: {form[:32]!r}")
    return AudioBlock(source=Base64Source(media_type=kind, data=_base64(data, field)))


def _source(url: str, field: str, allowed: tuple[str, ...]) -> Source:
    if not url.startswith("data:"):
        if not url.startswith(("http://", "https://")) or len(url) > URL_CHARS or not url.isprintable():
            raise unfit(field, "has to be an http or https address, or data: with base64")
        return UrlSource(url=url)
    head, _, data = url[5:].partition(",")
    kind, _, coding = head.partition(";")
    if coding.rsplit(";", 1)[-1] != "base64":
        raise unfit(field, "has to be data: with base64")
    if kind not in allowed:
        raise _kind(field, allowed)
    return Base64Source(media_type=kind, data=_base64(data, field))


def _base64(data: str, field: str) -> str:
    try:
        if binascii.a2b_base64(data, strict_mode=True):
            return data
    except (binascii.Error, ValueError):
        pass
    raise unfit(field, "is not valid base64")


def _kind(field: str, allowed: tuple[str, ...]) -> EngineError:
    return unfit(field, f"has to be one of {', '.join(allowed)}")
