"""The words of a text as they are searched: names in code count whole and in their parts, so that `parseToolCall`,
`parse_tool_call` and "parse tool call" find each other.

The same function is applied to what is kept and to what is asked.
"""

import re

_TOKEN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_]+(?:_+[^\W_]+)*")
_IDEOGRAPHS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_LONGEST = 64
_MOST_ASKED = 32
_COMMON = frozenset(
    (
        *(
            "a",
            "an",
            "and",
            "are",
            "as",
            "at",
            "be",
            "by",
            "can",
            "do",
            "does",
            "for",
            "from",
            "get",
            "has",
            "have",
        ),
        *("how", "i", "if", "in", "is", "it", "its", "me", "my", "of", "on", "or", "that", "the", "their", "them"),
        *("then", "there", "these", "they", "this", "to", "was", "we", "what", "when", "where", "which", "who"),
        *("why", "will", "with", "you", "your"),
    )
)


def words(text: str) -> list[str]:
    """Every word in its order, lower case; a name of several parts is followed by its parts."""
    out: list[str] = []
    for token in _TOKEN.findall(_IDEOGRAPHS.sub(r" \g<0> ", text)):
        whole = token.replace("_", "").lower()[:_LONGEST]
        out.append(whole)
        parts = _PART.findall(token) if token.isascii() else token.split("_")
        out += [part.lower()[:_LONGEST] for part in parts if len(part) < len(whole)]
    return out


def asked(query: str) -> list[str]:
    """The different words of a question without those that are in every text, unless there are no others."""
    found = list(dict.fromkeys(words(query)))
    return ([word for word in found if word not in _COMMON] or found)[:_MOST_ASKED]


def readable(place: str, text: str) -> str:
    """What of a passage is compared by meaning: where it is, then what it says."""
    return f"{place}: {' '.join(text.split())}"
