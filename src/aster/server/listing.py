"""Going through a user's tasks, newest change first, without losing one that changed in the same millisecond.

The cursor names the last task shown and when it had changed. If that task has moved since, its neighbours of the
same millisecond are shown again rather than left out.
"""

import base64
from collections.abc import AsyncIterator
from typing import NamedTuple

import msgspec

from aster.brain.protocol import Brain
from aster.brain.records import ThreadRecord
from aster.contracts.errors import EngineError, ErrorCode

LISTED = 200
_NEIGHBOURS = 8


class Cursor(NamedTuple):
    """Where a listing stopped."""

    updated_at: int
    task_id: str

    def text(self) -> str:
        return base64.urlsafe_b64encode(msgspec.json.encode(self)).decode().rstrip("=")

    @classmethod
    def read(cls, text: str) -> "Cursor":
        try:
            return msgspec.json.decode(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)), type=cls)
        except (ValueError, msgspec.MsgspecError):
            problem = "is not a cursor from `next`"
            raise EngineError(
                ErrorCode.INVALID_REQUEST,
                f"`before` {problem}. Leave it out to begin at the newest task.",
                {"fields": [{"field": "before", "problem": problem}]},
            ) from None


async def page(
    brain: Brain,
    user_id: str,
    *,
    limit: int,
    cursor: Cursor | None = None,
    status: str | None = None,
    search: str | None = None,
) -> tuple[list[ThreadRecord], Cursor | None]:
    """The next tasks, and the cursor to go on with if there are more."""
    before, extra = (cursor.updated_at + 1, _NEIGHBOURS) if cursor else (None, 1)
    while True:
        asked = limit + extra
        found = await brain.threads(user_id, limit=asked, before=before, status=status, search=search)
        complete = len(found) < asked
        fresh = _after(found, cursor, complete)
        if complete or (fresh is not None and len(fresh) > limit):
            break
        extra *= 4
    fresh = fresh or []
    shown = fresh[:limit]
    more = len(fresh) > limit
    return shown, Cursor(shown[-1].updated_at, shown[-1].task_id) if more else None


async def changed_since(brain: Brain, user_id: str, after_ms: int) -> AsyncIterator[str]:
    """Tasks with events after a point in time: those that changed since, and those still under way."""
    async for thread in _all(brain, user_id, None):
        if thread.updated_at < after_ms:
            break
        yield thread.task_id
    for status in ("running", "suspended"):
        async for thread in _all(brain, user_id, status):
            if thread.updated_at < after_ms:
                yield thread.task_id


async def _all(brain: Brain, user_id: str, status: str | None) -> AsyncIterator[ThreadRecord]:
    cursor: Cursor | None = None
    while True:
        found, cursor = await page(brain, user_id, limit=LISTED, cursor=cursor, status=status)
        for thread in found:
            yield thread
        if cursor is None:
            return


def _after(found: list[ThreadRecord], cursor: Cursor | None, complete: bool) -> list[ThreadRecord] | None:
    """What follows the cursor; None when its place may lie beyond what was found."""
    if cursor is None:
        return found
    for index, thread in enumerate(found):
        if thread.updated_at != cursor.updated_at:
            return found
        if thread.task_id == cursor.task_id:
            return found[index + 1 :]
    return found if complete else None
