"""Hedges: sentences in which somebody says that they do not know, or only assume.

Conservative on purpose: only plain statements in the first person (or about what is unclear) count, never code, quoted
text, questions, conditions, or a doubt that the next sentence sets out to settle. What is missed costs little; what is
wrongly found makes people stop reading.
"""

import re
from typing import Final, Literal, NamedTuple

SENTENCE_CHARS: Final = 300
READ_CHARS: Final = 20_000


class Hedge(NamedTuple):
    item: Literal["unknown", "assumption"]
    sentence: str


_NOT_OWN: Final = re.compile(
    r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]*`|^[ \t]*>.*$|\"[^\"\n]{1,400}\"|“[^”]{1,400}”|«[^»]{1,400}»",
    re.DOTALL | re.MULTILINE,
)
_END: Final = re.compile(r"(?<=[.!?…])[)\"'*_]*\s+|\n+|\s*[。！？]\s*")
_MARK: Final = re.compile(r"\s*(?:[-*+•]|\d{1,2}[.)]|#{1,6})\s+")
_GIVEAWAYS: Final = (
    *(
        "not ",
        "n't ",
        "n’t ",
        "assum",
        "unclear",
        "uncertain",
        "presum",
        "unable",
        "cannot",
        "may be ",
        "might be ",
    ),
    *("sicher", "nehme an", "weiß nicht", "pas sûr", "suppose", "no estoy segur", "supongo", "no sé"),
)
_SPEAKERS: Final = (
    *(" i ", " i'", " i’", " it is ", " it's ", " it’s ", " may be ", " might be ", "assuming ", "my assumption"),
    *("ich ", " je ", " no ", "supongo", "he supuesto"),
)
"""What a sentence needs beside a giveaway to be looked at closely, which takes longer."""
_NOT: Final = r"(?:n['’]t| not)"
_I_AM: Final = r"\bi(?:['’]m| am| was)"
_ASSUMPTION: Final = re.compile(
    rf"{_I_AM} (?:just |only |simply )?assuming\b|\bi(?:['’]ll| will|['’]ve| have)? (?:just |simply )?assumed?\b"
    r"|^(?:so )?assuming (?:that )?\w|\bmy assumption (?:is|was)\b|\bi(?:['’]ll| will)? presumed?\b"
    r"|\bich nehme an\b|\bich habe angenommen\b|\bje suppose\b|\bsupongo\b|\bhe supuesto\b",
    re.IGNORECASE,
)
_UNKNOWN: Final = re.compile(
    rf"{_I_AM} not (?:\w+ly |quite |100 ?% )?(?:sure|certain)\b|{_I_AM} (?:unsure|uncertain)\b"
    rf"|\bi (?:do{_NOT}|did{_NOT}) know (?:whether|if|which|what|how|why|where|when|who)\b"
    rf"|\bi (?:could{_NOT}|can{_NOT}|cannot|was{_NOT} able to|am{_NOT} able to|was unable to|am unable to)"
    r" (?:\w+ly )?(?:verify|confirm|check|determine|test|tell|reproduce)\b"
    rf"|\bi (?:have{_NOT}|did{_NOT}) (?:\w+ly )?(?:verified|tested|checked|confirmed|verify|test|check|confirm)\b"
    r"|\bit(?:['’]s| is)(?: still)? (?:not clear|unclear|uncertain|unknown) (?:whether|if|which|what|how|why)\b"
    r"|\b(?:this|that|it|my answer|the result) (?:may|might) be (?:wrong|incorrect|outdated|incomplete|inaccurate)\b"
    r"|\bich bin (?:mir )?(?:\w+ )?nicht (?:\w+ )?sicher\b|\bich weiß nicht,? (?:ob|welche|was|wie|warum)\b"
    r"|\bje ne suis pas (?:\w+ )?sûre?\b|\bno estoy (?:\w+ )?segur[oa]\b|\bno sé (?:si|qué|cuál|cómo)\b",
    re.IGNORECASE,
)
_CONDITION: Final = re.compile(r"(?:if|when|whenever|unless|in case|even if|wenn|falls|si)\b", re.IGNORECASE)
_WILL_SEE: Final = re.compile(
    r"(?:so |but |ok(?:ay)?,? |then )?(?:let me|let['’]s|i['’]ll|i will|i['’]m going to|i should|i need to|we should) "
    r"(?:\w+ )?(?:check|verify|look|confirm|test|find|read|search|see|ask|make sure|inspect|run)\b"
    r"|(?:ok(?:ay)?,? )?(?:confirmed|verified|checked|actually|it turns out|never mind|wait)\b",
    re.IGNORECASE,
)


def hedges(text: str) -> list[Hedge]:
    """The hedges of a text in order, each sentence once."""
    text = text[:READ_CHARS]
    lower = text.lower()
    if not any(word in lower for word in _GIVEAWAYS):
        return []
    own = _NOT_OWN.sub(" \N{HORIZONTAL ELLIPSIS} ", text)
    sentences = [_plain(part) for part in _END.split(own) if part.strip()]
    found: dict[Hedge, None] = {}
    for sentence, following in zip(sentences, [*sentences[1:], ""], strict=True):
        item = _kind(sentence)
        if item is not None and not (item == "unknown" and _WILL_SEE.match(following)):
            found[Hedge(item, sentence[:SENTENCE_CHARS])] = None
    return list(found)


def _plain(sentence: str) -> str:
    """A sentence in one line, without the mark of the list it stands in."""
    mark = _MARK.match(sentence)
    return " ".join(sentence[mark.end() if mark else 0 :].split())


def _kind(sentence: str) -> Literal["unknown", "assumption"] | None:
    lower = f" {sentence.lower()} "
    if not any(word in lower for word in _SPEAKERS) or not any(word in lower for word in _GIVEAWAYS):
        return None
    if sentence.endswith(("?", "\N{FULLWIDTH QUESTION MARK}")) or _CONDITION.match(sentence):
        return None
    if _UNKNOWN.search(sentence):
        return "unknown"
    return "assumption" if _ASSUMPTION.search(sentence) else None
