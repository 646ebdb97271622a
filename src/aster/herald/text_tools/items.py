"""What the parser makes of a reply: prose, thought, calls, and blocks that were meant as calls but are none.

Items keep the order of the reply. A block that is no call keeps its text (`raw`), so that whoever reads the items
decides whether it is shown, dropped or answered with a hint.
"""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

Reason: TypeAlias = Literal["truncated", "no_function_tag", "malformed", "unknown_tool"]


@dataclass(frozen=True, slots=True)
class Said:
    """Prose for the person."""

    text: str


@dataclass(frozen=True, slots=True)
class Thought:
    """Reasoning the model wrote among its text; nothing in it is ever a call."""

    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """A call of an offered tool."""

    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Broken:
    """A block in the form of a call that cannot be run; `partial` is what could be read of it."""

    reason: Reason
    raw: str
    name: str | None = None
    partial: Call | None = None


Item: TypeAlias = Said | Thought | Call | Broken
