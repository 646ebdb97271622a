"""What a conversation was compacted to, as rows: the view a model is shown, and the way back to it."""

from typing import ClassVar, NamedTuple

from aster.brain.records import ConversationRow, Row


class CompactionRow(Row):
    """What a conversation was compacted to: `messages` stand for everything before the turn and its first `covers`
    messages. Without `ok` it failed, and they stand for nothing."""

    table: ClassVar[str] = "compactions"
    key: ClassVar[tuple[str, ...]] = ("compaction_id",)

    compaction_id: str
    turn_id: str
    covers: int
    ok: bool
    messages: bytes
    created_at: int


class WayBack(NamedTuple):
    """The turns of a conversation, newest first, as far back as `view`, which stands for the beginning of the last."""

    turns: list[ConversationRow]
    view: CompactionRow | None
