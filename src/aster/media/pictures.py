"""Pictures made small enough for models: longest edge 2048 pixels, below what providers take in base64.

Whoever sent it, a picture is only taken apart in a process of its own (`picture_worker`), within limits; one that is
small enough already is never touched.
"""

import json
from dataclasses import dataclass
from typing import Final

from aster.herald.image_size import image_size
from aster.sandbox.identity import Identity
from aster.sandbox.worker import worked

EDGE: Final = 2048
MOST_BYTES: Final = 3_900_000
"""In base64 this is just below 5 MiB, where providers measure."""
PIXELS: Final = 100_000_000
SECONDS: Final = 10
_HEAD: Final = 65_536


class NotAPicture(Exception):
    """It cannot be made smaller; the message says why, for the sender."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture that was made smaller; `note` says from what."""

    media_type: str
    data: bytes
    note: str


def too_large(data: bytes) -> bool:
    """Whether a picture has to be made smaller; one whose size cannot be read is looked at by the worker."""
    size = image_size(data[:_HEAD])
    return len(data) > MOST_BYTES or size is None or max(size) > EDGE


async def smaller(data: bytes, identity: Identity | None) -> Picture | None:
    """The picture made fit; None when it is fit already."""
    if not too_large(data):
        return None
    size = image_size(data[:_HEAD])
    if size is not None and size[0] * size[1] > PIXELS:
        raise NotAPicture("has more pixels than a picture may have")
    asked = {"edge": EDGE, "bytes": MOST_BYTES, "pixels": PIXELS}
    answer = await worked("aster.media.picture_worker", data, asked, identity, SECONDS)
    if answer is None:
        raise NotAPicture("takes too long or too much memory to read")
    head, _, body = answer.partition(b"\n")
    said = json.loads(head)
    if "problem" in said:
        raise NotAPicture(said["problem"])
    width, height = said["before"]
    note = f"made smaller from {width}×{height} pixels, {len(data):,} bytes"
    return Picture(said["media_type"], body, note)
