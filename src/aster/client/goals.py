"""The goal of a task over the wire."""

from urllib.parse import quote

from aster.client.wire import Wire
from aster.contracts.model import Contract


class GoalEntry(Contract):
    """A goal; `outcome` is what came of it when a turn was last about to end."""

    task_id: str
    goal_id: str
    goal: str
    status: str
    outcome: str
    blocks: int
    set_at: str
    updated_at: str
    reason: str | None = None


class GoalsClient:
    """The part of a client that is about goals: a task has one, or none."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    async def get(self, task_id: str) -> GoalEntry:
        return await self._wire.ask(GoalEntry, "GET", _path(task_id))

    async def put(self, task_id: str, goal: str) -> GoalEntry:
        """Set it, in place of the one there is."""
        return await self._wire.ask(GoalEntry, "PUT", _path(task_id), body={"goal": goal})

    async def clear(self, task_id: str) -> None:
        async with self._wire.open("DELETE", _path(task_id)):
            pass


def _path(task_id: str) -> str:
    return f"/tasks/{quote(task_id, safe='')}/goal"
