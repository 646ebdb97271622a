"""History: the messages of the turns before this one.

Turns form a tree: each says which turn it follows and how many of its messages count. An edit or a retry follows an
earlier place, so nothing is ever destroyed; the history of a turn is the way back to the root, or to the newest
compaction on that way, which stands for everything before it.
"""

from collections import OrderedDict
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from aster.brain.compaction_records import WayBack
from aster.brain.protocol import Brain
from aster.brain.records import ThreadKey
from aster.contracts.blocks import ToolResultBlock
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.messages import Message

CACHE_MESSAGES = 50_000

_messages = msgspec.json.Decoder(list[Message])


class Place(NamedTuple):
    """A point of a conversation: after the first `messages` messages of a turn (None: all of them)."""

    turn_id: str | None
    messages: int | None = None


class History:
    """Loads conversations and keeps those of recently active tasks in memory."""

    def __init__(self, brain: Brain, capacity: int = CACHE_MESSAGES) -> None:
        self._brain = brain
        self._capacity = capacity
        self._size = 0
        self._cache: OrderedDict[ThreadKey, tuple[str, list[Message]]] = OrderedDict()

    async def load(self, key: ThreadKey, place: Place) -> list[Message]:
        """What a model is shown of all up to a place, oldest first."""
        if place.turn_id is None:
            return []
        cached = self._cache.get(key)
        if cached is not None and place == Place(cached[0]):
            self._cache.move_to_end(key)
            return cached[1]
        messages = _joined(await self._brain.way_back(key, place.turn_id, place.messages), place.messages)
        if place.messages is None:
            self.keep(key, place.turn_id, messages)
        return messages

    async def view(self, user_id: str, compaction_id: str) -> list[Message]:
        """What a conversation was compacted to."""
        row = await self._brain.compaction(user_id, compaction_id)
        if row is None:
            raise EngineError(ErrorCode.NOT_FOUND, "What this conversation was compacted to is not in the brain.")
        return _messages.decode(row.messages)

    def keep(self, key: ThreadKey, turn_id: str, messages: list[Message]) -> None:
        """Remember the conversation up to the end of this turn, the task's newest."""
        self.forget(key)
        self._cache[key] = (turn_id, messages)
        self._size += len(messages) + 1
        while self._size > self._capacity and len(self._cache) > 1:
            _, (_, dropped) = self._cache.popitem(last=False)
            self._size -= len(dropped) + 1

    def forget(self, key: ThreadKey) -> None:
        cached = self._cache.pop(key, None)
        if cached is not None:
            self._size -= len(cached[1]) + 1

    def clear(self) -> None:
        self._cache.clear()
        self._size = 0

    async def find(self, key: ThreadKey, message_id: str) -> tuple[Place, Message]:
        """The place just before a person's message (or before the one an answer belongs to), and that message."""
        for row in reversed(await self._brain.conversations(key)):
            messages = _messages.decode(row.messages)
            index = next((i for i, item in enumerate(messages) if item.id == message_id), None)
            if index is None:
                continue
            while index > 0 and not spoken(messages[index]):
                index -= 1
            if index == 0:
                return Place(row.follows_turn_id, row.follows_messages), messages[0]
            return Place(row.turn_id, index), messages[index]
        raise EngineError(
            ErrorCode.NOT_FOUND,
            f"No message {message_id!r} in this task. The `message_id` of every message is on its event.",
            {"message_id": message_id},
        )


def spoken(message: Message) -> bool:
    """Whether a person said it (the results of tools and the engine's own words also have the role `user`)."""
    if message.role != "user" or message.engine:
        return False
    return not any(isinstance(block, ToolResultBlock) for block in message.content)


def _joined(way: WayBack, upto: int | None) -> list[Message]:
    """The messages of a way back: the first `upto` of its newest turn, behind what was compacted."""
    parts: list[Sequence[Message]] = []
    for row in way.turns:
        parts.append(_messages.decode(row.messages)[:upto])
        upto = row.follows_messages
    if way.view is not None:
        parts[-1] = [*_messages.decode(way.view.messages), *parts[-1][way.view.covers :]]
    return [message for part in reversed(parts) for message in part]
