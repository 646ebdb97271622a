"""What the engine tells a model in the middle of a turn: a message of its own at the end, never a change of an
earlier one. It stands on the thread like what people say, with its origin."""

from aster.contracts.blocks import TextBlock
from aster.contracts.events import UserMessage
from aster.infra.ids import new_id


def told(text: str, message_id: str | None = None) -> UserMessage:
    """A message of the engine's."""
    return UserMessage(message_id=message_id or new_id("msg"), content=(TextBlock(text=text),), origin="engine")
