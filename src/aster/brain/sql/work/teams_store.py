"""`TeamStore` in SQL: what changes goes to the one writer as a deed, what looks goes to the readers."""

import asyncio
from collections.abc import Sequence

from aster.brain.records import ThreadKey
from aster.brain.sql.running import Reads, Writes
from aster.brain.sql.work import teams
from aster.brain.sql.work.team_deeds import SqlTeamDeed
from aster.brain.teams import Seat, TeamOrder, TeamOutcome
from aster.brain.unit import Unit
from aster.contracts.events import Event
from aster.contracts.teams import Mail, Team, TeamMember, TeamStatus


class SqlTeams:
    def __init__(self, writer: Writes, readers: Reads) -> None:
        self._writer = writer
        self._readers = readers

    def deed(self, order: TeamOrder) -> SqlTeamDeed:
        return SqlTeamDeed(order)

    async def do(self, order: TeamOrder, key: ThreadKey, beside: Sequence[ThreadKey]) -> TeamOutcome:
        deed = SqlTeamDeed(order)
        done: asyncio.Future[list[Event]] = asyncio.get_running_loop().create_future()
        self._writer.submit(Unit(key, None, (), (), None, done, deed=deed, beside=tuple(beside)))
        await done
        return deed.outcome

    async def threads(self, user_id: str, team_id: str) -> tuple[ThreadKey, ...]:
        return await self._readers.run(teams.threads, user_id, team_id)

    async def team(self, user_id: str, team_id: str) -> Team | None:
        return await self._readers.run(teams.team, user_id, team_id)

    async def teams(
        self, user_id: str, *, limit: int, before: str | None = None, status: TeamStatus | None = None
    ) -> list[Team]:
        return await self._readers.run(teams.teams, user_id, limit=limit, before=before, status=status)

    async def of_lead(self, key: ThreadKey) -> list[Team]:
        return await self._readers.run(teams.of_lead, key)

    async def on_board(self, user_id: str, board: str) -> list[Team]:
        return await self._readers.run(teams.on_board, user_id, board)

    async def seat(self, key: ThreadKey) -> Seat | None:
        return await self._readers.run(teams.seat, key)

    async def members(self, user_id: str, team_id: str) -> list[TeamMember]:
        return await self._readers.run(teams.members, user_id, team_id)

    async def unheard(self, user_id: str, team_id: str, recipient: str) -> list[Mail]:
        return await self._readers.run(teams.unheard, user_id, team_id, recipient)

    async def mail(
        self, user_id: str, team_id: str, *, limit: int, before: int | None = None, name: str | None = None
    ) -> list[Mail]:
        return await self._readers.run(teams.mail, user_id, team_id, limit=limit, before=before, name=name)

    async def waiting(self, user_id: str, team_id: str) -> dict[str, int]:
        return await self._readers.run(teams.waiting, user_id, team_id)

    async def costs(self, user_id: str, team_id: str) -> dict[str, float]:
        return await self._readers.run(teams.costs, user_id, team_id)

    async def left(self, before: int) -> list[tuple[str, str]]:
        return await self._readers.run(teams.left, before)
