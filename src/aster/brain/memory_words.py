"""The words of a memory as they are searched and compared.

The same function is applied to what is kept and to what is asked; what the index holds can only be taken out again
by cutting the text the same way, so a change here needs a migration that builds the index anew.
"""

import re
import unicodedata
from hashlib import sha256

_TOKEN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_APOSTROPHE = re.compile(r"(?<=\w)['\u2019](?=\w)")
_ENDINGS = re.compile(r"(?<=[a-z]{3})(?:ing|ed|es|s|e)$")
_LONGEST = 64
_ARTICLES = frozenset({"a", "an", "the"})


def words(text: str) -> list[str]:
    """Every word in its order: lower case, without its ending."""
    return [stem(token) for token in _tokens(text)]


def stem(word: str) -> str:
    """`dances`, `danced` and `dancing` are one word; so are `city` and `cities`."""
    if not word.isascii() or not word.isalpha() or len(word) < 4 or word.endswith(("ss", "us", "is")):
        return word
    cut = _ENDINGS.sub("", word)
    if cut != word and len(cut) > 3 and cut[-1] == cut[-2] and cut[-1] not in "lsz":
        cut = cut[:-1]
    return f"{cut[:-1]}y" if cut.endswith("i") and cut != word else cut


def digest(*parts: str) -> bytes:
    """One value for texts that differ in case, punctuation, spacing and articles alone."""
    said = "\x1f".join(" ".join(t for t in _tokens(part) if t not in _ARTICLES) or part.strip() for part in parts)
    return sha256(said.encode("utf-8", "surrogatepass")).digest()[:16]


def _tokens(text: str) -> list[str]:
    plain = _APOSTROPHE.sub("", unicodedata.normalize("NFKC", text).casefold())
    return [token[:_LONGEST] for token in _TOKEN.findall(plain)]
