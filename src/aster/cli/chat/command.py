"""A slash command: how it is written, what it is for, and what it does. Its action says whether the chat goes on."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from aster.cli.chat.session import Session

Action: TypeAlias = "Callable[[Session, str], Awaitable[bool]]"


class Command(NamedTuple):
    usage: str
    summary: str
    action: Action
