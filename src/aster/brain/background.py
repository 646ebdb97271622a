"""Rows about background commands: what was begun, what became of it, how far it was read, what the model was told.

While a command runs, what it has said is written in parts, for other replicas than the one it runs on and for when that
one dies; at the end all it said is an artifact, and they go.
"""

from typing import ClassVar, Final

from aster.brain.records import Row
from aster.contracts.model import Contract

ENDING: Final = " ending"
"""Follows the name of a command's replica while that is telling how it ended."""


class BackgroundRow(Row):
    """Work that outlives its turn, as it begins; begun once more under its id, it begins from nothing."""

    table: ClassVar[str] = "background_tasks"
    key: ClassVar[tuple[str, ...]] = ("runtime_task_id",)

    runtime_task_id: str
    turn_id: str
    tool_call_id: str
    work: str
    description: str
    started_at: int
    status: str = "running"
    ended_at: int | None = None
    exit_code: int | None = None
    artifact_id: str | None = None
    left_out: int = 0
    read_to: int = 0
    told_at: int | None = None
    owner: str | None = None
    asked_to_stop: str | None = None
    wake: bool = False
    said: int = 0
    work_item: str | None = None
    stalled_at: int | None = None
    stall_told_at: int | None = None


class BackgroundEndRow(Row):
    """What the work came to: it said so much, and `left_out` characters of that are not in the artifact. `wake`: its
    end is one that wakes the task."""

    table: ClassVar[str] = "background_tasks"
    key: ClassVar[tuple[str, ...]] = ("runtime_task_id",)

    runtime_task_id: str
    status: str
    ended_at: int
    exit_code: int | None = None
    artifact_id: str | None = None
    left_out: int = 0
    said: int = 0
    wake: bool = False
    told_at: int | None = None


class BackgroundReadRow(Row):
    """How far the model has read what the work said."""

    table: ClassVar[str] = "background_tasks"
    key: ClassVar[tuple[str, ...]] = ("runtime_task_id",)

    runtime_task_id: str
    read_to: int


class BackgroundToldRow(Row):
    """The model knows that the work has ended."""

    table: ClassVar[str] = "background_tasks"
    key: ClassVar[tuple[str, ...]] = ("runtime_task_id",)

    runtime_task_id: str
    told_at: int


class BackgroundSaidRow(Row):
    """How much the work has said."""

    table: ClassVar[str] = "background_tasks"
    key: ClassVar[tuple[str, ...]] = ("runtime_task_id",)

    runtime_task_id: str
    said: int


class BackgroundStallRow(Row):
    """The work seems to wait for an answer since then, which nobody was told of; or, without a time, it does not."""

    table: ClassVar[str] = "background_tasks"
    key: ClassVar[tuple[str, ...]] = ("runtime_task_id",)

    runtime_task_id: str
    stalled_at: int | None
    stall_told_at: int | None = None


class BackgroundStallToldRow(Row):
    """The model knows that the work seems to wait."""

    table: ClassVar[str] = "background_tasks"
    key: ClassVar[tuple[str, ...]] = ("runtime_task_id",)

    runtime_task_id: str
    stall_told_at: int


class BackgroundRecord(Contract):
    """Work that outlives its turn, as it is known now."""

    runtime_task_id: str
    task_id: str
    user_id: str
    turn_id: str
    tool_call_id: str
    work: str
    status: str
    description: str
    started_at: int
    ended_at: int | None
    exit_code: int | None
    artifact_id: str | None
    left_out: int
    read_to: int
    told_at: int | None
    owner: str | None
    asked_to_stop: str | None
    wake: bool
    said: int
    work_item: str | None
    stalled_at: int | None
    stall_told_at: int | None


class BackgroundPartRow(Row):
    """A piece of what a command has said, from a position on."""

    table: ClassVar[str] = "background_output"
    key: ClassVar[tuple[str, ...]] = ("runtime_task_id", "part")

    runtime_task_id: str
    part: int
    position: int
    text: str
