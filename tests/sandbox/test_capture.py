"""Output as it is kept: whole, or head and tail, whatever the pieces it came in."""

from hypothesis import given
from hypothesis import strategies as st

from aster.sandbox.capture import CONTINUES, Capture, cut


def captured(pieces: list[bytes], limit: int) -> tuple[Capture, str]:
    shown: list[str] = []
    capture = Capture(limit, shown.append)
    for piece in pieces:
        capture.feed(piece)
    capture.finish()
    return capture, "".join(shown)


@given(st.lists(st.binary(max_size=40), max_size=20), st.integers(2, 60))
def test_the_pieces_do_not_matter(pieces: list[bytes], limit: int) -> None:
    capture, shown = captured(pieces, limit)
    whole, shown_at_once = captured([b"".join(pieces)], limit)
    assert capture.text() == whole.text()
    assert capture.truncated is whole.truncated is (sum(map(len, pieces)) > limit)
    assert shown == shown_at_once
    if not capture.truncated:
        assert shown == capture.text() == b"".join(pieces).decode("utf-8", "replace").replace("\x00", "\ufffd")


def test_a_cut_never_splits_a_character() -> None:
    text = "äöü€𝄞" * 500
    capture, shown = captured([bytes([byte]) for byte in text.encode()], 101)
    head, marker, tail = capture.text().split("\n")
    assert "\ufffd" not in capture.text()
    assert text.startswith(head)
    assert text.endswith(tail)
    assert marker == f"[... {len(text.encode()) - 100:,} bytes cut ...]"
    assert text.startswith(shown.removesuffix(CONTINUES))


def test_memory_is_bounded() -> None:
    capture = Capture(1000, lambda text: None)
    for _ in range(1000):
        capture.feed(b"x" * 100_000)
    assert capture.size == 100_000_000
    assert len(capture.text()) < 1100


def test_text_is_cut_in_the_middle() -> None:
    assert cut("short", 10) == "short"
    assert cut("a" * 50 + "b" * 50, 20) == "a" * 10 + "\n[... 80 characters cut ...]\n" + "b" * 10
