"""The Python SDK: talk to an engine, follow its threads, show what happens."""

from aster.client.client import DEFAULT_URL, AsterClient
from aster.client.follow import ThreadEvent
from aster.client.transcript import Item, Note, Passage, Said, ToolCard, Transcript
from aster.client.wire import EngineUnreachable

__all__ = [
    "DEFAULT_URL",
    "AsterClient",
    "EngineUnreachable",
    "Item",
    "Note",
    "Passage",
    "Said",
    "ThreadEvent",
    "ToolCard",
    "Transcript",
]
