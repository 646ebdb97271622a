"""What a tool is to the engine: a definition for the model, and answers about each call before it runs.

Whether a call is safe beside others, may be repeated, or needs a person depends on its input, never on the tool's
name; a tool that says nothing gets the careful defaults.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeAlias

from aster.brain.agents import SubagentRecord
from aster.brain.records import Row
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.events import Event, HitlRequest, Plan
from aster.contracts.llm import LLMResponse, ModelRequest
from aster.contracts.tools import Effect, ToolDef, ToolOutcome
from aster.contracts.turn import Doubt, Question
from aster.infra.settings import Settings
from aster.memory.memory import Memory
from aster.sandbox.backend import Sandbox
from aster.sandbox.paths import Workspace
from aster.sandbox.permissions import ALLOW, Decision
from aster.sandbox.policy import Policy
from aster.utility_directory.background import Background
from aster.utility_directory.project_room import ProjectRoom
from aster.utility_directory.scheduling import SchedulesOffered
from aster.utility_directory.team_protocols import TeamProtocols
from aster.utility_directory.team_room import TeamRoom
from aster.utility_directory.work_board import Work
from aster.utility_directory.workflow_runs import RunWorkflows
from aster.utility_directory.worktree_making import MakesWorktrees

Input: TypeAlias = dict[str, Any]
Progress: TypeAlias = Callable[[str, str], None]
"""Called with a piece of text and the name of its stream while a call runs."""
Artifacts: TypeAlias = Callable[[str], Awaitable[bytes | None]]
"""Given an artifact's id, what is in it, if the user has such a one."""
Span: TypeAlias = Callable[[], Awaitable[tuple[int, int]]]
"""The part of the thread that the turn has written so far: its first and last sequence number."""
Heard: TypeAlias = Callable[[], tuple[str, ...] | None]
"""What people have typed in the task, message by message; None when a person makes the call by name."""
Record: TypeAlias = Callable[[Event], None]
"""Called with an event that goes onto the thread together with the call's result, if that is a good one."""

Keep: TypeAlias = Callable[[Row], None]
"""Called with a row that is committed together with the call's result, if that is a good one."""

Doubts: TypeAlias = Callable[[str], Awaitable[Doubt | None]]
"""Given the id of an uncertainty of the task, how it stands; None if there is none."""

Ask: TypeAlias = Callable[[ModelRequest], Awaitable[LLMResponse]]
"""Makes a model call beside the turn's steps, paid like they are; raises `EngineError` when it may not be made."""

Subagents: TypeAlias = Callable[[str, float], Awaitable[SubagentRecord | None]]
"""Given the task of a sub-agent that this task began, how it stands; None if it began none there."""

Perform: TypeAlias = Callable[["ToolContext", str, Input], Awaitable[ToolOutcome]]
"""Makes a call of another tool, if one of the model's own would be let through without asking anybody."""

RESULT_CHARS = 40_000
_SLACK_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class ToolLimits:
    """What a call may take; `call_seconds` is the backstop for handlers that do not end by themselves."""

    bash_seconds: float = 120.0
    call_seconds: float = 120.0 + _SLACK_SECONDS
    search_seconds: float = 20.0
    answer_tokens: int = 4096

    @classmethod
    def of(cls, settings: Settings) -> "ToolLimits":
        seconds = settings.bash_timeout_seconds
        return cls(bash_seconds=seconds, call_seconds=seconds + _SLACK_SECONDS, answer_tokens=settings.max_tokens)


def _nobody_listens(text: str, stream: str) -> None:
    del text, stream


def _nobody_records(event: Event) -> None:
    del event


def _nobody_keeps(row: Row) -> None:
    del row


class Plans(NamedTuple):
    """The plan of this turn, and the newest of the turns before it."""

    now: Plan | None = None
    before: Plan | None = None


async def _no_plan() -> Plans:
    return Plans()


async def _no_doubt(item_id: str) -> Doubt | None:
    del item_id


async def _nowhere() -> tuple[int, int]:
    return 0, 0


def _nothing_heard() -> tuple[str, ...]:
    return ()


async def _nobody_answers(request: ModelRequest) -> LLMResponse:
    del request
    raise EngineError(ErrorCode.CONFIGURATION_INVALID, "No model can be asked here.")


async def _nothing_performed(context: "ToolContext", tool: str, given: Input) -> ToolOutcome:
    del context, given
    return ToolOutcome.error(f"No other tool can be called here, not {tool} either.", reason="unknown_tool")


async def _nothing_kept(artifact_id: str) -> bytes | None:
    del artifact_id


async def _no_subagent(task_id: str, seconds: float) -> SubagentRecord | None:
    del task_id, seconds


