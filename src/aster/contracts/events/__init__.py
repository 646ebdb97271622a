"""Every event type, the union of them, and the tolerant reader.

The wire name of an event is its `type`; a golden file in `tests/contracts/golden` holds the released shape of each.
"""

from typing import TypeAlias, get_args

import msgspec

from aster.contracts.events.base import Event, Grade
from aster.contracts.events.content import ContentBlockStart, ContentBlockStop, TextDelta, ThinkingDelta
from aster.contracts.events.context import (
    CacheHitRatioAlert,
    CompactionEvent,
    CompactionRequested,
    ContextManifest,
    ManifestEntry,
)
from aster.contracts.events.diagnostics import ErrorEvent, Heartbeat, Reconnect
from aster.contracts.events.human import HitlRequest, HitlResolved, PermissionPrompt, PermissionSuggestion
from aster.contracts.events.judgement import RiskSummary, Uncertainty, Verification
from aster.contracts.events.learning import LearningUpdate
from aster.contracts.events.lifecycle import (
    Phase,
    Recovery,
    TaskLifecycle,
    ThreadLifecycle,
    TransitionReason,
    TurnTransition,
    UserMessage,
)
from aster.contracts.events.media import MediaNotice
from aster.contracts.events.memory import MemoryRetrieval, MemoryWrite, RetrievedItem, WorkingMemoryUpdate
from aster.contracts.events.models import AssetState, CircuitState, HookRan, ModelProgress, ProviderFallback
from aster.contracts.events.money import BudgetEvent, Usage
from aster.contracts.events.plan import Plan, PlanStep, PlanUpdate, TodoItem, TodoUpdate
from aster.contracts.events.tools import (
    FilesRestored,
    RestoredFile,
    ToolCallIssued,
    ToolError,
    ToolProgress,
    ToolResult,
    ToolRetry,
)
from aster.contracts.events.work import (
    BackgroundTask,
    GoalStatus,
    ProjectUpdate,
    ScheduleFired,
    SubagentLifecycle,
    TeamMessage,
    TeamUpdate,
    WorkflowUpdate,
    WorktreeEvent,
    WorkUpdate,
)

AnyEvent: TypeAlias = (
    ThreadLifecycle
    | TaskLifecycle
    | UserMessage
    | TurnTransition
    | Recovery
    | ContentBlockStart
    | TextDelta
    | ThinkingDelta
    | ContentBlockStop
    | ToolCallIssued
    | ToolProgress
    | ToolResult
    | ToolError
    | ToolRetry
    | FilesRestored
    | HitlRequest
    | PermissionPrompt
    | PermissionSuggestion
    | HitlResolved
    | MediaNotice
    | WorkingMemoryUpdate
    | MemoryRetrieval
    | MemoryWrite
    | LearningUpdate
    | ContextManifest
    | CompactionRequested
    | CompactionEvent
    | CacheHitRatioAlert
    | Verification
    | Uncertainty
    | RiskSummary
    | TodoUpdate
    | PlanUpdate
    | SubagentLifecycle
    | BackgroundTask
    | WorkUpdate
    | ScheduleFired
    | TeamMessage
    | TeamUpdate
    | WorktreeEvent
    | GoalStatus
    | WorkflowUpdate
    | ProjectUpdate
    | ProviderFallback
    | CircuitState
    | ModelProgress
    | HookRan
    | AssetState
    | Usage
    | BudgetEvent
    | Heartbeat
    | ErrorEvent
    | Reconnect
)

EVENT_TYPES: dict[str, type[Event]] = {str(kind.__struct_config__.tag): kind for kind in get_args(AnyEvent)}


class UnknownEvent(Event, tag="unknown"):
    """An event of a type this version does not know, kept as it was read."""

    raw_type: str
    raw: str


class _Envelope(msgspec.Struct):
    type: str
    task_id: str = ""
    turn_id: str | None = None
    seq: int = 0
    timestamp: str = ""


_decoder = msgspec.json.Decoder(AnyEvent)
_envelopes = msgspec.json.Decoder(_Envelope)


def type_of(event: Event) -> str:
    """The wire name of an event."""
    return str(event.__struct_config__.tag)


def grade_of(event: Event) -> Grade:
    """How the thread treats this very event."""
    if isinstance(event, ThreadLifecycle) and event.phase.final:
        return Grade.END
    if event.depth and not isinstance(event, HitlRequest | PermissionPrompt | HitlResolved):
        return Grade.SHOWN
    return event.grade


def decode_event(data: bytes | str) -> AnyEvent | UnknownEvent:
    """Read an event, whatever version of the engine wrote it."""
    try:
        return _decoder.decode(data)
    except msgspec.ValidationError:
        seen = _envelopes.decode(data)
        if seen.type in EVENT_TYPES:
            raise
        text = data if isinstance(data, str) else data.decode()
        return UnknownEvent(
            task_id=seen.task_id,
            turn_id=seen.turn_id,
            seq=seen.seq,
            timestamp=seen.timestamp,
            raw_type=seen.type,
            raw=text,
        )


__all__ = [
    "EVENT_TYPES",
    "AnyEvent",
    "AssetState",
    "BackgroundTask",
    "BudgetEvent",
    "CacheHitRatioAlert",
    "CircuitState",
    "CompactionEvent",
    "CompactionRequested",
    "ContentBlockStart",
    "ContentBlockStop",
    "ContextManifest",
    "ErrorEvent",
    "Event",
    "FilesRestored",
    "GoalStatus",
    "Grade",
    "Heartbeat",
    "HitlRequest",
    "HitlResolved",
    "HookRan",
    "LearningUpdate",
    "ManifestEntry",
    "MediaNotice",
    "MemoryRetrieval",
    "MemoryWrite",
    "ModelProgress",
    "PermissionPrompt",
    "PermissionSuggestion",
    "Phase",
    "Plan",
    "PlanStep",
    "PlanUpdate",
    "ProjectUpdate",
    "ProviderFallback",
    "Reconnect",
    "Recovery",
    "RestoredFile",
    "RetrievedItem",
    "RiskSummary",
    "ScheduleFired",
    "SubagentLifecycle",
    "TaskLifecycle",
    "TeamMessage",
    "TeamUpdate",
    "TextDelta",
    "ThinkingDelta",
    "ThreadLifecycle",
    "TodoItem",
    "TodoUpdate",
    "ToolCallIssued",
    "ToolError",
    "ToolProgress",
    "ToolResult",
    "ToolRetry",
    "TransitionReason",
    "TurnTransition",
    "Uncertainty",
    "UnknownEvent",
    "Usage",
    "UserMessage",
    "Verification",
    "WorkUpdate",
    "WorkflowUpdate",
    "WorkingMemoryUpdate",
    "WorktreeEvent",
    "decode_event",
    "grade_of",
    "type_of",
]
