"""What is written of a background command while it runs: what it has said so far, in parts.

They are for other replicas than the one it runs on, and for when that one dies; at the end all it said is an artifact,
and they go.
"""

from typing import ClassVar, Final

from aster.brain.records import Row

ENDING: Final = " ending"
"""Follows the name of a command's replica while that is telling how it ended."""


class BackgroundPartRow(Row):
    """A piece of what a command has said, from a position on."""

    table: ClassVar[str] = "background_output"
    key: ClassVar[tuple[str, ...]] = ("runtime_task_id", "part")

    runtime_task_id: str
    part: int
    position: int
    text: str
