"""Media as a protocol and a model take them: as they are, as the text in them, or as a line that says what was there.

What each protocol carries is data (`takes`), what a model family reads is in its profile; nothing that cannot be
carried or read ever becomes a refused request.
"""

import base64
import binascii
from typing import Final

from aster.contracts.blocks import (
    AudioBlock,
    Base64Source,
    DocumentBlock,
    FileBlock,
    ImageBlock,
    MediaKind,
    TextBlock,
    UrlSource,
    VideoBlock,
)
from aster.herald.failure import FailureKind, HeraldError
from aster.herald.profiles import profile_of

EVERYTHING: Final[frozenset[MediaKind]] = frozenset(("image", "document", "audio", "video"))
AUDIO_FORMATS: Final = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/mpeg": "mp3", "audio/mp3": "mp3"}
"""What Chat Completions takes as `input_audio`."""

_NOUNS: Final[dict[type[FileBlock], str]] = {
    ImageBlock: "An image",
    DocumentBlock: "A document",
    AudioBlock: "An audio recording",
    VideoBlock: "A video",
}


def is_text(media_type: str) -> bool:
    return media_type.startswith("text/") or media_type == "application/json"


def plain_text(source: Base64Source) -> str:
    """The text of a document whose media type says that it is text."""
    try:
        return base64.b64decode(source.data).decode("utf-8", "replace")
    except binascii.Error:
        raise HeraldError(FailureKind.REFUSED_MEDIA, "a document is not valid base64") from None


def titled(title: str | None, text: str) -> str:
    return f"Document “{title or 'document'}”:\n{text}"


def shown(block: FileBlock, model: str, takes: frozenset[MediaKind]) -> FileBlock | TextBlock:
    """The block if a protocol that takes these kinds can show it to the model; otherwise what is said in its place."""
    profile = profile_of(model)
    match block:
        case ImageBlock():
            readable = "image" in takes and (profile.vision or not profile.known)
        case DocumentBlock():
            return _document(block, model, takes)
        case AudioBlock(source=source):
            carried = "audio" in takes and ("video" in takes or _input_audio(source))
            readable = carried and profile.audio
        case VideoBlock():
            readable = "video" in takes and profile.video
    return block if readable else TextBlock(text=unread(block))


def unread(block: FileBlock) -> str:
    """What the model is told about something it cannot be shown."""
    what = _NOUNS[type(block)]
    if isinstance(block, DocumentBlock) and block.title:
        what = f"{what} “{block.title}”"
    where = f" ({block.source.url})" if isinstance(block.source, UrlSource) else ""
    return f"[{what} was attached here{where}, but you cannot be shown it. Say so if it matters.]"


def _document(block: DocumentBlock, model: str, takes: frozenset[MediaKind]) -> FileBlock | TextBlock:
    """As the file where protocol and model read files, as its text elsewhere; what has no text as the file, unless
    the model is known not to read such files."""
    source, profile = block.source, profile_of(model)
    if isinstance(source, Base64Source) and is_text(source.media_type):
        return block
    if "document" in takes and (profile.pdf or not profile.known):
        return block
    if block.text is not None:
        return TextBlock(text=titled(block.title, block.text))
    if isinstance(source, UrlSource) or (profile.known and not profile.pdf):
        return TextBlock(text=unread(block))
    return block


def _input_audio(source: Base64Source | UrlSource) -> bool:
    return isinstance(source, Base64Source) and source.media_type in AUDIO_FORMATS
