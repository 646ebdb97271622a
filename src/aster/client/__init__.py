"""The Python SDK: talk to an engine, follow its threads, show what happens.

`AsterClient` is for programs with an event loop, `SyncAsterClient` for all others; both do the same.
"""

from aster.client.client import DEFAULT_URL, AsterClient
from aster.client.deciding import Decided, Decision, OnRequest
from aster.client.files import attach
from aster.client.follow import OnWait, ThreadEvent
from aster.client.submission import TurnOptions
from aster.client.sync import SyncAsterClient
from aster.client.transcript import Item, Note, Passage, Said, ToolCard, Transcript
from aster.client.wire import EngineUnreachable
from aster.contracts.errors import EngineError, ErrorCode

__all__ = [
    "DEFAULT_URL",
    "AsterClient",
    "Decided",
    "Decision",
    "EngineError",
    "EngineUnreachable",
    "ErrorCode",
    "Item",
    "Note",
    "OnRequest",
    "OnWait",
    "Passage",
    "Said",
    "SyncAsterClient",
    "ThreadEvent",
    "ToolCard",
    "Transcript",
    "TurnOptions",
    "attach",
]
