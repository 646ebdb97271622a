"""Lifecycle events: where a turn and a task stand, and why the loop went round again."""

from enum import StrEnum
from typing import Any, Literal, TypeAlias

from aster.contracts.blocks import MediaBlock
from aster.contracts.events.base import Event


class Phase(StrEnum):
    STARTED = "started"
    SUSPENDED = "suspended"
    RESUMED = "resumed"
    COMPLETED = "completed"
    ERRORED = "errored"
    CANCELLED = "cancelled"

    @property
    def final(self) -> bool:
        return self in (Phase.COMPLETED, Phase.ERRORED, Phase.CANCELLED)


class TransitionReason(StrEnum):
    """Why a turn makes another model call."""

    TOOL_RESULT_CONTINUATION = "tool_result_continuation"
    MAX_TOKENS_RECOVERY = "max_tokens_recovery"
    COMPACT_RETRY = "compact_retry"
    TRANSPORT_RETRY = "transport_retry"
    STOP_HOOK_CONTINUATION = "stop_hook_continuation"
    BUDGET_CONTINUATION = "budget_continuation"
    PAUSE_TURN = "pause_turn"
    STEER = "steer"
    LOOP_GUARD = "loop_guard"
    VERIFICATION_REPAIR = "verification_repair"
    REPETITION = "repetition"
    EMPTY_ANSWER = "empty_answer"
    MISSING_CALL = "missing_call"
    MEDIA_RECOVERY = "media_recovery"
    GOAL_CONTINUATION = "goal_continuation"
    HUMAN_GATE = "human_gate"


class ThreadLifecycle(Event, tag="thread_lifecycle"):
    """A turn opens with `started` and closes with `completed`, `errored` or `cancelled`, always."""

    phase: Phase
    segment: int = 0
    stop_reason: str | None = None
    request: dict[str, Any] | None = None
    follows_turn_id: str | None = None
    follows_messages: int | None = None


TaskPhase: TypeAlias = Literal["queued", "dequeued", "forked", "renamed", "replayed"]


class TaskLifecycle(Event, tag="task_lifecycle"):
    """Something happened to the task as a whole, outside the steps of a turn."""

    phase: TaskPhase
    message_id: str | None = None
    from_task_id: str | None = None
    from_seq: int | None = None
    title: str | None = None


Origin: TypeAlias = Literal["user", "queue", "steer", "interrupt", "engine", "import", "agent"]


class UserMessage(Event, tag="user_message"):
    """A message entered the turn; `origin: engine` marks text the engine itself put there, `import` what
    a client's history had before, `agent` the work that another agent hands over.

    `said_at` is when a person said it (to the minute, in the engine's time zone); the model is told, with the message.
    """

    message_id: str
    content: tuple[MediaBlock, ...]
    origin: Origin = "user"
    edits: str | None = None
    retries: str | None = None
    said_at: str | None = None


class TurnTransition(Event, tag="turn_transition"):
    """The loop goes round again, for this reason, having used `attempt` of `limit`."""

    reason: TransitionReason
    step: int
    attempt: int = 1
    limit: int | None = None
    delay_ms: int | None = None
    error: str | None = None
    message: str | None = None
    max_tokens: int | None = None


RecoveryReason: TypeAlias = Literal["restart", "transport", "max_tokens", "takeover", "repetition", "verification"]


class Recovery(Event, tag="recovery"):
    """What was streamed of a model call from `discarded_from_seq` on no longer counts; it is asked again."""

    discarded_from_seq: int
    reason: RecoveryReason
    step: int
