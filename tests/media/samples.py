"""Files as clients attach them, made on the spot."""

import base64
import io
from typing import Any

from PIL import Image

WAV = b"RIFF\x24\x00\x00\x00WAVEfmt " + bytes(32)
MP4 = b"\x00\x00\x00\x18ftypisom" + bytes(32)


def picture(form: str = "PNG", size: tuple[int, int] = (8, 6), mode: str = "RGB", *, noise: bool = False) -> bytes:
    made = Image.effect_noise(size, 80).convert(mode) if noise else Image.new(mode, size)
    out = io.BytesIO()
    made.save(out, form)
    return out.getvalue()


def attached(kind: str, data: bytes, media_type: str, **more: Any) -> dict[str, Any]:
    source = {"type": "base64", "media_type": media_type, "data": base64.b64encode(data).decode()}
    return {"type": kind, "source": source, **more}


def linked(kind: str, url: str) -> dict[str, Any]:
    return {"type": kind, "source": {"type": "url", "url": url}}
