"""An event in a few words, for lists of events."""

from aster.cli.screen.clean import one_line
from aster.contracts.blocks import TextBlock, ThinkingBlock, ToolUseBlock, text_of
from aster.contracts.events import (
    CacheHitRatioAlert,
    CompactionEvent,
    CompactionRequested,
    ContentBlockStart,
    ContentBlockStop,
    ContextManifest,
    ErrorEvent,
    Event,
    HitlRequest,
    HitlResolved,
    MediaNotice,
    PermissionSuggestion,
    PlanUpdate,
    Recovery,
    RiskSummary,
    SubagentLifecycle,
    TaskLifecycle,
    TextDelta,
    ThinkingDelta,
    ThreadLifecycle,
    ToolCallIssued,
    ToolError,
    ToolProgress,
    ToolResult,
    TurnTransition,
    Uncertainty,
    Usage,
    UserMessage,
    Verification,
)

_WIDTH = 200


def summary(event: Event) -> str:
    """What matters about an event."""
    return one_line(_words(event), _WIDTH)


def _words(event: Event) -> str:
    match event:
        case UserMessage():
            return text_of(event.content)
        case TextDelta() | ThinkingDelta():
            return event.text
        case ContentBlockStart():
            return event.tool or event.block_type
        case ContentBlockStop(block=TextBlock(text=text) | ThinkingBlock(text=text)):
            return text
        case ContentBlockStop(block=ToolUseBlock(name=name, input=given)):
            return f"{name} {given}"
        case ThreadLifecycle(phase=phase, stop_reason=reason):
            return f"{phase} {reason or ''}"
        case TaskLifecycle():
            return event.phase
        case TurnTransition():
            return f"{event.reason} {event.message or ''}"
        case Recovery():
            return f"from {event.discarded_from_seq} on, {event.reason}"
        case ContextManifest():
            moved = f", {event.moved} has moved" if event.moved else ""
            return f"about {event.total_tokens} of {event.window} tokens{moved}"
        case CacheHitRatioAlert():
            why = f"{event.moved_block} ({event.source}) has moved" if event.moved_block else "nothing has moved"
            return f"{event.missed_tokens} tokens were not in the provider's cache: {why}"
        case CompactionEvent():
            done = f"{event.before_tokens} to {event.after_tokens} tokens by {', '.join(event.strategies)}"
            return done if event.ok else event.reason or "nothing was gained"
        case CompactionRequested():
            return f"by the {event.by} {event.focus or ''}"
        case Usage():
            about = "about " if event.estimated else ""
            return f"{event.model}: {about}{event.input_tokens} in, {event.output_tokens} out"
        case _:
            return _tool_or_human(event)


def _tool_or_human(event: Event) -> str:
    match event:
        case ToolCallIssued():
            return f"{event.tool} {event.input}"
        case ToolProgress():
            return f"{event.tool}: {event.text}"
        case ToolResult():
            return f"{event.tool}: {event.error or 'ok'} {event.output}"
        case ToolError() | ErrorEvent() | MediaNotice():
            return event.message
        case HitlRequest():
            return event.question
        case Verification():
            return f"{event.verdict} {event.confidence:.2f}, {event.action} {'; '.join(event.issues)}"
        case PermissionSuggestion():
            return event.message
        case HitlResolved():
            return f"{event.answer} {event.feedback or ''}"
        case PlanUpdate():
            done = sum(step.status == "completed" for step in event.steps)
            return f"{event.goal}: {done} of {len(event.steps)} steps done, revision {event.revision}"
        case Uncertainty():
            return f"{'settled: ' if event.resolved else ''}{event.item} {event.impact}/5: {event.text}"
        case RiskSummary():
            return event.text
        case SubagentLifecycle():
            return f"{event.agent} {event.phase} {event.result or event.description or ''}"
        case _:
            return ""
