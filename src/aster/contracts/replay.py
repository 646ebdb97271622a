"""Replay: a recorded turn that is run again, and what came of it beside what had come of it then.

A report is made of the two threads alone, so it is the same whenever it is asked for. A recording is one turn with all
that is needed to run it again somewhere else.
"""

from typing import Any, Literal, TypeAlias

from aster.contracts.messages import Message
from aster.contracts.model import Contract
from aster.contracts.tools import ToolDef

MemorySet: TypeAlias = Literal["recorded", "none", "current"]
"""What a replay is told of memory: what the turn was told, nothing, or what would be found now."""
Unrecorded: TypeAlias = Literal["refuse", "stop"]
"""What becomes of a call that is not on record: the model is told so, or the replay ends there."""
DivergenceKind: TypeAlias = Literal["call", "arguments", "answer", "stop_reason", "status"]
ReplayStatus: TypeAlias = Literal["running", "ended"]

RECORDING_FORMAT = "aster.recording"
RECORDING_VERSION = 1
NOT_RECORDED = "not_recorded"
"""The reason of an outcome that no tool produced, because the call is not on record."""


class ReplayWish(Contract):
    """Which turn is to be replayed, and what is to be different. `from_seq` is any place of the task: the replay begins
    at the last model call at or before it. `extra` are lines shown as if memory had had them, `without` are records
    that are left out. One in the `background` stands back behind people, and takes models that work there."""

    task_id: str
    turn_id: str | None = None
    from_seq: int | None = None
    model: str | None = None
    instructions: str | None = None
    agent: str | None = None
    memory: MemorySet = "recorded"
    without: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    unrecorded: Unrecorded = "refuse"
    background: bool = False
    max_usd: float | None = None


class Divergence(Contract):
    """The first thing that came otherwise: at which model call (`step`, from 1), and where on both threads."""

    step: int
    kind: DivergenceKind
    source_seq: int | None = None
    replay_seq: int | None = None
    recorded: Any = None
    replayed: Any = None


class ReplayArm(Contract):
    """One of the two: how it ended, and what its model calls from the beginning of the replay on used. `model_ms` is
    what they took, `tool_ms` what the tools took when they were run, `seconds` the whole turn by the clock."""

    task_id: str
    turn_id: str
    status: str
    model: str = ""
    stop_reason: str | None = None
    error: str | None = None
    answer: str = ""
    steps: int = 0
    calls: int = 0
    tool_errors: int = 0
    unrecorded: int = 0
    cost_usd: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_hit_tokens: int = 0
    model_ms: int = 0
    tool_ms: int = 0
    seconds: float = 0.0


class ReplayReport(Contract):
    """What a replay came to. While it is `running`, what there is so far. `same`: it made the same calls, ended the
    same way and said the same; `diff` is the difference between the two answers, line by line."""

    replay_task_id: str
    status: ReplayStatus
    from_seq: int
    from_step: int
    memory: MemorySet
    same: bool
    divergence: Divergence | None
    diff: str
    recorded: ReplayArm
    replayed: ReplayArm


class ReplaySummary(Contract):
    """A replay in a list."""

    replay_task_id: str
    task_id: str
    from_seq: int
    status: ReplayStatus
    created_at: str


class RecordedView(Contract):
    """What the conversation was compacted to in the middle of a turn."""

    compaction_id: str
    covers: int
    messages: tuple[Message, ...]


class Recording(Contract):
    """One turn, with the conversation before it and every record it left on its thread, as JSON objects in order.
    `tools` are the definitions of the tools it called, which not every engine has."""

    task_id: str
    turn_id: str
    history: tuple[Message, ...]
    events: tuple[dict[str, Any], ...]
    views: tuple[RecordedView, ...] = ()
    tools: tuple[ToolDef, ...] = ()
    title: str = ""
    model: str = ""
    engine: str = ""
    format: str = RECORDING_FORMAT
    version: int = RECORDING_VERSION
