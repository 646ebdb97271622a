"""Grounding: whether something that is to be remembered rests on what a person said, and on nothing else.

What a page, a file or a tool says is never a reason to change how the agent behaves, however a model passes it on. So
words are held against words: a quote has to stand in a message of the person, what is made of it has to be told by it,
and may not turn it round. It is decided by form alone, the same way every time.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from aster.brain.memory_words import stem, words
from aster.memory.retrieval.query import COMMON

LEAST_WORDS: Final = 3
"""Of a quote, unless it is all that was said."""
SHARE: Final = 0.6
"""Of the telling words of a record that have to be the person's."""
WHOLE: Final = 1.0
"""Of those of something that is followed in every later task: one word of somebody else's is enough to do harm."""
RUN: Final = 6
"""Words in a row that nobody says by chance."""
TYPED: Final = 20_000
"""Characters of a message."""
RELATED: Final = 0.2
"""Of the telling words of a record that what corrects it has to have."""
_SPACE: Final = re.compile(r"\s+")
_FENCE: Final = re.compile(r"^(```|~~~).*?(?:^\1|\Z)", re.DOTALL | re.MULTILINE)
_CITED: Final = re.compile(r"^[ \t]*>.*$", re.MULTILINE)
_FORWARDED: Final = re.compile(
    r"^[ \t]*(?:-{2,}[ \t]*(?:original|forwarded|weitergeleitete|ursprüngliche)\b|begin forwarded message\b"
    r"|(?:from|subject|sent|von|betreff|gesendet|objet|asunto)[ \t]*:)",
    re.IGNORECASE | re.MULTILINE,
)
_GIVEN: Final = re.compile(
    r"\b(?:summari[sz]e|translate|proofread|review|rewrite|rephrase|shorten|analy[sz]e|classify|transcribe|fasse"
    r"|übersetze|traduis|résume|traduce|resume"
    r"|(?:this|that|the|following) (?:e-?mail|mail|message|text|article|letter|page|log|review|ticket|document|post"
    r"|comment|transcript|output|following|report|readme|file)s?)\b[^\n:]{0,80}:(?=\s)",
    re.IGNORECASE,
)
"""Words after which a text is given, up to its colon."""
_TAG: Final = re.compile(r"<[a-z!/][^<>]{0,200}>", re.IGNORECASE)
_LED: Final = re.compile(r":\s{0,20}[\"“„«]")
_CLOSING: Final = ('"', "”", "“", "»")
_PASSAGE: Final = re.compile(r"[\"“„«][^\"“”„«»]+[\"“”»]")
_PASSAGE_WORDS: Final = 5
_AROUND: Final = " \t\n\"'“”‘’«»‹›„`*_.,;:!?…()[]"
_MARKS: Final = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "\u00a0": " "})
_TOKEN: Final = re.compile(r"\S+")
_EXACT: Final = re.compile(r"\d|@|://|\w\.\w|_|/\w")
_CLAUSE: Final = re.compile(
    r"[.;:!?,\n—–]+|\b(?:but|instead|rather than|sondern|aber|mais|sino|pero)\b", re.IGNORECASE
)
_NEGATIVE: Final = frozenset(
    (
        *("not", "no", "never", "none", "nor", "neither", "without", "dont", "doesnt", "didnt", "isnt", "arent"),
        *("wasnt", "wont", "wouldnt", "cant", "cannot", "shouldnt", "hasnt", "havent", "stop", "stopped", "quit"),
        *("nicht", "kein", "keine", "keinen", "nie", "niemals", "ohne", "pas", "jamais", "sans", "nunca", "sin"),
        *("hate", "hates", "dislike", "dislikes", "avoid", "avoids", "refuse", "refuses", "allergic", "unlike"),
        *("isn", "doesn", "don", "against", "former", "formerly", "ex", "longer"),
    )
)
_FRAME: Final = frozenset(
    stem(word)
    for word in (
        *("user", "users", "person", "people", "someone", "prefer", "prefers", "preferred", "preference", "like"),
        *("likes", "liked", "want", "wants", "wanted", "live", "lives", "living", "work", "works", "name", "named"),
        *(
            "call",
            "called",
            "use",
            "used",
            "uses",
            "using",
            "own",
            "owns",
            "need",
            "needs",
            "always",
            "usually",
            "answer",
        ),
        *("assistant", "agent", "say", "says", "said", "tell", "told", "ask", "asks", "asked", "think", "make"),
        *(
            "keep",
            "keeps",
            "write",
            "writes",
            "current",
            "currently",
            "fact",
            "rule",
            "know",
            "known",
            "hat",
            "avoid",
        ),
        *("hate", "dislike", "never", "when", "instead", "new", "moved", "mov", "located", "location"),
        *("wrong", "mistake", "fail", "failed", "failure", "error", "correct", "right", "request", "task", "tool"),
        *("give", "respond", "reply", "rather", "ensure", "sure", "first", "every", "everything", "future"),
    )
)
"""How records are put, whatever they are about."""


def own_words(text: str) -> str:
    """What of a message is the person's own: without blocks of code, cited lines, and whatever else shows that it was
    pasted, which somebody else may have written. What is unclear counts as somebody else's, and so does what comes
    after more than anybody types."""
    return _unquoted(_untagged(_unforwarded(_CITED.sub("", _FENCE.sub("", text[:TYPED])))))


