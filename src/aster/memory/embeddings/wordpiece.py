"""Texts as the numbers a BERT model reads: lower case without accents, cut into words, each word into the longest
pieces the vocabulary has.

The vocabulary is part of the model: its 30,522 lines (BERT base uncased, Apache-2.0) are checked against a pinned
hash, because one shifted line would make every vector meaningless without any error.
"""

import hashlib
import re
import unicodedata
from pathlib import Path
from typing import Final

VOCABULARY: Final = Path(__file__).with_name("vocabulary.txt")
_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
_UNKNOWN, _START, _END = 100, 101, 102
_LONGEST_WORD = 100
_REMEMBERED = 50_000
_ASCII_WORD = re.compile(r"[a-z0-9]+|[!-/:-@\[-`{-~]")
_ASCII_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_IDEOGRAPH = re.compile(
    "([\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002a6df\U0002a700-\U0002b81f"
    "\U0002b920-\U0002ceaf\U0002f800-\U0002fa1f])"
)
_WITHOUT_WIDTH = frozenset(("Cc", "Cf", "Co", "Cs"))


class WordPiece:
    """The vocabulary, loaded, and the words met so far."""

    def __init__(self) -> None:
        data = VOCABULARY.read_bytes()
        if hashlib.sha256(data).hexdigest() != _SHA256:
            raise ValueError("the vocabulary of the embedding model is not the one it was made with")
        self._ids = {piece: number for number, piece in enumerate(data.decode("utf-8").split("\n")[:-1])}
        self._known: dict[str, tuple[int, ...]] = {}
        self._pieces_by_id: list[str] = []

    def encode(self, text: str, most: int) -> list[int]:
        """The numbers of a text with the marks for its start and end, at most `most` of them."""
        out = [_START]
        for word in _words(text):
            out += self._pieces(word)
            if len(out) >= most:
                break
        return [*out[: most - 1], _END]

    def parts(self, text: str, most: int, parts: int) -> list[list[int]]:
        """As `encode`, and what does not fit in further rows, at most `parts`; the first is what `encode` gives."""
        ids = self.encode(text, parts * (most - 2) + 2)[1:-1]
        rows = range(0, max(len(ids), 1), most - 2)
        return [[_START, *ids[row : row + most - 2], _END] for row in rows]

    def spelled(self, ids: list[int]) -> list[tuple[int, str]]:
        """The places of the tokens that are parts of words, each with its whole word; of a row without any, all."""
        out: list[tuple[list[int], str]] = []
        for place, piece in enumerate(self._spelling()[number] for number in ids):
            if piece.startswith("##") and out and out[-1][0][-1] == place - 1:
                out[-1] = ([*out[-1][0], place], out[-1][1] + piece[2:])
            elif piece.isalnum():
                out.append(([place], piece))
        return [(place, word) for places, word in out for place in places] or [(n, "") for n in range(len(ids))]

    def _spelling(self) -> list[str]:
        if not self._pieces_by_id:
            self._pieces_by_id = list(self._ids)
        return self._pieces_by_id

    def _pieces(self, word: str) -> tuple[int, ...]:
        known = self._known.get(word)
        if known is None:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            known = self._known[word] = self._cut(word)
        return known

    def _cut(self, word: str) -> tuple[int, ...]:
        if len(word) > _LONGEST_WORD:
            return (_UNKNOWN,)
        pieces: list[int] = []
        start = 0
        while start < len(word):
            prefix = "##" if start else ""
            for end in range(len(word), start, -1):
                number = self._ids.get(prefix + word[start:end])
                if number is not None:
                    pieces.append(number)
                    start = end
                    break
            else:
                return (_UNKNOWN,)
        return tuple(pieces)


def _words(text: str) -> list[str]:
    if text.isascii():
        return _ASCII_WORD.findall(_ASCII_CONTROL.sub("", text).lower())
    text = _IDEOGRAPH.sub(r" \1 ", "".join(map(_cleaned, text)))
    plain = "".join(c for c in unicodedata.normalize("NFD", text) if unicodedata.category(c) != "Mn").lower()
    return [word for part in plain.split() for word in _apart(part)]


def _cleaned(c: str) -> str:
    """Nothing for what has no width, a blank for every kind of white space."""
    if c in "\t\n\r":
        return " "
    category = unicodedata.category(c)
    return "" if c == "\ufffd" or category in _WITHOUT_WIDTH else " " if category == "Zs" else c


def _apart(part: str) -> list[str]:
    """One run of characters without blanks, its punctuation marks on their own."""
    out: list[str] = []
    word = ""
    for c in part:
        if _ASCII_WORD.fullmatch(c) if c.isascii() and not c.isalnum() else unicodedata.category(c)[0] == "P":
            out += [word, c] if word else [c]
            word = ""
        else:
            word += c
    return [*out, word] if word else out
