"""Pictures as tools hand them to a model: known by their first bytes, never by their name, and never too large."""

import base64
import binascii

from aster.contracts.blocks import Base64Source, ImageBlock

MAX_IMAGE_BYTES = 5_000_000
_IMAGES = ((b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"GIF8", "image/gif"))
_SAMPLE_CHARS = 64


def image_type(sample: bytes) -> str | None:
    """The media type, if this is how a picture begins that models can look at."""
    if sample[:4] == b"RIFF" and sample[8:12] == b"WEBP":
        return "image/webp"
    return next((media_type for magic, media_type in _IMAGES if sample.startswith(magic)), None)


def picture(data: bytes, media_type: str) -> ImageBlock:
    return ImageBlock(source=Base64Source(media_type=media_type, data=base64.b64encode(data).decode("ascii")))


def picture_of_base64(text: str) -> ImageBlock | None:
    """A picture that is written as base64; None if it is no picture or too large."""
    compact = "".join(text.split())
    if len(compact) > MAX_IMAGE_BYTES * 4 // 3:
        return None
    try:
        data = base64.b64decode(compact, validate=True)
    except (binascii.Error, ValueError):
        return None
    media_type = image_type(data[:_SAMPLE_CHARS])
    return picture(data, media_type) if media_type is not None else None