def _unforwarded(text: str) -> str:
    """Without a mail that follows, or the text that somebody is asked to do something with."""
    found = _FORWARDED.search(text)
    text = text[: found.start()] if found is not None else text
    given = _GIVEN.search(text)
    return text[: given.end()] if given is not None else text


def _untagged(text: str) -> str:
    """Without what stands between tags."""
    tag = _TAG.search(text)
    return text if tag is None else f"{text[: tag.start()]} {text[text.rfind('>') + 1 :]}"


def _unquoted(text: str) -> str:
    """Without longer passages in quotation marks; one that a colon leads to ends with the last mark there is, so that
    nothing in it can end it."""
    led = _LED.search(text)
    if led is not None:
        end = max(map(text.rfind, _CLOSING))
        text = f"{text[: led.start() + 1]} {text[end + 1 :] if end > led.end() else ''}"
    return _PASSAGE.sub(lambda found: found[0] if len(found[0].split()) < _PASSAGE_WORDS else " ", text)


def quoted(quote: str, said: str) -> bool:
    """Whether a quote stands in what was said: all of it, or some words in a row."""
    small, whole = _plain(quote), _plain(said)
    if not small or not re.search(rf"(?<!\w){re.escape(small)}(?!\w)", whole):
        return False
    return len(small.split()) >= LEAST_WORDS or small == whole


def share(text: str, said: str) -> float:
    """How much of the telling words of a text was said; 1 for a text that has none."""
    told = _telling(text)
    if not told:
        return 1.0
    heard = set(words(said))
    return sum(word in heard for word in told) / len(told)


def bare(text: str, said: str) -> bool:
    """Whether a text has no telling word by which it could be held against what was said, and other words than that."""
    return not _telling(text) and not set(words(text)) <= set(words(said))


def untold(text: str, said: str) -> str | None:
    """The first telling word of a text that was not said."""
    return min(_telling(text) - set(words(said)), default=None)


class Source(NamedTuple):
    """A text from outside, read once: its words, and so many of them in a row."""

    words: frozenset[str]
    runs: frozenset[tuple[str, ...]]

    @classmethod
    def of(cls, text: str) -> "Source":
        found = words(text)
        return cls(frozenset(found), frozenset(_runs(found, RUN)))


def taken_over(text: str, said: str, source: Source) -> str | None:
    """The first telling word of a text that was not said, but stands in a source from outside."""
    missing = _telling(text) - set(words(said))
    return min(missing & source.words, default=None) if missing else None


def related(text: str, old: str) -> bool:
    """Whether a text is about what another says: it has some of its telling words."""
    told = _telling(old)
    return bool(told) and len(told & set(words(text))) / len(told) >= RELATED


def made_up(text: str, said: str) -> str | None:
    """The first number, address or name of a machine in a text that was not said: these are right or they are not."""
    plain = _plain(said)
    for token in _TOKEN.findall(_plain(text)):
        bare = token.strip(_AROUND)
        if _EXACT.search(bare) and not re.search(rf"(?<!\w){re.escape(bare)}(?!\w)", plain):
            return bare
    return None


def turned_round(text: str, quote: str) -> bool:
    """Whether a text denies what its quote affirms, or the other way round; told by the clause that it is about."""
    told = _telling(text)
    clauses = [clause for clause in _CLAUSE.split(quote) if clause.strip()] or [quote]
    about = max(clauses, key=lambda clause: len(told & set(words(clause))))
    return _denies(about) != _denies(text)


def copied(text: str, source: Source, said: str = "") -> bool:
    """Whether a text has so many words in a row from a source that the person did not say."""
    return bool((_runs(words(text), RUN) & source.runs) - _runs(words(said), RUN))


def grounded(text: str, heard: Iterable[str]) -> bool:
    """Whether a text that is to be followed is told by one of the messages of a person, every telling word of it."""
    said = [own_words(one) for one in heard]
    together = "\n".join(said)
    if not _telling(text) or made_up(text, together) is not None:
        return False
    nearest = max(said, key=lambda one: share(text, one), default="")
    return share(text, nearest) >= WHOLE and not turned_round(text, _nearest_sentence(text, nearest))


def _nearest_sentence(text: str, said: str) -> str:
    told = _telling(text)
    sentences = [one for one in re.split(r"(?<=[.!?])\s+|\n+", said) if one.strip()]
    return max(sentences, key=lambda one: len(told & set(words(one))), default=said)


def _telling(text: str) -> set[str]:
    """The stems of a text that say what it is about."""
    bare = (token for token in words(" ".join(_uncommon(text))))
    return {word for word in bare if word not in _FRAME}


def _uncommon(text: str) -> list[str]:
    tokens = re.findall(r"[^\W_]+(?:['’][^\W_]+)?", text)
    return [token for token in tokens if token.lower().replace("'", "").replace("’", "") not in COMMON]


def _denies(text: str) -> bool:
    tokens = re.findall(r"[^\W\d_]+", _plain(text).replace("'", ""))
    return not _NEGATIVE.isdisjoint(tokens)


def _plain(text: str) -> str:
    """A text as it is compared: one case, plain marks, single spaces."""
    flat = unicodedata.normalize("NFKC", text).translate(_MARKS).casefold()
    return _SPACE.sub(" ", flat).strip(_AROUND)


def _runs(found: Sequence[str], run: int) -> set[tuple[str, ...]]:
    return {tuple(found[at : at + run]) for at in range(len(found) - run + 1)}
