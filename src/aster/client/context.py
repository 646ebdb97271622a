"""What model calls were shown, over the wire: the calls of a task, one whole, two compared."""

from typing import Literal
from urllib.parse import quote

from aster.client.wire import Wire
from aster.contracts.events.context import ManifestEntry
from aster.contracts.model import Contract


class ContextCall(Contract):
    """A model call; `call` is what it is asked for by. Its blocks are there when it was asked for alone."""

    call: int
    step: int
    at: str
    model: str = ""
    turn_id: str | None = None
    total_tokens: int = 0
    window: int | None = None
    input_tokens: int = 0
    cached_tokens: int = 0
    written_tokens: int = 0
    moved: str | None = None
    moved_source: str | None = None
    blocks: tuple[ManifestEntry, ...] = ()


class ContextPage(Contract):
    """Calls, the newest first; `next` is what to pass as `before` for more."""

    calls: tuple[ContextCall, ...]
    next: int | None = None


class ContextMoved(Contract):
    block: str
    source: str


class ContextChange(Contract):
    change: Literal["same", "changed", "grown", "added", "removed"]
    before: ManifestEntry | None = None
    after: ManifestEntry | None = None


class ContextDiff(Contract):
    """Two calls side by side; `moved` is the first block of the earlier one that the later does not begin with."""

    before: ContextCall
    after: ContextCall
    moved: ContextMoved | None = None
    blocks: tuple[ContextChange, ...] = ()


class ContextClient:
    """The routes under `/tasks/{task_id}/context`."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    async def calls(self, task_id: str, *, before: int | None = None, limit: int = 50) -> ContextPage:
        """The model calls of a task, newest first."""
        return await self._wire.ask(ContextPage, "GET", _path(task_id), params={"before": before, "limit": limit})

    async def call(self, task_id: str, call: int) -> ContextCall:
        """One call with every block of its prompt."""
        return await self._wire.ask(ContextCall, "GET", f"{_path(task_id)}/{call}")

    async def diff(self, task_id: str, earlier: int | None = None, later: int | None = None) -> ContextDiff:
        """Two calls compared; left out, the newest and the one before it."""
        params = {"from": earlier, "to": later}
        return await self._wire.ask(ContextDiff, "GET", f"{_path(task_id)}/diff", params=params)


def _path(task_id: str) -> str:
    return f"/tasks/{quote(task_id, safe='')}/context"
