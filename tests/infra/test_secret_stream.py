"""Secrets cut by the end of a piece, at every place there is."""

import random
from itertools import pairwise

import pytest

from aster.infra.secret_stream import MOST_HELD, SecretStream
from aster.infra.secrets import Secrets

KNOWN = "known-value-0123456789"
TOKEN = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
PEM = (
    "-----BEGIN PRIVATE KEY-----\n"
    + "\n".join("MIIEvQIBADANBgkqhkiG9w0BAQEF" * 2 for _ in range(9))
    + ("\n-----END PRIVATE KEY-----")
)


def secrets() -> Secrets:
    made = Secrets()
    made.register(KNOWN, "THE_KEY")
    return made


def sifted(pieces: list[str], *, shapes: bool = True) -> list[str]:
    stream = SecretStream(secrets(), "tool", shapes=shapes)
    return [*(stream.feed(piece) for piece in pieces), stream.finish()]


def cut(text: str, places: list[int]) -> list[str]:
    edges = [0, *sorted(places), len(text)]
    return [text[start:end] for start, end in pairwise(edges)]


@pytest.mark.parametrize("shapes", [False, True])
def test_a_known_value_is_found_wherever_it_is_cut(shapes: bool) -> None:
    text = f"the key is {KNOWN}, use it"
    for place in range(len(text)):
        shown = "".join(sifted(cut(text, [place]), shapes=shapes))
        assert "[redacted: THE_KEY]" in shown
        assert KNOWN[4:] not in shown
        assert shown.endswith(", use it")
        assert shown.removeprefix("the key is ")[:3] in ("[re", "k[r", "kn[", "kno")


@pytest.mark.parametrize("secret", [KNOWN, TOKEN, PEM, "postgres://joe:hunter2hunter2@db"])
def test_a_secret_in_random_pieces_never_gets_out(secret: str) -> None:
    chance = random.Random(7)
    whole = Secrets()
    whole.register(KNOWN, "THE_KEY")
    text = f"first line\nthen {secret}\nand the last line\n"
    for _ in range(300):
        places = chance.sample(range(len(text)), chance.randint(1, 12))
        shown = "".join(sifted(cut(text, places)))
        assert "[redacted: " in shown
        assert shown.endswith("\nand the last line\n")
        assert secret[-12:] not in shown
        assert secret[20:40] not in shown


def test_a_character_at_a_time_is_no_different() -> None:
    text = f"a {KNOWN} b {TOKEN} c"
    assert "".join(sifted(list(text))) == "a kno[redacted: THE_KEY] b ghp[redacted: github token] c"


def test_ordinary_text_is_passed_on_at_once_and_unchanged() -> None:
    pieces = [
        "Hello",
        " world",
        "",
        ", this",
        " is well known!",
        " to all: see https://a.b",
        "/c\n",
        "known-value",
        " no",
    ]
    out = sifted(pieces, shapes=False)
    assert "".join(out) == "".join(pieces)
    assert out[:7] == pieces[:7]


def test_what_is_held_back_comes_at_the_end() -> None:
    assert sifted(["wait: known-val"]) == ["wait: ", "known-val"]
    assert sifted(["ghp_abc", "def\n", "x"]) == ["", "ghp_abcdef\n", "x", ""]


def test_a_long_line_is_not_held_back_for_ever() -> None:
    pieces = ["see https://host/", *("x" * 1000 for _ in range(20))]
    out = sifted(pieces)
    assert "".join(out) == "".join(pieces)
    assert max(map(len, out)) <= MOST_HELD + 2000
    assert out[-2] == pieces[-1]


def test_nothing_is_known_nothing_is_searched() -> None:
    stream = SecretStream(Secrets(), "model")
    assert stream.feed(KNOWN) == KNOWN
    assert stream.finish() == ""


def test_each_secret_of_a_stream_is_counted_once() -> None:
    known = secrets()
    stream = SecretStream(known, "tool", shapes=True)
    for piece in cut(f"{KNOWN} {TOKEN}\n{KNOWN}", [5, 30, 50, 70]):
        stream.feed(piece)
    stream.finish()
    assert dict(known.counts) == {("tool", "known"): 2, ("tool", "github token"): 1}
