"""Questions that have no answer in memory: those of one conversation, asked of another.

As they are, the names in them give them away. With the names of the people who are known there, only what was said can
tell; then some have an answer after all ("What books has Anna read?"), so all of them can never be refused.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

from benchmarks.memory.corpus import Conversation
from benchmarks.memory.library import Placed

MOST: Final = 1500
"""Questions of a set; of a larger one, every second, or third …"""

Asked: TypeAlias = list[tuple[Placed, str]]


def unanswerable(
    placed: Sequence[Placed], others: Sequence[tuple[str, Sequence[Conversation]]]
) -> Iterator[tuple[str, Asked]]:
    """Each set with its name; none is empty."""
    sets: dict[str, Asked] = {}
    pairs = [(here, there) for here in placed for there in placed if here is not there]
    sets["of another conversation"] = [
        (there, question.text) for here, there in pairs for question in here.conversation.questions
    ]
    sets["with the names known here"] = [
        (there, text)
        for here, there in pairs
        for question in here.conversation.questions
        if (text := renamed(question.text, here.conversation.speakers, there.conversation.speakers))
        != question.text
    ]
    for name, elsewhere in others:
        asked = [question.text for one in elsewhere for question in one.questions]
        sets[f"of {name}"] = [(placed[number % len(placed)], text) for number, text in enumerate(asked)]
    yield from ((name, asked[:: -(-len(asked) // MOST)]) for name, asked in sets.items() if asked)


def renamed(text: str, names: Sequence[str], others: Sequence[str]) -> str:
    """The text about other people."""
    known = dict(zip(names, others, strict=False))
    if not known:
        return text
    pattern = re.compile(rf"\b({'|'.join(map(re.escape, known))})\b")
    return pattern.sub(lambda match: known[match[1]], text)
