"""What of a turn is worth keeping: the gate between what is said and what is remembered.

A greeting, a bare question, a log or a table tells nothing about anybody later; kept, it would only stand in the way
of what does. The gate looks at the form of a text, never at what it is about, and costs microseconds.
"""

import re
from typing import Final

from aster.memory.documents import cut
from aster.memory.keeping import tells_secret
from aster.memory.lately import without_marks
from aster.memory.retrieval.query import telling

MOST_PASSAGES: Final = 12
"""Of a very long message; what matters in it is said again, or is a document."""
READ: Final = 20_000
SAMPLE: Final = 100
"""Words that tell whether a text is made of words."""
BEGINNING: Final = 250
"""Characters within which it has to begin to tell something."""
GIST: Final = 900
ENDING: Final = 300
_LEAST_TELLING: Final = 2
_LEAST_ANSWERED: Final = 3
_WIDE: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{4}")
_FENCE: Final = re.compile(r"^(```|~~~).*?(?:^\1|\Z)", re.DOTALL | re.MULTILINE)
_AROUND: Final = "\"'“”‘’«»(¿¡*_).,;:!?…。！？、"
_JOINED: Final = str.maketrans("", "", "'’-")
_SENTENCE: Final = re.compile(r"(?<=[.!?。！？])\s+|\n+")
_DATA: Final = ("{", "[{", "<")
_ASKING: Final = ("?", "？", '?"', "?)")
_OWN: Final = re.compile(
    r"\b(?:i|i['’](?:m|ve|d|ll)|me|my|mine|myself|we|us|our|ours"
    r"|ich|mir|mich|mein(?:e[mnrs]?)?|wir|uns|unser(?:e[mnrs]?)?"
    r"|je|j['’]\w+|moi|mon|ma|mes|nous|notre|nos|yo|mi|mis|nosotros|nuestr[oa]s?)\b",
    re.IGNORECASE,
)
_SMALL_TALK: Final = frozenset(
    (
        *("hi", "hello", "hey", "thank", "ok", "okay", "yes", "no", "bye", "good", "great", "nic", "cool"),
        *("sure", "well", "fin", "morn", "even", "night", "day", "perfect", "awesom", "lovely", "right"),
        *("see", "mean", "go"),
    )
)
"""As stems."""


def said_words(text: str) -> frozenset[str]:
    """The words of a text, small; what is made of marks, numbers and names of variables has none."""
    return frozenset(token.strip(_AROUND).lower() for token in text[:READ].split() if _is_word(token))


def passages(text: str) -> list[str]:
    """What is kept of a person's message, in parts that are found one by one; nothing when it tells nothing."""
    told = prose(text)
    if not told or _bare_question(told) or not _tells(told, _LEAST_TELLING):
        return []
    return [part for part in list(cut(told))[:MOST_PASSAGES] if not tells_secret(part)]


def gist(answer: str) -> str:
    """What is kept of an answer: its beginning and its end; nothing when it only says that it was heard."""
    told = prose(answer)
    if not told or not _tells(told, _LEAST_ANSWERED):
        return ""
    if len(told) > GIST + ENDING:
        told = f"{told[:GIST].rsplit(None, 1)[0]} … {told[-ENDING:].split(None, 1)[-1]}"
    return "" if tells_secret(told) else told


def prose(text: str) -> str:
    """A text without its blocks of code; empty when most of what is left is no words, such as a log or a table."""
    bare = _FENCE.sub("", text[:READ]).strip()
    if bare.startswith(_DATA):
        return ""
    tokens = bare.split(None, SAMPLE)[:SAMPLE]
    spoken = sum(map(_is_word, tokens))
    return bare if 2 * spoken >= len(tokens) or _WIDE.search(bare) else ""


def _bare_question(text: str) -> bool:
    """Nothing but questions, and none about the person who asks."""
    sentences = [sentence.strip() for sentence in _SENTENCE.split(text) if sentence.strip()]
    return all(sentence.endswith(_ASKING) for sentence in sentences) and _OWN.search(text) is None


def _is_word(token: str) -> bool:
    bare = token.strip(_AROUND)
    return bare.isalpha() or bare.translate(_JOINED).isalpha()


def _tells(text: str, least: int) -> bool:
    return (
        len(set(telling(without_marks(text[:BEGINNING]))) - _SMALL_TALK) >= least or _WIDE.search(text) is not None
    )
