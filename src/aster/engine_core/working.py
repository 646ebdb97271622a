"""Working memory in the turn: what was noted in a task is shown with the first message after it was noted.

It stands with that message for good, so no earlier message ever changes; a note whose message is no longer part of
the conversation is shown again. What does not fit is left out, the oldest first.
"""

from typing import Final

from aster.brain.memory_records import MemoryRow
from aster.contracts.events import RetrievedItem
from aster.engine_core.turn import Turn
from aster.infra.clock import iso_ms
from aster.memory.bus import tokens_of
from aster.memory.memory import Memory

MOST_TOKENS: Final = 800


async def unseen(turn: Turn, memory: Memory) -> tuple[RetrievedItem, ...]:
    """The notes of a task that its conversation does not show yet, the oldest first."""
    notes = await memory.notes(turn.key.user_id, turn.key.task_id)
    if not notes:
        return ()
    shown = "\n".join(message.recalled for message in turn.history if message.recalled)
    items: list[RetrievedItem] = []
    left = MOST_TOKENS
    for note in reversed(notes):
        if note.id in shown:
            continue
        item = _item(note)
        left -= item.tokens
        if left < 0:
            break
        items.append(item)
    return tuple(reversed(items))


def _item(note: MemoryRow) -> RetrievedItem:
    text = f"{note.fields['type']}: {note.text}"
    return RetrievedItem(
        store="working",
        id=note.id,
        score=1.0,
        tokens=tokens_of(text),
        text=text,
        source_task_id=note.task_id,
        first_seq=note.first_seq,
        last_seq=note.last_seq,
        event_at=iso_ms(note.event_at),
    )
