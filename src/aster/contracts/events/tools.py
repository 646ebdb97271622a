"""Tool events: the intent (durable before the tool runs), progress, and the one outcome."""

from typing import Any, ClassVar

from aster.contracts.blocks import ResultContent
from aster.contracts.events.base import Event, Grade
from aster.contracts.tools import Artifact, Effect, OutcomeClass


class ToolCallIssued(Event, tag="tool_call"):
    """The engine is about to run this call; `attempt` grows when it is run again under the same key."""

    tool: str
    tool_call_id: str
    input: dict[str, Any]
    step: int
    effect: Effect
    idempotency_key: str
    attempt: int = 1


class ToolProgress(Event, tag="tool_progress"):
    grade: ClassVar[Grade] = Grade.DELTA

    tool: str
    tool_call_id: str
    text: str
    stream: str | None = None


class ToolResult(Event, tag="tool_result"):
    """What the call came to; `error` is a machine word when it failed, the reason is in `output`."""

    tool: str
    tool_call_id: str
    step: int
    output: str
    error: str | None = None
    content: tuple[ResultContent, ...] = ()
    duration_ms: int | None = None
    artifacts: tuple[Artifact, ...] = ()
    data: dict[str, Any] | None = None


class ToolError(Event, tag="tool_error"):
    """A call failed; the class says what the engine and the model may do about it."""

    tool: str
    tool_call_id: str
    failure: OutcomeClass
    reason: str
    message: str
    retry_safe: bool = False


class ToolRetry(Event, tag="tool_retry"):
    tool: str
    tool_call_id: str
    attempt: int
    limit: int
    delay_ms: int
    reason: str
