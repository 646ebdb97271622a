"""Values that must not come back, wherever a stream is cut."""

import random

from aster.sandbox.egress_mask import Mask

SECRETS = (b"Bearer token-abc", b"token-abc")


def passed(data: bytes, cuts: list[int]) -> bytes:
    mask = Mask(SECRETS)
    out = b""
    for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True):
        out += mask.feed(data[start:end])
    return out + mask.finish()


def test_values_are_hidden_at_every_cut() -> None:
    data = b"x token-abc y Bearer token-abc token-ab token-abctoken-abc"
    expected = b"x ********* y **************** token-ab ******************"
    for cut in range(len(data)):
        assert passed(data, [cut]) == expected
    chance = random.Random(7)
    for _ in range(200):
        assert passed(data, sorted(chance.sample(range(len(data)), 10))) == expected


def test_nothing_to_hide_holds_nothing_back() -> None:
    assert Mask(()).feed(b"abc") == b"abc"
