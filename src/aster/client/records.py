"""What the engine answers, as the client reads it: typed, and tolerant of fields a newer engine adds."""

from typing import Any, Literal, TypeAlias

import msgspec

from aster.contracts.events import AnyEvent, PlanStep, RestoredFile, UnknownEvent, decode_event
from aster.contracts.model import Contract
from aster.contracts.permissions import GrantOffer
from aster.contracts.tools import ToolDef

OnBusy: TypeAlias = Literal["reject", "queue", "steer", "interrupt"]


class TaskSummary(Contract):
    """A task as it is listed."""

    task_id: str
    title: str = ""
    status: str = "idle"
    created_at: str = ""
    updated_at: str = ""
    active_turn_id: str | None = None
    from_task_id: str | None = None
    from_seq: int | None = None
    parent_task_id: str | None = None


class TaskPage(Contract):
    """Tasks, the newest first; `next` is what to pass as `before` for more."""

    tasks: tuple[TaskSummary, ...]
    next: str | None = None


class TurnSummary(Contract):
    """A turn as it is listed with its task."""

    turn_id: str
    status: str
    first_seq: int = 0
    last_seq: int | None = None
    started_at: str = ""
    ended_at: str | None = None
    stop_reason: str | None = None
    error: str | None = None
    model_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    agent: str = "main"


class PendingRequest(Contract):
    """A question that waits for a person."""

    request_id: str
    task_id: str
    kind: str
    question: str
    turn_id: str | None = None
    tool: str | None = None
    tool_call_id: str | None = None
    input: dict[str, Any] | None = None
    options: tuple[str, ...] | None = None
    reason: str | None = None
    created_at: str = ""
    offer: GrantOffer | None = None


class PendingList(Contract):
    pending: tuple[PendingRequest, ...]


class WaitingMessage(Contract):
    """A message that waits for its turn."""

    message_id: str
    mode: str
    message: str
    created_at: str = ""


class TaskDetail(TaskSummary):
    """A task with its turns, what it waits for and what waits for it."""

    head_seq: int = 0
    turns: tuple[TurnSummary, ...] = ()
    pending: tuple[PendingRequest, ...] = ()
    inbox: tuple[WaitingMessage, ...] = ()


class RawPage(Contract):
    """A page of a thread as it arrives."""

    events: tuple[msgspec.Raw, ...]
    next_after_seq: int
    head_seq: int

    def read(self) -> "EventPage":
        return EventPage(
            events=tuple(decode_event(bytes(raw)) for raw in self.events),
            next_after_seq=self.next_after_seq,
            head_seq=self.head_seq,
        )


class EventPage(Contract):
    """A page of a thread; the next one begins after `next_after_seq`, and at `head_seq` there is none."""

    events: tuple[AnyEvent | UnknownEvent, ...]
    next_after_seq: int
    head_seq: int


class Cancelled(Contract):
    task_id: str
    turn_id: str
    status: str
    dropped_messages: int = 0


class Answered(Contract):
    status: str
    request_id: str


class Forked(Contract):
    task_id: str
    from_task_id: str
    from_seq: int
    head_seq: int


class ArtifactSummary(Contract):
    """Something a tool produced, kept beside the thread."""

    artifact_id: str
    turn_id: str
    tool_call_id: str
    name: str
    media_type: str
    size: int
    sha256: str
    created_at: str


class ArtifactList(Contract):
    artifacts: tuple[ArtifactSummary, ...]


class PlanSummary(Contract):
    """The newest plan of a task."""

    turn_id: str
    seq: int
    goal: str
    steps: tuple[PlanStep, ...]
    revision: int = 1
    reason: str | None = None
    updated_at: str = ""


class PlanAnswer(Contract):
    plan: PlanSummary | None = None


class UncertaintySummary(Contract):
    """Something the agent of a task does not know or takes for granted, as it stands."""

    item_id: str
    turn_id: str
    seq: int
    item: str
    text: str
    impact: int
    confidence: float | None = None
    resolution: str | None = None
    source: str = "tool"
    resolved: bool = False
    note: str | None = None
    created_at: str = ""
    updated_at: str = ""


class UncertaintyList(Contract):
    uncertainties: tuple[UncertaintySummary, ...]


class RecurringUnknown(Contract):
    """Something that agents keep not knowing."""

    text: str
    times: int
    tasks: int
    impact: int
    last_at: str


class RecurringList(Contract):
    recurring: tuple[RecurringUnknown, ...]


class ToolSummary(Contract):
    """A tool models can call; `source` is `platform`, `catalog` or `mcp`."""

    definition: ToolDef
    source: str
    requires_permission: bool = False


class ToolList(Contract):
    tools: tuple[ToolSummary, ...]


class Reloaded(Contract):
    """The declared tools and the agents that are in force now."""

    status: str
    tools: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()


class Undone(Contract):
    """What was taken back: the files of a turn, each `restored` or `removed`."""

    turn_id: str
    files: tuple[RestoredFile, ...]


class Compacted(Contract):
    """What became of a request to compact a task: `compacted`, `unchanged`, or `requested` of the turn that runs."""

    task_id: str
    status: str
    before_tokens: int | None = None
    after_tokens: int | None = None
    strategy: str | None = None
    artifact_id: str | None = None
    reason: str | None = None


class Deleted(Contract):
    status: str
    task_id: str


class Health(Contract):
    """`ok`, `degraded`, or `starting` and `draining` while the engine takes no work."""

    status: str
    version: str = ""
    uptime_seconds: float = 0.0
    subsystems: dict[str, Any] = {}


class About(Contract):
    """What the engine runs with, and whose key it is."""

    user_id: str
    operator: bool = False
    version: str = ""
    provider: str = ""
    model: str = ""
    allowed_models: tuple[str, ...] = ()
    workspace: str = "task"
    folders: tuple[str, ...] = ()
    sandbox: str = ""
    permission_mode: str = "default"
    memory_enabled: bool = True


class ReplicaSummary(Contract):
    """An engine process that shares the work; `answers` marks the one that answered."""

    replica: str
    since: str
    leads: bool = False
    answers: bool = False


class ReplicaList(Contract):
    replicas: tuple[ReplicaSummary, ...]
