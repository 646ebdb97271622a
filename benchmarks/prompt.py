"""What is asked of the model, and what must come back.

A prompt is a directive that the model server obeys (`aster.testing.directive`). Its mark finds the call in the
server's record, and its words are numbered, so that a lost, repeated or swapped token shows.
"""

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass

from aster.testing.directive import numbered_words

WORD = 8
"""Characters of a word, its blank included."""


class WrongAnswer(Exception):
    """An answer that is not, token by token, what the model said."""


@dataclass(frozen=True, slots=True)
class Prompt:
    text: str
    mark: str
    words: int
    tool_rounds: int = 0

    def check(self, said: str) -> None:
        expected = numbered_words(1, self.words)
        if said == expected:
            return
        at = next((i for i, (a, b) in enumerate(zip(said, expected, strict=False)) if a != b), len(said))
        raise WrongAnswer(
            f"{len(said)} characters in place of {len(expected)}, wrong at {at}: {said[at : at + 40]!r}"
        )


def say(words: int, *, rate: float = 0.0, delay: float = 0.0) -> Prompt:
    """An answer of so many words at so many a second (0 is unthrottled), `delay` seconds after the request."""
    mark = secrets.token_hex(6)
    return Prompt(f"[[id={mark} text={words} rate={rate:g} delay={delay:g}]]", mark, words)


def call(tool: str, arguments: Mapping[str, object], *, rounds: int, words: int = 20) -> Prompt:
    """So many rounds of one tool call each, then an answer."""
    mark = secrets.token_hex(6)
    directive = f"id={mark} text={words} rate=0 tools={rounds} tool={tool} input={json.dumps(arguments)}"
    return Prompt(f"[[{directive}]]", mark, words, rounds)
