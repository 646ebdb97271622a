"""Whether a message is worth a plan, judged by its shape and its words, at no cost to speak of.

Several signs have to come together; code, quotations and pasted tables count for nothing. A wrong no costs nothing
(the agent can plan by itself), a wrong yes costs a model call, so in doubt the answer is no.
"""

import re
from typing import Final

LEAST_CHARS: Final = 40
LEAST_WORDS: Final = 12
LEAST_DENSE: Final = 24
"""How many characters a message without spaces between its words has to have."""
READ_CHARS: Final = 8_000
LONG_WORDS: Final = 150
ENOUGH: Final = 2

_CODE: Final = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|^[ \t]*[>|][^\n]*", re.DOTALL | re.MULTILINE)
_ORDERED: Final = re.compile(
    r"^[ \t]*(?:(?:\d{1,2}|[a-hA-H]|[ivx]{1,4})[.):]\s|[(（]?\d{1,2}[)）]|[①-⑳]|[一二三四五六七八九十][、.])",
    re.MULTILINE,
)
_BULLET: Final = re.compile(r"^[ \t]*[-*+•‣–·]\s+(\S+)", re.MULTILINE)
_WORD: Final = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_DENSE: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ENGLISH: Final = _words("the and to a of i it you is was")
_SEQUENCE: Final = _words(
    "then next afterwards afterward finally lastly subsequently"
    " dann danach anschließend schließlich zuletzt zuerst zunächst"
    " ensuite puis enfin finalement luego después finalmente entonces primero"
    " poi infine dopodiché depois daarna vervolgens tenslotte potem następnie затем потом наконец сначала"
    " sonra sonunda"
)
_SEQUENCE_PHRASES: Final = (
    *(
        "after that",
        "once that",
        "when that is done",
        "when done",
        "first of all",
        "d'abord",
        "en seguida",
        "em seguida",
    ),
    *(
        "然后",
        "接着",
        "最后",
        "首先",
        "之后",
        "次に",
        "その後",
        "最後に",
        "まず",
        "그다음",
        "마지막으로",
        "먼저",
        "그리고 나서",
    ),
)
_DEEDS: Final = _words(
    "add analyse analyze benchmark build change check clean compare compile configure convert copy create debug delete"
    " deploy design develop document download draft edit evaluate extract fetch find fix format generate implement"
    " import install investigate list measure merge migrate move optimise optimize organise organize parse plot"
    " prepare profile publish read refactor release remove rename replace report research restructure review rewrite"
    " run scrape search send set setup split test translate update upgrade upload validate verify wire write"
)
_LARGE_DEEDS: Final = _words("build implement develop create design migrate refactor rewrite port set setup write")
_LARGE_THINGS: Final = _words(
    "app application system service services website site api backend frontend library project pipeline dashboard"
    " platform engine compiler framework codebase package database bot game suite prototype infrastructure crawler"
)
_ONE_DEED: Final = _words(
    "summarise summarize translate explain rephrase paraphrase proofread describe what what's why who when where which"
    " how fasse übersetze erkläre was warum wer wie résume traduis explique pourquoi resume traduce explica qué"
)
"""What such a message is about may be as long as it likes: it is read, or answered, in one go."""


def needs_plan(message: str) -> bool:
    """Whether a message asks for several things that belong together, or for one large one."""
    if len(message) < LEAST_CHARS and len(_DENSE.findall(message)) < LEAST_DENSE:
        return False
    text = _CODE.sub(" ", message[:READ_CHARS])
    words = [word.lower() for word in _WORD.findall(text)]
    if len(words) < LEAST_WORDS and len(_DENSE.findall(text)) < LEAST_DENSE:
        return False
    if words and words[0] in _ONE_DEED:
        return False
    return _listed(text) + _sequence(text, words) + _deeds(words) + _size(words) >= ENOUGH


def _listed(text: str) -> int:
    """Steps written as a list; a list that is not numbered may be anything, unless its items are orders."""
    if len(_ORDERED.findall(text)) >= 3:
        return 2
    items: list[str] = _BULLET.findall(text)
    if len(items) < 3:
        return 0
    return 2 if sum(item.lower().strip(".,:;*_") in _DEEDS for item in items) >= 3 else 1


def _sequence(text: str, words: list[str]) -> int:
    """One thing after another, in so many words; a story in English, where we know the words for deeds, has none."""
    if len(_ENGLISH.intersection(words)) >= 2 and not _DEEDS.intersection(words):
        return 0
    lower = text.lower()
    found = len(_SEQUENCE.intersection(words)) + sum(phrase in lower for phrase in _SEQUENCE_PHRASES)
    return min(found, 2)


def _deeds(words: list[str]) -> int:
    """Different things to be done."""
    different = len(_DEEDS.intersection(words))
    return 2 if different >= 5 else int(different >= 3)


def _size(words: list[str]) -> int:
    """One thing, but a large one."""
    large = bool(_LARGE_DEEDS.intersection(words)) and bool(_LARGE_THINGS.intersection(words))
    return int(large) + int(len(words) >= LONG_WORDS)
