"""Tool events: the intent (durable before the tool runs), progress, and the one outcome."""

from typing import Any, ClassVar, Literal

from aster.contracts.blocks import ResultContent
from aster.contracts.events.base import Event, Grade
from aster.contracts.model import Contract
from aster.contracts.tools import Artifact, Effect, OutcomeClass


class ToolCallIssued(Event, tag="tool_call"):
    """The engine is about to run this call; `attempt` grows when it is run again under the same key. `grant_id` is
    what spared a person the question. `as_tool` and `as_input` are the call of a platform tool that a declared tool
    stands for."""

    tool: str
    tool_call_id: str
    input: dict[str, Any]
    step: int
    effect: Effect
    idempotency_key: str
    attempt: int = 1
    grant_id: str | None = None
    as_tool: str | None = None
    as_input: dict[str, Any] | None = None


class ToolProgress(Event, tag="tool_progress"):
    grade: ClassVar[Grade] = Grade.DELTA

    tool: str
    tool_call_id: str
    text: str
    stream: str | None = None


class ToolResult(Event, tag="tool_result"):
    """What the call came to; `error` is a machine word when it failed, the reason is in `output`.

    `trusted`: the words are the engine's or a person's, and not data from outside.
    """

    tool: str
    tool_call_id: str
    step: int
    output: str
    error: str | None = None
    content: tuple[ResultContent, ...] = ()
    duration_ms: int | None = None
    artifacts: tuple[Artifact, ...] = ()
    data: dict[str, Any] | None = None
    trusted: bool = False


class ToolError(Event, tag="tool_error"):
    """A call failed; the class says what the engine and the model may do about it."""

    tool: str
    tool_call_id: str
    failure: OutcomeClass
    reason: str
    message: str
    retry_safe: bool = False


class RestoredFile(Contract):
    path: str
    action: Literal["restored", "removed"]


class FilesRestored(Event, tag="files_restored"):
    """A person took back what a turn did to files."""

    undone_turn_id: str
    files: tuple[RestoredFile, ...]


class ToolRetry(Event, tag="tool_retry"):
    tool: str
    tool_call_id: str
    attempt: int
    limit: int
    delay_ms: int
    reason: str
