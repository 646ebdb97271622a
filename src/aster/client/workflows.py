"""Workflows over the wire: those that can be run, and runs of them."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from aster.client.wire import Wire
from aster.contracts.model import Contract


class WorkflowEntry(Contract):
    """A workflow that can be run; `args` is the schema of its arguments."""

    name: str
    description: str
    args: dict[str, Any] = {}
    max_agents: int | None = None
    max_usd: float | None = None
    max_tokens: int | None = None


class WorkflowEntries(Contract):
    workflows: tuple[WorkflowEntry, ...]


class RunCall(Contract):
    """What an agent was asked for in a run; `task_id` is where it works."""

    call_key: str
    label: str
    phase: str
    status: str
    attempt: int
    task_id: str
    problem: str = ""
    cost_usd: float = 0.0
    tokens: int = 0


class RunEntry(Contract):
    """A run, as it stands; its `calls` are there when one run is asked for."""

    run_id: str
    workflow: str
    task_id: str
    status: str
    args: dict[str, Any]
    attempts: int
    phase: str
    agents: int
    cached: int
    cost_usd: float
    tokens: int
    problem: str
    created_at: str
    updated_at: str
    result: Any = None
    calls: tuple[RunCall, ...] | None = None


class RunEntries(Contract):
    runs: tuple[RunEntry, ...]


class WorkflowsClient:
    """The part of a client that is about workflows."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    async def list(self) -> tuple[WorkflowEntry, ...]:
        return (await self._wire.ask(WorkflowEntries, "GET", "/workflows")).workflows

    async def start(
        self,
        name: str,
        args: Mapping[str, Any] | None = None,
        *,
        task_id: str | None = None,
        unattended: bool = False,
    ) -> RunEntry:
        """Begin a run; what happens is on the thread of its task."""
        body = {"args": dict(args or {}), "task_id": task_id, "unattended": unattended}
        return await self._wire.ask(RunEntry, "POST", f"/workflows/{quote(name, safe='')}/runs", body=body)

    async def runs(self, *, task_id: str | None = None, limit: int = 50) -> tuple[RunEntry, ...]:
        """Newest first."""
        params = {"task_id": task_id, "limit": limit}
        return (await self._wire.ask(RunEntries, "GET", "/workflows/runs", params=params)).runs

    async def get(self, run_id: str) -> RunEntry:
        return await self._wire.ask(RunEntry, "GET", _path(run_id))

    async def resume(self, run_id: str, *, unattended: bool = False) -> RunEntry:
        """Go on with a run that has not come to its result."""
        return await self._wire.ask(RunEntry, "POST", f"{_path(run_id)}/resume", body={"unattended": unattended})

    async def cancel(self, run_id: str) -> RunEntry:
        return await self._wire.ask(RunEntry, "POST", f"{_path(run_id)}/cancel")


def _path(run_id: str) -> str:
    return f"/workflows/runs/{quote(run_id, safe='')}"
