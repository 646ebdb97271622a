"""Going through a user's tasks, newest change first. The cursor is the place of the last task shown."""

import base64
from collections.abc import AsyncIterator

import msgspec

from aster.brain.protocol import Brain
from aster.brain.records import Place, ThreadRecord
from aster.contracts.errors import EngineError, ErrorCode

LISTED = 200


def cursor_text(place: Place) -> str:
    """A place as an opaque word."""
    return base64.urlsafe_b64encode(msgspec.json.encode(place)).decode().rstrip("=")


def read_cursor(text: str) -> Place:
    try:
        return msgspec.json.decode(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)), type=Place)
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
    before: Place | None = None,
    status: str | None = None,
    search: str | None = None,
    parent: str | None = None,
) -> tuple[list[ThreadRecord], Place | None]:
    """The next tasks, and the place to go on from if there are more."""
    found = await brain.threads(
        user_id, limit=limit + 1, before=before, status=status, search=search, parent=parent
    )
    shown = found[:limit]
    more = len(found) > limit
    return shown, Place(shown[-1].updated_at, shown[-1].task_id) if more else None


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
    place: Place | None = None
    while True:
        found, place = await page(brain, user_id, limit=LISTED, before=place, status=status)
        for thread in found:
            yield thread
        if place is None:
            return
