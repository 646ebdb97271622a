"""Nothing a model or a tool says is obeyed by the terminal."""

from aster.cli.screen.clean import clean, one_line


def test_control_characters_become_visible() -> None:
    assert clean("a\x1b]52;c;AAAA\x07b\x9bc\x7f") == "a␛]52;c;AAAA␇b\ufffdc␡"
    assert clean("one\r\ntwo\tthree") == "one\ntwo\tthree"


def test_one_line_is_flat_and_short() -> None:
    assert one_line("a\n  b\x1b", 10) == "a b␛"
    assert one_line("abcdefghij", 5) == "abcd…"


def test_what_cannot_be_seen_is_made_visible() -> None:
    for sign in ("\u200e", "\u061c", "\u202e", "\u2067", "\u200b", "\ufeff", "\u2028", "\U000e0041", "\ud83d"):
        assert clean(f"rm{sign} x") == "rm\ufffd x", ascii(sign)
    assert clean("می\u200cخواهم 👩\u200d💻") == "می\u200cخواهم 👩\u200d💻"