@dataclass(frozen=True, slots=True)
class Preserved:
    """A file as it is before a call changes it; `data` is None when there is none, or too much to keep."""

    path: Path
    existed: bool
    mode: int | None = None
    data: bytes | None = None


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
    artifact: Artifacts = _nothing_kept
    record: Record = _nobody_records
    keep: Keep = _nobody_keeps
    background: Background | None = None
    wakeable: bool = False
    """Whether the task may be woken by what it begins in the background."""
    memory: Memory | None = None
    tools: tuple[str, ...] = ()
    span: Span = _nowhere
    heard: Heard = _nothing_heard
    plans: Callable[[], Awaitable[Plans]] = _no_plan
    doubt: Doubts = _no_doubt
    sample: Ask = _nobody_answers
    announce: Record = _nobody_records
    """Called with an event that goes onto the thread at once, whatever the call comes to."""
    pin: str | None = None
    """What the call was let through for, as its decision told."""
    asked: Question | None = None
    """What this call asked a person before it was run again, with the answer."""
    ask: Ask = _nobody_answers
    perform: Perform = _nothing_performed
    readable: tuple[Path, ...] = ()
    subagent: Subagents = _no_subagent
    work: Work | None = None
    worktrees: MakesWorktrees | None = None
    workflows: RunWorkflows | None = None
    schedules: SchedulesOffered | None = None
    projects: ProjectRoom | None = None
    team: TeamRoom | None = None
    protocols: TeamProtocols | None = None
    limits: ToolLimits = field(default_factory=ToolLimits)
    policy: Policy = field(default_factory=Policy)

    def remembering(self) -> Memory:
        """The memory, for a tool that cannot do without."""
        if self.memory is None:
            raise EngineError(ErrorCode.CONFIGURATION_INVALID, "This engine keeps no memory.")
        return self.memory

    def working(self) -> Work:
        """The board of the work graph, for a tool that cannot do without."""
        if self.work is None:
            raise EngineError(ErrorCode.CONFIGURATION_INVALID, "There is no board here.")
        return self.work


class Meant(NamedTuple):
    """The call of a platform tool that another call stands for."""

    tool: str
    input: Input


class UnfitInput(Exception):
    """A valid input that a tool cannot work with; the message says why, for the model."""


class Asks(Exception):
    """A call cannot go on before a person has answered; it is run again with the answer (`ToolContext.asked`). `told`:
    the question stands on the thread already."""

    def __init__(self, request: HitlRequest, *, told: bool = False) -> None:
        super().__init__(request.question)
        self.request = request
        self.told = told


class Tool(Protocol):
    """A tool; implementations derive from it and override what differs."""

    definition: ToolDef
    asks_human: bool = False
    """True when a person's answer is the outcome: the engine suspends the turn instead of running the call."""
    untrusted_output: bool = True
    """False when its words are the engine's or a person's: they are not marked as outside data for the model."""
    setter: bool = False
    """True when doing it a second time in one turn with the same input says nothing new: it is not run again."""
    delegates: bool = False
    """True when another agent does the work, always: the engine begins it, and its last words are the outcome."""
    own_notes: bool = False
    """True when it changes nothing but what the turn notes for itself: no permission mode holds it back."""
    result_chars: int | None = RESULT_CHARS
    """Longer text goes to an artifact; None for a tool that pages by itself."""
    source: str = "platform"
    """Where it comes from: the `platform`, the operator's `catalog`, or a connected server (`mcp`)."""
    requires_permission: bool = False
    """True when a person is asked before every call, whatever it would do."""
    endless: bool = False
    """True when a call ends by limits of its own, which may be hours: it has no other."""
    places: frozenset[str] = frozenset()
    """Where a model is told of it (aster.utility_directory.places); everywhere when it is empty."""
    checked_schema: dict[str, Any] | None = None
    """What an input is held against, where that is not all that the definition says."""

    def hands_over(self, given: Input, context: ToolContext, policy: Policy) -> bool:
        """Whether another agent does the work of this very call."""
        return self.delegates

    def stands_for(self, given: Input) -> Meant | None:
        """The call of a platform tool that this call is in truth; None if it is itself. Raises `UnfitInput`."""
        return None

    def effect(self, given: Input) -> Effect:
        return Effect.IRREVERSIBLE

    def concurrent(self, given: Input) -> bool:
        return False

    async def look(self, given: Input, context: ToolContext) -> None:
        """Learn what `decide` has to know, which cannot wait."""

    def decide(self, given: Input, context: ToolContext) -> Decision:
        return ALLOW

    async def preserve(self, given: Input, context: ToolContext) -> Preserved | None:
        """What the call is about to change, so that it can be taken back; None if it changes no file."""
        return None

    async def run(self, given: Input, context: ToolContext) -> ToolOutcome: ...

    async def details(self, given: Input, context: ToolContext) -> str:
        """What a person who is asked about a call should see besides the reason."""
        return ""

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
