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
    store: str
    id: str
    score: float
    tokens: int
    used: bool = True
    cut: str | None = None


class MemoryRetrieval(Event, tag="memory_retrieval"):
    query: str
    items: tuple[RetrievedItem, ...]
    tokens: int
    duration_ms: int


MemoryAction: TypeAlias = Literal["created", "updated", "superseded", "forgotten", "rejected"]


class MemoryWrite(Event, tag="memory_write"):
    store: str
    id: str
    action: MemoryAction
    summary: str
    receipt: dict[str, Any] | None = None
