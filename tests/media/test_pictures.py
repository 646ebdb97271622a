"""Pictures are made smaller when they have to be, and never by the engine's own process."""

import io
import struct

import pytest
from PIL import Image

from aster.media.picture_worker import fit, load_all
from aster.media.pictures import EDGE, MOST_BYTES, NotAPicture, smaller
from aster.sandbox.identity import tool_identity
from tests.media.samples import picture


def size_of(data: bytes) -> tuple[int, int]:
    return Image.open(io.BytesIO(data)).size


async def test_what_is_small_is_left_alone() -> None:
    assert await smaller(picture(size=(EDGE, 10)), None) is None


@pytest.mark.parametrize(
    ("form", "mode", "media_type"),
    [
        ("PNG", "RGB", "image/png"),
        ("PNG", "RGBA", "image/png"),
        ("JPEG", "RGB", "image/jpeg"),
        ("WEBP", "RGB", "image/jpeg"),
        ("GIF", "P", "image/jpeg"),
    ],
)
async def test_the_longest_edge_is_2048(form: str, mode: str, media_type: str) -> None:
    got = await smaller(picture(form, (4096, 32), mode), tool_identity())
    assert got is not None
    assert (got.media_type, size_of(got.data)) == (media_type, (2048, 16))
    assert "4096×32 pixels" in got.note


async def test_a_heavy_picture_becomes_light() -> None:
    heavy = picture("PNG", (1200, 1200), "RGB", noise=True) + bytes(MOST_BYTES)
    got = await smaller(heavy, tool_identity())
    assert got is not None
    assert size_of(got.data) == (1200, 1200)
    assert len(got.data) < MOST_BYTES


def test_what_is_drawn_becomes_a_photograph_before_it_becomes_tiny() -> None:
    data = picture("PNG", (300, 300), noise=True)
    got = fit(data, 2048, len(data) // 2)
    assert (got.media_type, size_of(got.data)) == ("image/jpeg", (300, 300))


def test_what_is_clear_stays_clear_however_small_it_must_be() -> None:
    data = picture("PNG", (300, 300), "RGBA", noise=True)
    got = fit(data, 2048, 3_000)
    assert got.media_type == "image/png"
    assert len(got.data) < 20_000
    assert fit(picture("JPEG", (300, 300), noise=True), 2048, 10).media_type == "image/jpeg"


def test_the_samples_are_read() -> None:
    load_all()


async def test_a_bomb_is_refused() -> None:
    data = bytearray(picture("PNG"))
    data[16:24] = struct.pack(">II", 20_000, 20_000)
    with pytest.raises(NotAPicture, match="more pixels"):
        await smaller(bytes(data), tool_identity())


async def test_a_bomb_that_lies_is_refused_by_the_worker() -> None:
    """The size of a JPEG behind more than a head of comments is only known to who decodes it."""
    bomb = bytearray(picture("JPEG"))
    at = bomb.index(b"\xff\xc0") + 5
    bomb[at : at + 4] = struct.pack(">HH", 16_000, 16_000)
    comments = b"".join(b"\xff\xfe\xff\xff" + bytes(65_533) for _ in range(2))
    with pytest.raises(NotAPicture, match="more pixels"):
        await smaller(bytes(bomb[:2] + comments + bomb[2:]), tool_identity())


async def test_a_broken_picture_is_refused() -> None:
    with pytest.raises(NotAPicture, match="cannot be read"):
        await smaller(picture("PNG", (3000, 40), noise=True)[:5000], tool_identity())
