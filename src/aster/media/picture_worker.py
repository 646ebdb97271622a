"""The program that makes a picture smaller, in a process of its own: one that makes a decoder run for ever, crash or
fill the memory takes nothing else with it.

Its first argument says how; the picture comes on standard input, the answer goes to standard output: a line of JSON,
then the bytes of the new picture, if there is one. Its time and memory are limited, and it has given up the engine's
rights before it looks at the picture.
"""

import io
import json
import os
import resource
import sys
import warnings
from typing import Any, NamedTuple

from PIL import Image, ImageOps, MpoImagePlugin, UnidentifiedImageError

_MEMORY = 1 << 30
_FORMATS = ("PNG", "JPEG", "WEBP", "GIF")
_QUALITIES = (85, 70, 55)
_SMALLEST = 64


class Fitted(NamedTuple):
    """A picture as it may be sent, and the size it had."""

    media_type: str
    data: bytes
    before: tuple[int, int]


def main() -> None:
    asked: dict[str, Any] = json.loads(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (asked["seconds"], asked["seconds"]))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    body = sys.stdin.buffer.read()
    load_all()
    _step_down(asked)
    Image.MAX_IMAGE_PIXELS = asked["pixels"]
    warnings.simplefilter("error", Image.DecompressionBombWarning)
    try:
        fitted = fit(body, asked["edge"], asked["bytes"])
    except (Image.DecompressionBombError, Image.DecompressionBombWarning, MemoryError):
        _answer({"problem": "unpacks to more pixels than a picture may have"})
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError, EOFError) as error:
        _answer({"problem": f"cannot be read as a picture ({type(error).__name__})"})
    else:
        _answer({"media_type": fitted.media_type, "before": fitted.before}, fitted.data)


def load_all() -> None:
    """Fit a sample of each format: the library loads parts of itself when they are first used, which would be too
    late once the rights are given up."""
    assert MpoImagePlugin.MpoImageFile.format
    for form in _FORMATS:
        sample = io.BytesIO()
        Image.new("P", (2, 2)).convert("RGB").save(sample, form, exif=Image.Exif())
        fit(sample.getvalue(), 1, 1)


def fit(body: bytes, edge: int, most: int) -> Fitted:
    """The picture within the edge, in fewer bytes than `most`: what is clear or drawn as PNG while that is possible,
    then in worse quality, then smaller still."""
    picture = Image.open(io.BytesIO(body), formats=_FORMATS)
    before, drawn = picture.size, picture.format == "PNG"
    if picture.format == "JPEG":
        picture.draft("RGB", (edge, edge))
    picture = ImageOps.exif_transpose(picture)
    clear = "transparency" in picture.info or picture.mode in ("RGBA", "LA", "PA")
    mode = "RGBA" if clear else "RGB"
    if picture.mode != mode:
        picture = picture.convert(mode)
    while True:
        picture.thumbnail((edge, edge))
        last = edge <= _SMALLEST
        if clear or drawn:
            data = _saved(picture, "PNG")
            if len(data) < most or (clear and last):
                return Fitted("image/png", data, before)
        for quality in () if clear else _QUALITIES:
            data = _saved(picture, "JPEG", quality=quality)
            if len(data) < most or last:
                return Fitted("image/jpeg", data, before)
        edge = edge * 3 // 4


def _saved(picture: Image.Image, form: str, **how: Any) -> bytes:
    out = io.BytesIO()
    picture.save(out, form, **how)
    return out.getvalue()


def _answer(said: dict[str, Any], data: bytes = b"") -> None:
    sys.stdout.buffer.write(json.dumps(said).encode() + b"\n" + data)


def _step_down(asked: dict[str, Any]) -> None:
    """From here on no file can be opened."""
    if asked["uid"] is not None:
        os.setgroups([])
        os.setgid(asked["gid"])
        os.setuid(asked["uid"])
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))


if __name__ == "__main__":
    main()
