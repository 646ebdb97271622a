"""What memory had for a message, as the model reads it: one line for each record, with its receipt.

A function of the event alone, so the prompt is the same after a restart, whatever has become of the records.
"""

from aster.contracts.events import MemoryRetrieval
from aster.contracts.events.memory import RetrievedItem


def rendered(event: MemoryRetrieval) -> str:
    """The lines of everything that entered the context, the best first."""
    return "\n".join(_line(item) for item in event.items if item.used)


def _line(item: RetrievedItem) -> str:
    source = f", task {item.source_task_id} #{item.first_seq}-{item.last_seq}" if item.source_task_id else ""
    text = item.text.replace("\n", "\n  ")
    when = f"{item.event_at[:10]}, " if item.event_at else ""
    return f"- [{when}{item.store} {item.id}{source}] {text}"
