"""Recovery from refused media: a provider will not read something that was attached, and the turn goes on without.

What is at fault is among what no model call of the conversation was accepted with yet, so that alone is replaced, by
a line of text that says what stood there; only when there is nothing of the kind, everything attached before is left
out. It happens once in a turn and never again: a second refusal ends it.
"""

from collections.abc import Iterator, Sequence

from aster.contracts.blocks import FileBlock, MediaKind, ToolResultBlock
from aster.contracts.events import MediaNotice, TransitionReason, TurnTransition
from aster.contracts.messages import Message
from aster.engine_core.services import Services
from aster.engine_core.stripped_media import NOUNS, files_in, kind_of
from aster.engine_core.turn import Turn
from aster.herald.failure import FailureKind, HeraldError

REFUSED = "refused_by_provider"
TOO_LARGE = 413


def without_refused(turn: Turn, services: Services, error: HeraldError) -> bool:
    """Whether the turn goes on without what was refused."""
    state, reason = turn.state, TransitionReason.MEDIA_RECOVERY
    refused = error.kind is FailureKind.REFUSED_MEDIA or error.http_status == TOO_LARGE
    if not refused or not services.settings.media_error_recovery_enabled or state.transitions.get(reason, 0):
        return False
    notices = _at_fault(turn, error.media_kinds)
    if not notices:
        return False
    services.raven.note("media_stripped", "warning", error.message, blocks=len(notices))
    transition = TurnTransition(
        reason=reason, step=state.step + 1, limit=1, error=error.code, message=notices[0].message
    )
    turn.write(*notices, transition)
    return True


def _at_fault(turn: Turn, named: frozenset[MediaKind]) -> list[MediaNotice]:
    """What may be meant: of the kinds the provider named, if it named any that are there."""
    fresh = [notice for message in _unanswered(turn.state.messages) for notice in _notices(message)]
    found = [notice for notice in fresh if notice.kind in named] or fresh
    if found or turn.state.media_withheld:
        return found
    earlier = (*turn.history, *turn.state.messages)
    kinds: list[MediaKind] = [kind_of(block) for message in earlier for block in files_in(message.content)]
    return [_notice(kinds[0])] if kinds else []


def _unanswered(messages: Sequence[Message]) -> Sequence[Message]:
    """What came after the newest answer of the model: no call has been accepted with it."""
    last = next((at for at in range(len(messages) - 1, -1, -1) if messages[at].role == "assistant"), -1)
    return messages[last + 1 :]


def _notices(message: Message) -> Iterator[MediaNotice]:
    for at, block in enumerate(message.content):
        if isinstance(block, FileBlock) and message.id is not None:
            yield _notice(kind_of(block), message_id=message.id, block_index=at)
        elif isinstance(block, ToolResultBlock):
            for place, part in enumerate(block.content):
                if isinstance(part, FileBlock):
                    yield _notice(kind_of(part), tool_call_id=block.tool_use_id, block_index=place)


def _notice(
    kind: MediaKind, *, message_id: str | None = None, tool_call_id: str | None = None, block_index: int = 0
) -> MediaNotice:
    everything = message_id is None and tool_call_id is None
    subject = "What was attached to earlier messages" if everything else NOUNS[kind]
    return MediaNotice(
        action="stripped",
        kind=kind,
        reason=REFUSED,
        message=f"{subject} was refused by the model provider and is left out.",
        message_id=message_id,
        tool_call_id=tool_call_id,
        block_index=block_index,
    )
