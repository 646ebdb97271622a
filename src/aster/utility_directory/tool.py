"""What a tool is to the engine: a definition for the model, and answers about each call before it runs.

Whether a call is safe beside others, may be repeated, or needs a person depends on its input, never on the tool's
name; a tool that says nothing gets the careful defaults.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from aster.contracts.tools import Effect, ToolDef, ToolOutcome
from aster.infra.settings import Settings
from aster.sandbox.backend import Sandbox
from aster.sandbox.paths import Workspace
from aster.sandbox.permissions import ALLOW, Decision
from aster.sandbox.policy import Policy

Input: TypeAlias = dict[str, Any]
Progress: TypeAlias = Callable[[str, str], None]
"""Called with a piece of text and the name of its stream while a call runs."""

_SLACK_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class ToolLimits:
    """What a call may take; `call_seconds` is the backstop for handlers that do not end by themselves."""

    bash_seconds: float = 120.0
    call_seconds: float = 120.0 + _SLACK_SECONDS
    search_seconds: float = 20.0
    result_chars: int = 60_000

    @classmethod
    def of(cls, settings: Settings) -> "ToolLimits":
        seconds = settings.bash_timeout_seconds
        return cls(bash_seconds=seconds, call_seconds=seconds + _SLACK_SECONDS)


def _nobody_listens(text: str, stream: str) -> None:
    del text, stream


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """Everything a call may use. The user comes from the engine, never from the model."""

    user_id: str
    task_id: str
    turn_id: str
    tool_call_id: str
    idempotency_key: str
    workspace: Workspace
    sandbox: Sandbox
    progress: Progress = _nobody_listens
    limits: ToolLimits = field(default_factory=ToolLimits)
    policy: Policy = field(default_factory=Policy)


class Tool(Protocol):
    """A tool; implementations derive from it and override what differs."""

    definition: ToolDef
    asks_human: bool = False
    """True when a person's answer is the outcome: the engine suspends the turn instead of running the call."""

    def effect(self, given: Input) -> Effect:
        return Effect.IRREVERSIBLE

    def concurrent(self, given: Input) -> bool:
        return False

    def decide(self, given: Input, context: ToolContext) -> Decision:
        return ALLOW

    async def run(self, given: Input, context: ToolContext) -> ToolOutcome: ...

    async def check(self, given: Input, context: ToolContext) -> ToolOutcome | None:
        """What a call of unknown fate came to, if the world shows that it was done; None if it cannot be told."""
        return None


def input_schema(required: tuple[str, ...], **properties: dict[str, Any]) -> dict[str, Any]:
    """A JSON Schema for a tool's input: these arguments and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }
