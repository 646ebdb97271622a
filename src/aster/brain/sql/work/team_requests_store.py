"""`TeamRequestStore` in SQL: what changes goes to the one writer as a deed, what looks goes to the readers."""

import asyncio
from collections.abc import Sequence

from aster.brain.records import ThreadKey
from aster.brain.sql.running import Reads, Writes
from aster.brain.sql.work import team_requests
from aster.brain.sql.work.team_request_deeds import SqlRequestDeed
from aster.brain.team_requests import RequestOrder
from aster.brain.unit import Unit
from aster.contracts.events import Event
from aster.contracts.team_requests import PlanGate, RequestKind, RequestStatus, TeamRequest


class SqlTeamRequests:
    def __init__(self, writer: Writes, readers: Reads) -> None:
        self._writer = writer
        self._readers = readers

    def deed(self, order: RequestOrder) -> SqlRequestDeed:
        return SqlRequestDeed(order)

    async def do(self, order: RequestOrder, key: ThreadKey, beside: Sequence[ThreadKey]) -> TeamRequest | None:
        deed = SqlRequestDeed(order)
        done: asyncio.Future[list[Event]] = asyncio.get_running_loop().create_future()
        self._writer.submit(Unit(key, None, (), (), None, done, deed=deed, beside=tuple(beside)))
        await done
        return deed.request

    async def request(self, user_id: str, team_id: str, request_id: str) -> TeamRequest | None:
        return await self._readers.run(team_requests.request, user_id, team_id, request_id)

    async def requests(
        self,
        user_id: str,
        team_id: str,
        *,
        limit: int,
        kind: RequestKind | None = None,
        status: RequestStatus | None = None,
        before: str | None = None,
    ) -> list[TeamRequest]:
        return await self._readers.run(
            team_requests.requests, user_id, team_id, limit=limit, kind=kind, status=status, before=before
        )

    async def gate(self, user_id: str, task_id: str) -> PlanGate | None:
        return await self._readers.run(team_requests.gate_above, user_id, task_id)

    async def gates(self, user_id: str, team_id: str) -> list[PlanGate]:
        return await self._readers.run(team_requests.gates, user_id, team_id)
