"""What a short text states, taken apart so that two texts can be compared without a model: its words, what is denied,
what counts what, and whose name each word follows.

Two texts may say the same in another order and with other small words. A number with another unit, a word that lost
its "not", or something said of somebody else is another statement. Whatever is unclear counts as different.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Final, NamedTuple

from aster.brain.memory_words import words as stems
from aster.engine_core.verifying.words import vocabulary

READ: Final = 8000
_GLUE: Final = vocabulary(
    "a an the and is are am be being it its he she they them him her his their theirs i me my mine we us our ours you"
    " your this that these those there here of in on at to for by as with who which whose do does did has have having"
    " s"
)
"""Words that may come and go without anything being said differently."""
LINKING: Final = frozenset(stems("also both too well namely call name user person but whereas however"))
"""Words that may be added to join statements."""
_BEFORE: Final = vocabulary(
    "not no never without nor neither none nobody nothing nowhere hardly cannot cant dont doesnt didnt isnt arent wasnt"
    " werent hasnt havent hadnt couldnt wont wouldnt shouldnt mustnt neednt kein keine keinen keinem keiner niemals"
    " ohne ne sans nunca sin"
)
_ANYWHERE: Final = vocabulary("nicht nie pas jamais")
_DENIALS: Final = _BEFORE | _ANYWHERE
_NOT: Final = "not"
_TURNS: Final = vocabulary(
    "but however although though while whereas yet except instead because unless aber sondern"
)
_COUNTED: Final = "two three four five six seven eight nine ten eleven twelve"
_NUMBERS: Final = {word: str(value) for value, word in enumerate(_COUNTED.split(), 2)}
_SAME: Final = {
    "percent": "%",
    "were": "was",
    "been": "was",
    "dollars": "$",
    "dollar": "$",
    "euros": "€",
    "euro": "€",
}
_MONTHS: Final = "jan feb mar apr may jun jul aug sep oct nov dec"
_MONTH: Final = (
    r"(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_YEAR: Final = r"(?:,?\s+((?:19|20)\d\d)\b)?"
_DAY_FIRST: Final = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?:\s+of)?\s+{_MONTH}{_YEAR}", re.IGNORECASE)
_MONTH_FIRST: Final = re.compile(rf"\b{_MONTH}\s+(\d{{1,2}})(?:st|nd|rd|th)?\b(?![:.,]\d){_YEAR}", re.IGNORECASE)
_QUOTED: Final = re.compile(r"\"([^\"\n]{2,})\"|“([^”\n]{2,})”|«([^»\n]{2,})»|`([^`\n]{2,})`")
_EDGES: Final = "\"“”„«»`'’‘()[]{}<>*…—–-,;:!?."
_DIGITS_AND_WORDS: Final = re.compile(r"\d+(?:-[^\W\d_]+)+")
_MEASURE: Final = re.compile(r"([$€£]?)(\d[\d.,]*)([^\W\d_]{1,8}|[%°€$£]|°[CF])?")
_ORDINAL: Final = frozenset(("st", "nd", "rd", "th"))
_GROUPED: Final = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_NUMBER: Final = re.compile(r"\d[\d.]*")
_EXACT: Final = re.compile(r"[\d@/\\_#]|\w\.\w|://")


class Token(NamedTuple):
    """A word as it counts, and as it was written. `follows` says what is between it and the token before: nothing, a
    small word or a mark ("near"), a comma (","), or the end of a sentence (".")."""

    word: str
    shown: str
    follows: str
    capital: bool = False


@dataclass(frozen=True, slots=True)
class Statement:
    """`words` with how they were written; `narrow` and `wide` are the words with how often they are denied, by two
    readings of how far a "not" reaches; `measures` are numbers with the word behind them, `led` such without one with
    the word before them, `leading` with every word since the number before; `bound` are words with the name before them
    ("" when there is none)."""

    words: dict[str, str]
    narrow: frozenset[tuple[str, int]]
    wide: frozenset[tuple[str, int]]
    measures: frozenset[tuple[str, str]]
    led: frozenset[tuple[str, str]]
    leading: frozenset[tuple[str, str]]
    bound: frozenset[tuple[str, str]]
    quotes: frozenset[str]


def names_in(texts: Sequence[str]) -> frozenset[str]:
    """Words of these texts that stand for somebody or something: written with a capital wherever they stand, or first
    in a clause that says something of them."""
    seen: dict[str, bool] = {}
    clauses: list[list[str]] = []
    for token in chain.from_iterable(map(tokens, texts)):
        seen[token.word] = seen.get(token.word, True) and token.capital
        if token.follows in (".", ","):
            clauses.append([])
        if token.word != _NOT:
            clauses[-1].append(token.word)
    return frozenset(word for word, always in seen.items() if always) | _leading(clauses)


def _leading(clauses: Sequence[Sequence[str]]) -> frozenset[str]:
    """The first words of clauses, as far as no clause that begins otherwise has them."""
    first = {clause[0] for clause in clauses if len(clause) > 1 and not _NUMBER.fullmatch(clause[0])}
    elsewhere = {word for clause in clauses for word in clause[1:] if clause[0] != word}
    return frozenset(first - elsewhere) if len(first) > 1 else frozenset()


def statement(text: str, names: Collection[str]) -> Statement:
    """What a text states, where these words are names."""
    found = tokens(text)
    words: dict[str, str] = {}
    for token in found:
        words.setdefault(token.word, token.shown)
    return Statement(
        words=words,
        narrow=_denied(found, ends=(".", ",")),
        wide=_denied(found, ends=(".",)),
        measures=frozenset(_measures(found)),
        led=frozenset(_leads(found, nearest=True)),
        leading=frozenset(_leads(found, nearest=False)),
        bound=frozenset(_bound(found, names)),
        quotes=frozenset(_quotes(text)),
    )


def content(text: str) -> frozenset[str]:
    """The words of a text that say something."""
    return frozenset(token.word for token in tokens(text))


def tokens(text: str) -> list[Token]:
    """The words of a text that count, in their order."""
    out: list[Token] = []
    follows = "."
    for raw in _dated(text[:READ]).split():
        bare = raw.strip(_EDGES)
        for part in _parts(bare) if bare else ():
            if part.word in _GLUE:
                follows = follows or "near"
                continue
            out.append(part._replace(follows=follows))
            follows = ""
        follows = _stronger(follows, _mark(raw, bare))
    return out


def _stronger(one: str, other: str) -> str:
    return max(one, other, key=("", "near", ",", ".").index)


def _mark(raw: str, bare: str) -> str:
    """What a token ends with: the end of a sentence, a comma, or nothing."""
    behind = raw[raw.rfind(bare) + len(bare) :] if bare else raw
    if any(mark in behind for mark in ".!?;"):
        return "."
    if any(mark in behind for mark in ",:—–(") or (not bare and raw):
        return ","
    return "near" if behind else ""


def _parts(bare: str) -> Iterator[Token]:
    """A token as words: a number apart from its unit, an address or a version as it is, anything else as stems."""
    if _DIGITS_AND_WORDS.fullmatch(bare):
        for part in bare.split("-"):
            yield from _parts(part)
    elif measured := _MEASURE.fullmatch(bare):
        sign, number, unit = measured.groups()
        yield from (Token(part, bare, "") for part in _measure(sign, number, unit or ""))
    elif _EXACT.search(bare):
        yield Token(bare.removesuffix("'s").removesuffix("’s"), bare, "")
    else:
        capital = bare[:1].isupper()
        for word in bare.split("-"):
            yield from (Token(stem, word, "", capital) for stem in _plain(word))


def _plain(word: str) -> Iterator[str]:
    low = word.casefold().replace("’", "'").removesuffix("'s").replace("'", "")
    if low in _DENIALS:
        yield _NOT if low in _BEFORE else low
    elif low in _GLUE:
        yield low
    else:
        yield from stems(_NUMBERS.get(low) or _SAME.get(low) or low) or [_SAME.get(low, low)]


def _measure(sign: str, number: str, unit: str) -> Iterator[str]:
    number = number.rstrip(".,")
    yield number.replace(",", "") if _GROUPED.fullmatch(number) else number
    if unit and unit.lower() not in _ORDINAL:
        yield from stems(unit) or [unit]
    if sign:
        yield sign


def _dated(text: str) -> str:
    """Dates with the name of a month in one form."""
    text = _DAY_FIRST.sub(lambda match: _date(match[1], match[2], match[3]), text)
    return _MONTH_FIRST.sub(lambda match: _date(match[2], match[1], match[3]), text)


def _date(day: str, month: str, year: str | None) -> str:
    """`2024-05-03`, or `05-03/` for a day without a year."""
    short = f"{_MONTHS.find(month[:3].lower()) // 4 + 1:02}-{int(day):02}"
    return f"{year}-{short}" if year else f"{short}/"


def _quotes(text: str) -> Iterator[str]:
    for match in _QUOTED.finditer(text[:READ]):
        yield " ".join(next(filter(None, match.groups())).split())


def _denied(found: list[Token], ends: Collection[str]) -> frozenset[tuple[str, int]]:
    """Every word with the number of denials before it in its clause."""
    out: set[tuple[str, int]] = set()
    clause: list[tuple[str, int]] = []
    before = after = 0
    for token in found:
        if token.follows in ends or token.word in _TURNS:
            out.update((word, count + after) for word, count in clause)
            clause, before, after = [], 0, 0
        if token.word == _NOT:
            before += 1
        elif token.word in _ANYWHERE:
            after += 1
        else:
            clause.append((token.word, before))
    return frozenset(out | {(word, count + after) for word, count in clause})


def _measures(found: list[Token]) -> Iterator[tuple[str, str]]:
    for token, behind in pairwise((*found, Token("", "", "."))):
        if _NUMBER.fullmatch(token.word):
            yield token.word, "" if behind.follows else behind.word


def _leads(found: list[Token], *, nearest: bool) -> Iterator[tuple[str, str]]:
    """Numbers with what stands before them: the nearest word, for those that count nothing, or all of them."""
    before: list[str] = []
    for token, behind in pairwise((*found, Token("", "", "."))):
        if token.follows == ".":
            before = []
        if not _NUMBER.fullmatch(token.word):
            before.append(token.word)
            continue
        if not nearest:
            yield from ((word, token.word) for word in before)
        elif before and behind.follows:
            yield before[-1], token.word
        before = []


def _bound(found: list[Token], names: Collection[str]) -> Iterator[tuple[str, str]]:
    name = ""
    for token in found:
        if token.follows == "." or (token.follows == "," and token.word in names):
            name = ""
        yield name, token.word
        if token.word in names:
            name = token.word
