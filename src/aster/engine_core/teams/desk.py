"""Teams as a person has them over HTTP: making one without being asked, writing to those in it, stopping, and looking.

What a person makes works with the authority that a message of theirs to the task that leads would have.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from aster.brain.records import ThreadKey
from aster.brain.teams import NewTeam, Post, Spawn, owner_of
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.teams import PERSON, Mail, MemberDraft, Team, TeamMember, TeamStatus
from aster.contracts.turn import TurnRequest
from aster.contracts.work import WorkBoard
from aster.engine_core import channel_state
from aster.engine_core.admission import check_task
from aster.engine_core.orders import Order
from aster.engine_core.permissions import moded
from aster.engine_core.services import Services
from aster.engine_core.teams.casting import Cast
from aster.infra.ids import new_id
from aster.work.graph import rules as graph_rules
from aster.work.teams import rules, words


@dataclass(frozen=True, slots=True)
class Sheet:
    """A team with all there is to say about it: what its members are at and cost, what waits for whom, its board."""

    team: Team
    members: Sequence[TeamMember]
    items: dict[str, str]
    costs: dict[str, float]
    waiting: dict[str, int]
    board: WorkBoard


class TeamDesk:
    def __init__(self, services: Services, user_id: str) -> None:
        self._services = services
        self._store = services.brain.teams
        self._user_id = user_id

    async def create(
        self,
        drafts: Sequence[MemberDraft],
        *,
        task_id: str | None = None,
        name: str | None = None,
        board: str | None = None,
        budget_usd: float | None = None,
    ) -> Sheet:
        """Make a team that a task leads, a new one if none is named; all of it or nothing."""
        team_id, lead = new_id("team"), ThreadKey(self._user_id, task_id or new_id("task"))
        check_task(lead.task_id)
        new = NewTeam(
            team_id=team_id,
            name=rules.team(name) if name else team_id,
            board=graph_rules.board(board) if board else words.board_of(team_id),
            lead_task_id=lead.task_id,
            budget_usd=budget_usd or self._services.settings.team_budget_usd,
        )
        await self._spawn(drafts, lead, new, team_id, new.name)
        return await self.sheet(team_id)

    async def add(self, team_id: str, drafts: Sequence[MemberDraft]) -> Sheet:
        """Let others join a team, all of them or none."""
        team = await self.team(team_id)
        await self._spawn(drafts, ThreadKey(self._user_id, team.lead_task_id), None, team_id, team.name)
        return await self.sheet(team_id)

    async def _spawn(
        self, drafts: Sequence[MemberDraft], lead: ThreadKey, new: NewTeam | None, team_id: str, name: str
    ) -> None:
        services, settings = self._services, self._services.settings
        checked = rules.members(drafts, settings.team_members, lambda text: services.secrets.clean(text, "person"))
        request, turn_id = await self._request(lead)
        mode = moded(settings, Order(task_id=lead.task_id, message="", permission_mode=request.permission_mode))
        cast = Cast(
            services,
            self._user_id,
            request,
            mode.permission_mode or "default",
            team_id=team_id,
            team=name,
            lead_task_id=lead.task_id,
            turn_id=turn_id,
        )
        members = tuple([await cast.member(draft) for draft in checked])
        if new is not None and await services.brain.thread(lead) is None:
            new = replace(new, title=f"Team {name}")
        order = Spawn(
            user_id=self._user_id,
            team_id=team_id,
            members=members,
            sender=PERSON,
            most=settings.team_members,
            team=new,
        )
        await self._store.do(order, lead, await self._store.threads(self._user_id, team_id))
        services.teams.rouse(self._user_id, team_id)

    async def _request(self, lead: ThreadKey) -> tuple[TurnRequest, str]:
        """How the newest turn of the task that leads was asked for, and which that is."""
        thread, seat = await self._services.brain.thread(lead), await self._store.seat(lead)
        inner = thread is not None and thread.home_task_id is not None
        if inner or (seat is not None and not seat.leads):
            message = f"The task {lead.task_id} is an agent's that works for another; it leads no team."
            raise EngineError(ErrorCode.PERMISSION_DENIED, message)
        if thread is None or thread.tip_turn_id is None:
            return TurnRequest(permission_mode=self._services.settings.permission_mode), ""
        state = await channel_state.load(self._services.brain, lead, thread.tip_turn_id)
        return state.request, thread.tip_turn_id

    async def say(self, team_id: str, to: str, content: str) -> tuple[Mail, ...]:
        """Write to a member, to the lead or to all members, as oneself."""
        services, settings = self._services, self._services.settings
        order = Post(
            user_id=self._user_id,
            team_id=team_id,
            sender=PERSON,
            recipient=to,
            content=services.secrets.clean(rules.words("content", content), "person"),
            most=settings.team_mail_unread,
            per_minute=settings.team_mail_per_minute,
            asked=True,
        )
        lead, *others = await self._threads(team_id)
        sent = await self._store.do(order, lead, others)
        services.teams.rouse(self._user_id, team_id)
        return sent.mail

    async def stop(self, team_id: str, name: str | None = None) -> Sheet:
        """Stop a member, or the team with all of them."""
        await self._services.teams.stop(self._user_id, team_id, "the person", name)
        return await self.sheet(team_id)

    async def team(self, team_id: str) -> Team:
        found = await self._store.team(self._user_id, team_id)
        if found is None:
            raise EngineError(ErrorCode.NOT_FOUND, f"There is no team {team_id[:80]!r}.")
        return found

    async def teams(self, *, limit: int, before: str | None, status: TeamStatus | None) -> list[Team]:
        return await self._store.teams(self._user_id, limit=limit, before=before, status=status)

    async def mail(self, team_id: str, *, limit: int, before: int | None, name: str | None) -> list[Mail]:
        await self.team(team_id)
        return await self._store.mail(self._user_id, team_id, limit=limit, before=before, name=name)

    async def sheet(self, team_id: str) -> Sheet:
        team, work = await self.team(team_id), self._services.brain.work
        members = await self._store.members(self._user_id, team_id)
        items: dict[str, str] = {}
        for member in members:
            held = await work.held(self._user_id, owner_of(team_id, member.name))
            if held is not None:
                items[member.name] = held.item_id
        boards = await work.boards(self._user_id)
        return Sheet(
            team=team,
            members=members,
            items=items,
            costs=await self._store.costs(self._user_id, team_id),
            waiting=await self._store.waiting(self._user_id, team_id),
            board=next((one for one in boards if one.board == team.board), WorkBoard(board=team.board)),
        )

    async def _threads(self, team_id: str) -> tuple[ThreadKey, ...]:
        await self.team(team_id)
        return await self._store.threads(self._user_id, team_id)
