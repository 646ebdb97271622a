"""Media as a client may send it: checked here once, so that everything behind speaks in content blocks."""

import binascii
from typing import Annotated, Any, Final, Literal, TypeAlias
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from aster.contracts.blocks import (
    AudioBlock,
    Base64Source,
    DocumentBlock,
    ImageBlock,
    MediaBlock,
    Source,
    TextBlock,
    UrlSource,
    VideoBlock,
)
from aster.contracts.model import writable

IMAGE_TYPES: Final = ("image/png", "image/jpeg", "image/webp", "image/gif")
DOCUMENT_TYPES: Final = (
    "application/pdf",
    "text/plain",
    "text/markdown",
    "text/csv",
    "text/html",
    "application/json",
)
AUDIO_TYPES: Final = (
    *("audio/wav", "audio/x-wav", "audio/mpeg", "audio/mp3", "audio/ogg", "audio/flac", "audio/aac"),
    *("audio/aiff", "audio/mp4", "audio/webm"),
)
VIDEO_TYPES: Final = ("video/mp4", "video/webm", "video/quicktime", "video/mpeg")
URL_CHARS: Final = 4096
TITLE_CHARS: Final = 512


def clean(value: Any) -> Any:
    """Text that can be written as UTF-8; anything else is refused elsewhere."""
    return writable(value) if isinstance(value, str) else value


Text: TypeAlias = Annotated[str, BeforeValidator(clean)]
JsonObject: TypeAlias = Annotated[dict[str, Any], BeforeValidator(writable)]


class Part(BaseModel):
    """A piece of a request body: unknown fields are kept aside, to be named in a warning."""

    model_config = ConfigDict(extra="allow")


def _base64(value: str) -> str:
    try:
        empty = not binascii.a2b_base64(value, strict_mode=True)
    except (binascii.Error, ValueError):
        raise PydanticCustomError("base64", "is not valid base64") from None
    if empty:
        raise PydanticCustomError("base64", "is empty")
    return value


def _web_address(value: str) -> str:
    try:
        parts = urlsplit(value)
    except ValueError:
        parts = None
    if parts is None or parts.scheme not in ("http", "https") or not parts.hostname or not value.isprintable():
        raise PydanticCustomError("url", "has to be an http or https address")
    return value


class InlineSource(Part):
    """The data itself, in base64."""

    type: Literal["base64"]
    media_type: Text = Field(description="What the data is, for example `image/png`.")
    data: Annotated[Text, AfterValidator(_base64)] = Field(
        description="The bytes in standard base64, no line breaks."
    )

    def source(self) -> Source:
        return Base64Source(media_type=self.media_type, data=self.data)


class AddressSource(Part):
    """An address on the public internet: the model provider fetches it, or the engine where it looks into media."""

    type: Literal["url"]
    url: Annotated[Text, Field(max_length=URL_CHARS), AfterValidator(_web_address)]

    def source(self) -> Source:
        return UrlSource(url=self.url)


MediaSource: TypeAlias = Annotated[InlineSource | AddressSource, Field(discriminator="type")]


def _of_types(source: MediaSource, allowed: tuple[str, ...]) -> MediaSource:
    if isinstance(source, InlineSource) and source.media_type not in allowed:
        raise PydanticCustomError(
            "media_type", "media_type has to be one of {allowed}", {"allowed": ", ".join(allowed)}
        )
    return source


def _image(source: MediaSource) -> MediaSource:
    return _of_types(source, IMAGE_TYPES)


def _document(source: MediaSource) -> MediaSource:
    return _of_types(source, DOCUMENT_TYPES)


def _audio(source: MediaSource) -> MediaSource:
    return _of_types(source, AUDIO_TYPES)


def _video(source: MediaSource) -> MediaSource:
    return _of_types(source, VIDEO_TYPES)


class TextPart(Part):
    """More text."""

    type: Literal["text"]
    text: Text

    def block(self) -> MediaBlock:
        return TextBlock(text=self.text)


class ImagePart(Part):
    """A picture: PNG, JPEG, WebP or GIF."""

    type: Literal["image"]
    source: Annotated[MediaSource, AfterValidator(_image)]

    def block(self) -> MediaBlock:
        return ImageBlock(source=self.source.source())


class DocumentPart(Part):
    """A document: PDF, or text in one of the usual forms."""

    type: Literal["document"]
    source: Annotated[MediaSource, AfterValidator(_document)]
    title: Text | None = Field(None, max_length=TITLE_CHARS)

    def block(self) -> MediaBlock:
        return DocumentBlock(source=self.source.source(), title=self.title)


class AudioPart(Part):
    """A recording: WAV, MP3, OGG, FLAC, AAC, AIFF or what a browser records."""

    type: Literal["audio"]
    source: Annotated[MediaSource, AfterValidator(_audio)]

    def block(self) -> MediaBlock:
        return AudioBlock(source=self.source.source())


class VideoPart(Part):
    """A video: MP4, WebM, QuickTime or MPEG."""

    type: Literal["video"]
    source: Annotated[MediaSource, AfterValidator(_video)]

    def block(self) -> MediaBlock:
        return VideoBlock(source=self.source.source())


Media: TypeAlias = Annotated[
    TextPart | ImagePart | DocumentPart | AudioPart | VideoPart, Field(discriminator="type")
]
