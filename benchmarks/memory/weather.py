"""Conversations as people really write: without capitals and punctuation, with typing errors, without names, times or
sessions. Whatever is done to a file is drawn from a seed, so every run reads the same."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from random import Random
from typing import Final

from benchmarks.memory.corpus import Conversation

_MARKS = re.compile(r"[^\w\s]|_")
_TYPING = 0.15


def lower(conversation: Conversation) -> Conversation:
    return _written(conversation, str.lower)


def bare(conversation: Conversation) -> Conversation:
    return _written(conversation, lambda text: " ".join(_MARKS.sub(" ", re.sub(r"['’]", "", text)).lower().split()))


def misspelt(conversation: Conversation) -> Conversation:
    dice = Random(1)
    return _written(conversation, lambda text: " ".join(_typed(word, dice) for word in text.split(" ")))


def nameless(conversation: Conversation) -> Conversation:
    """Nobody is named, neither as a speaker nor in what is said."""
    known = [name for name in conversation.speakers if name.lower() not in ("user", "assistant")]
    pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, known)) or '(?!)'})('s)?\b")
    told = _written(conversation, lambda text: pattern.sub(lambda match: "their" if match[1] else "they", text))
    return replace(told, speakers=(), lines=tuple(replace(line, speaker="") for line in told.lines))


def timeless(conversation: Conversation) -> Conversation:
    lines = tuple(replace(line, when=None) for line in conversation.lines)
    return replace(conversation, lines=lines, now=None)


def shuffled(conversation: Conversation) -> Conversation:
    """Sessions in another order; the lines of each stay together."""
    sessions = list(dict.fromkeys(line.session for line in conversation.lines))
    Random(1).shuffle(sessions)
    lines = sorted(conversation.lines, key=lambda line: sessions.index(line.session))
    return replace(conversation, lines=tuple(lines))


def unbroken(conversation: Conversation) -> Conversation:
    """One endless session."""
    return replace(conversation, lines=tuple(replace(line, session="1") for line in conversation.lines))


WEATHER: Final[Mapping[str, Callable[[Conversation], Conversation]]] = {
    "lower case": lower,
    "no punctuation": bare,
    "typing errors": misspelt,
    "nobody named": nameless,
    "no times": timeless,
    "sessions shuffled": shuffled,
    "one endless session": unbroken,
}


def _written(conversation: Conversation, how: Callable[[str], str]) -> Conversation:
    lines = tuple(replace(line, text=how(line.text)) for line in conversation.lines)
    questions = tuple(replace(question, text=how(question.text)) for question in conversation.questions)
    return replace(conversation, lines=lines, questions=questions)


def _typed(word: str, dice: Random) -> str:
    """A letter left out, doubled or swapped with the next, now and then."""
    if len(word) < 4 or not word.isalpha() or dice.random() >= _TYPING:
        return word
    at = dice.randrange(1, len(word) - 1)
    slips = (word[:at] + word[at + 1 :], word[:at] + word[at] + word[at:], word[:at] + word[at + 1] + word[at])
    return (*slips[:2], slips[2] + word[at + 2 :])[dice.randrange(3)]
