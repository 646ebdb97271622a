"""An event in a few words, for lists of events."""

from aster.cli.screen.clean import one_line
from aster.contracts.blocks import TextBlock, ThinkingBlock, ToolUseBlock, text_of
from aster.contracts.events import (
    ContentBlockStart,
    ContentBlockStop,
    ErrorEvent,
    Event,
    HitlRequest,
    HitlResolved,
    PermissionSuggestion,
    Recovery,
    TaskLifecycle,
    TextDelta,
    ThinkingDelta,
    ThreadLifecycle,
    ToolCallIssued,
    ToolError,
    ToolProgress,
    ToolResult,
    TurnTransition,
    Usage,
    UserMessage,
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
        case ToolError() | ErrorEvent():
            return event.message
        case HitlRequest():
            return event.question
        case PermissionSuggestion():
            return event.message
        case HitlResolved():
            return f"{event.answer} {event.feedback or ''}"
        case _:
            return ""
