"""What an evaluator is shown of a conversation: whole messages, the newest that there is room for, in their order.

The engine's own words are left out, so that no earlier judgement speaks for a later one. A message too long to be shown
is shown without its middle.
"""

import re
from collections.abc import Iterable
from typing import Final, Literal, NamedTuple, TypeAlias

from aster.contracts.blocks import TextBlock, ToolResultBlock, ToolUseBlock, text_of
from aster.contracts.messages import Message
from aster.contracts.model import encode

MOST_CHARS: Final = 24_000
MESSAGE_CHARS: Final = 8_000
INPUT_CHARS: Final = 1_000

Speaker: TypeAlias = Literal["person", "agent", "tool"]
_SPACE: Final = re.compile(r"\s+")


class Part(NamedTuple):
    """Something that was said or done: by a person, by the agent, or by one of its tools."""

    speaker: Speaker
    text: str


def parts(messages: Iterable[Message], most: int = MOST_CHARS) -> list[Part]:
    """The newest messages that fit, oldest first."""
    shown: list[list[Part]] = []
    for message in reversed([message for message in messages if not message.engine]):
        said = _said(message)
        most -= sum(len(part.text) for part in said)
        if most < 0:
            break
        shown.append(said)
    return [part for said in reversed(shown) for part in said]


def bears_out(transcript: Iterable[Part], quote: str) -> bool:
    """Whether the agent or one of its tools has really said this; what a person says proves nothing."""
    wanted = _plain(quote)
    return bool(wanted) and any(wanted in _plain(part.text) for part in transcript if part.speaker != "person")


def _said(message: Message) -> list[Part]:
    found: list[Part] = []
    for block in message.content:
        match block:
            case TextBlock(text=text):
                speaker: Speaker = "agent" if message.role == "assistant" else "person"
                found.append(Part(speaker, text))
            case ToolUseBlock():
                given = encode(block.input).decode(errors="replace")
                found.append(Part("agent", f"called {block.name} {_cut(given, INPUT_CHARS)}"))
            case ToolResultBlock():
                ended = "failed" if block.is_error else "returned"
                found.append(Part("tool", f"{ended}: {text_of(block.content)}"))
            case _:
                pass
    room = MESSAGE_CHARS // max(1, len(found))
    return [Part(part.speaker, _cut(part.text, room)) for part in found if part.text.strip()]


def _cut(text: str, most: int) -> str:
    """A text without its middle."""
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half:,} characters are not shown …]\n{text[-half:]}"


def _plain(text: str) -> str:
    return _SPACE.sub(" ", text).strip().casefold()
