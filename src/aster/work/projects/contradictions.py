"""Whether two results contradict each other: one says of the same thing what the other says not.

Words alone decide, so that it costs nothing and always says the same: two sentences with the same content contradict
when one is negated and the other is not. Two that are both negated do not. What is said in other words is not seen.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

MOST_WORDS: Final = 40
"""A longer sentence says too many things for its words to tell."""
_SENTENCE: Final = re.compile(r"[.!?;]+(?:\s|$)|\n+")
_WORD: Final = re.compile(r"[^\W_]+(?:[.'’-][^\W_]+)*")
_CONTRACTED: Final = re.compile(r"n['’]t$")
_NOT: Final = frozenset(("not", "no", "never", "cannot", "neither", "nor", "without"))
_LITTLE: Final = frozenset(
    (
        *("a", "an", "the", "is", "are", "was", "were", "be", "been", "being", "am", "do", "does", "did", "has"),
        *("have", "had", "will", "would", "shall", "should", "can", "ca", "wo", "could", "may", "might", "must"),
        *("it", "its", "this", "that", "these", "those", "there", "here", "so", "very", "also", "just", "now"),
        *("currently", "still", "any", "at", "all", "in", "on", "of", "to", "for", "by", "and", "that's", "yes"),
    )
)
_ENDS: Final = ("ies", "es", "s", "ed", "ing")


class Claim(NamedTuple):
    """What a sentence is about, and whether it says that it is not so."""

    about: frozenset[str]
    negated: bool
    sentence: str


class Contradiction(NamedTuple):
    sentence: str
    earlier: str
    name: str
    """Of the result that the earlier sentence is from."""


def claims(text: str) -> Iterator[Claim]:
    """What a text says, sentence by sentence."""
    for sentence in _SENTENCE.split(text):
        words = [word.casefold() for word in _WORD.findall(sentence)]
        if not 0 < len(words) <= MOST_WORDS:
            continue
        negations = sum(word in _NOT or _CONTRACTED.search(word) is not None for word in words)
        plain = (_CONTRACTED.sub("", word) for word in words if word not in _NOT)
        about = frozenset(_stem(word) for word in plain if word not in _LITTLE)
        if about:
            yield Claim(about, negations % 2 == 1, " ".join(sentence.split()))


def found(text: str, earlier: Iterable[tuple[str, str]]) -> Contradiction | None:
    """The first thing that a text says against one of the earlier ones (their names and words); None if there is
    nothing."""
    said: dict[tuple[frozenset[str], bool], Claim] = {}
    for claim in claims(text):
        said.setdefault((claim.about, claim.negated), claim)
    if not said:
        return None
    for name, words in earlier:
        for claim in claims(words):
            against = said.get((claim.about, not claim.negated))
            if against is not None and (claim.about, claim.negated) not in said:
                return Contradiction(against.sentence, claim.sentence, name)
    return None


def _stem(word: str) -> str:
    for end in _ENDS:
        if len(word) > len(end) + 3 and word.endswith(end):
            return word.removesuffix(end).removesuffix("e")
    return word.removesuffix("e") if len(word) > 3 else word
