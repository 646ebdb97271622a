"""A message: one speaker, its blocks, and the id by which it can be edited or retried."""

from typing import Literal, TypeAlias

from aster.contracts.blocks import ContentBlock
from aster.contracts.model import Contract

Role: TypeAlias = Literal["user", "assistant"]


class Digest(Contract):
    """What a compaction left of earlier messages, kept with the one message that tells the model about it.

    `summary` is a model's account of them, `asked` how the person's requests among them began, `files` what was worked
    on. Everything is whole in the transcript: the artifacts `parts`, in order, `lines` lines of `messages` messages. Of
    those, `dropped` are not shown at all any more.
    """

    summary: str = ""
    asked: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    lines: int = 0
    messages: int = 0
    dropped: int = 0


class Message(Contract, weakref=True):
    role: Role
    content: tuple[ContentBlock, ...]
    id: str | None = None
    recalled: str | None = None
    """What memory had for it; text from outside, shown to the model before the message."""
    engine: bool = False
    """Said by the engine, not by a person."""
    archived: int = 0
    """The line of the transcript where it begins, whole; 0 while it is not there."""
    digest: Digest | None = None
    """What it stands for, if it stands for messages that were compacted."""
    said_at: str | None = None
    """When a person said it (`2026-11-15T17:05+01:00`); shown to the model with the message."""
