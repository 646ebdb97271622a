"""What a tool is, what a call of it asks for, and what the call came to.

A tool declares its effect per call; the engine decides by it what may run twice. An outcome is structured:
nothing downstream reads its text to find out whether it failed.
"""

from enum import StrEnum
from typing import Any

from aster.contracts.blocks import ResultContent, TextBlock
from aster.contracts.model import Contract

PERMISSION_DENIED = "permission_denied"
"""The reason of an outcome that no tool produced, because the call was not allowed."""
PLAN_BLOCKED = "plan_blocked"
"""The same, because the plan of the team's member that made it, or that it was made for, is not approved."""


class Effect(StrEnum):
    """What running a call does to the world, and so whether it may be run again after a crash."""

    PURE = "pure"
    IDEMPOTENT = "idempotent"
    REVERSIBLE = "reversible"
    IRREVERSIBLE = "irreversible"

    @property
    def repeatable(self) -> bool:
        return self in (Effect.PURE, Effect.IDEMPOTENT)


class ToolDef(Contract):
    """What the model is told about a tool."""

    name: str
    description: str
    input_schema: dict[str, Any]


class ToolCall(Contract):
    """One call as the model asked for it."""

    id: str
    name: str
    input: dict[str, Any]


class OutcomeClass(StrEnum):
    """What kind of failure it was, and so what the loop may do about it."""

    RETRYABLE = "retryable"
    FATAL = "fatal"
    DIAGNOSTIC = "diagnostic"
    UNKNOWN = "unknown"


class Artifact(Contract):
    """Something a tool produced that is kept beside the thread."""

    id: str
    media_type: str
    size: int
    name: str | None = None


class ToolOutcome(Contract):
    """What a call came to. `reason` is a short machine word (`permission_denied`, `timeout`, `cancelled` …);
    `retry_after` are the seconds somebody asked us to wait before trying again.
    """

    ok: bool
    output: tuple[ResultContent, ...]
    failure: OutcomeClass | None = None
    reason: str | None = None
    retry_safe: bool = False
    retry_after: float | None = None
    artifacts: tuple[Artifact, ...] = ()
    data: dict[str, Any] | None = None

    @classmethod
    def text(cls, text: str, data: dict[str, Any] | None = None) -> "ToolOutcome":
        return cls(ok=True, output=(TextBlock(text=text),), data=data)

    @classmethod
    def error(
        cls,
        text: str,
        *,
        reason: str,
        failure: OutcomeClass = OutcomeClass.DIAGNOSTIC,
        retry_safe: bool = False,
        retry_after: float | None = None,
        data: dict[str, Any] | None = None,
    ) -> "ToolOutcome":
        return cls(
            ok=False,
            output=(TextBlock(text=text),),
            failure=failure,
            reason=reason,
            retry_safe=retry_safe,
            retry_after=retry_after,
            data=data,
        )


class Utility(Contract):
    """A platform tool as it is listed to clients: its definition and how the engine treats it."""

    definition: ToolDef
    source: str = "platform"
    requires_permission: bool = False
