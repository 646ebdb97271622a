"""A message: one speaker, its blocks, and the id by which it can be edited or retried."""

from typing import Literal, TypeAlias

from aster.contracts.blocks import ContentBlock
from aster.contracts.model import Contract

Role: TypeAlias = Literal["user", "assistant"]


class Message(Contract):
    role: Role
    content: tuple[ContentBlock, ...]
    id: str | None = None
    recalled: str | None = None
    """What memory had for it; text from outside, shown to the model before the message."""
