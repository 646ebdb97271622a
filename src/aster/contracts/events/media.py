"""Media events: what became of a picture, a document or a recording that a model could not be shown."""

from typing import Literal, TypeAlias

from aster.contracts.blocks import MediaKind
from aster.contracts.events.base import Event

MediaAction: TypeAlias = Literal["stripped", "unsupported"]


class MediaNotice(Event, tag="media_notice"):
    """`stripped`: the model provider refused it, so a line of text stands in its place from now on. `unsupported`: the
    model that answers takes nothing of the kind, so it is told in words what was attached.

    It stands in the message `message_id` or in the result of `tool_call_id`, at `block_index` of its content; with
    neither, everything that was attached before this turn is meant.
    """

    action: MediaAction
    kind: MediaKind
    reason: str
    message: str
    message_id: str | None = None
    tool_call_id: str | None = None
    block_index: int = 0
