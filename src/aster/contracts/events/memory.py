"""Memory events: what the agent noted, what was retrieved for it and what was kept."""

from typing import Any, Literal, TypeAlias

from aster.contracts.events.base import Event
from aster.contracts.memory import EntryType
from aster.contracts.model import Contract


class WorkingMemoryUpdate(Event, tag="working_memory_update"):
    entry_id: str
    entry_type: EntryType
    text: str
    expires_at: str | None = None


class RetrievedItem(Contract):
    """A record that was found: its words as they entered the context, or why they did not; `reasons` are the parts of
    its score, `source_task_id` with the seqs is its receipt, `event_at` when it happened."""

    store: str
    id: str
    score: float
    tokens: int
    used: bool = True
    cut: str | None = None
    text: str = ""
    reasons: dict[str, float] = {}
    source_task_id: str = ""
    first_seq: int = 0
    last_seq: int = 0
    event_at: str = ""


class MemoryRetrieval(Event, tag="memory_retrieval"):
    query: str
    items: tuple[RetrievedItem, ...]
    tokens: int
    duration_ms: int
    notice: str | None = None
    """What the search had to do without."""


MemoryAction: TypeAlias = Literal["created", "updated", "superseded", "forgotten", "rejected"]


class MemoryWrite(Event, tag="memory_write"):
    store: str
    id: str
    action: MemoryAction
    summary: str
    receipt: dict[str, Any] | None = None
