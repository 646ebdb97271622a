"""A team as an agent has it in a call: proposing members, writing to others, looking who is there. What it changes is
told on the threads of everybody concerned, in the commit of the change."""

from collections.abc import Sequence
from dataclasses import dataclass

from aster.brain.teams import NewMember, NewTeam, Post, Spawn, TeamOrder, TeamOutcome, owner_of
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.events import HitlRequest
from aster.contracts.teams import LEAD, Mail, MemberDraft, Team, TeamMember
from aster.engine_core.permissions import mode_of
from aster.engine_core.services import Services
from aster.engine_core.teams.casting import Cast, refuse_inner
from aster.engine_core.turn import Turn
from aster.infra.clock import now_iso
from aster.infra.ids import derived_id, new_id
from aster.utility_directory import places
from aster.utility_directory.spawn_team import KIND as KIND
from aster.utility_directory.spawn_team import NAME
from aster.work.graph import rules as graph_rules
from aster.work.teams import rules, words


def of(turn: Turn, services: Services, call_key: str) -> "Room | None":
    """The room of a call; None where there are no teams."""
    request = turn.state.request
    return None if request.isolated or request.replay is not None else Room(turn, services, call_key)


class Room:
    def __init__(self, turn: Turn, services: Services, call_key: str) -> None:
        self._turn = turn
        self._services = services
        self._key = call_key

    async def propose(
        self, members: Sequence[MemberDraft], name: str | None, board: str | None, budget_usd: float | None
    ) -> "Proposed":
        turn, services, settings = self._turn, self._services, self._services.settings
        refuse_inner(turn.state.request)
        drafts = rules.members(members, settings.team_members, lambda text: services.secrets.clean(text, "model"))
        seat = turn.seat
        new = None if seat is not None else self._new(name, board, budget_usd)
        team_id = seat.team.team_id if new is None and seat is not None else derived_id("team", self._key)
        called = seat.team.name if seat is not None else (new.name if new is not None else "")
        cast = Cast(
            services,
            turn.key.user_id,
            turn.state.request,
            mode_of(settings, turn.state),
            team_id=team_id,
            team=called,
            lead_task_id=turn.key.task_id,
            turn_id=turn.turn_id,
            tool_call_id=self._key.rpartition(":")[2],
            seed=self._key,
        )
        cast_as = tuple([await cast.member(draft) for draft in drafts])
        return Proposed(self, team_id, called, new, cast_as, budget_usd or 0.0)

    def _new(self, name: str | None, board: str | None, budget_usd: float | None) -> NewTeam:
        team_id = derived_id("team", self._key)
        return NewTeam(
            team_id=team_id,
            name=rules.team(name) if name else team_id,
            board=graph_rules.board(board) if board else words.board_of(team_id),
            lead_task_id=self._turn.key.task_id,
            budget_usd=budget_usd or self._services.settings.team_budget_usd,
        )

    async def send(self, to: str, content: str) -> Sequence[Mail]:
        seat, settings = self._seated(), self._services.settings
        order = Post(
            user_id=self._turn.key.user_id,
            team_id=seat.team_id,
            sender=self._turn.seat.name if self._turn.seat is not None else LEAD,
            recipient=to,
            content=self._services.secrets.clean(rules.words("content", content), "model"),
            call_key=self._key,
            most=settings.team_mail_unread,
            per_minute=settings.team_mail_per_minute,
            asked=seat.lead_task_id == self._turn.key.task_id and not self._turn.state.request.woken,
        )
        return (await self.change(order, seat.team_id)).mail

    async def overview(self) -> tuple[Team, Sequence[tuple[TeamMember, str]]]:
        team, brain, user_id = self._seated(), self._services.brain, self._turn.key.user_id
        rows: list[tuple[TeamMember, str]] = []
        for member in await brain.teams.members(user_id, team.team_id):
            held = await brain.work.held(user_id, owner_of(team.team_id, member.name))
            rows.append((member, "" if held is None else held.item_id))
        return team, rows

    async def change(self, order: TeamOrder, team_id: str) -> TeamOutcome:
        """Do it in a commit of the turn, told on all threads of the team."""
        turn, store = self._turn, self._services.brain.teams
        deed = store.deed(order)
        await turn.flush()
        await turn.change(deed, await store.threads(turn.key.user_id, team_id))
        self._services.teams.rouse(turn.key.user_id, team_id)
        return deed.outcome

    async def spawned(self, proposed: "Proposed") -> Sequence[TeamMember]:
        """Make the members of a proposal; the turn leads their team from here on."""
        order = Spawn(
            user_id=self._turn.key.user_id,
            team_id=proposed.team_id,
            members=proposed.members,
            sender=LEAD,
            most=self._services.settings.team_members,
            team=proposed.new,
            call_key=self._key,
        )
        outcome = await self.change(order, proposed.team_id)
        self._turn.seat = await self._services.brain.teams.seat(self._turn.key)
        self._turn.places = self._turn.places - {places.FREE} | {places.LEAD}
        return outcome.members

    async def made(self, proposed: "Proposed") -> Sequence[TeamMember]:
        """Whom this very call has made before."""
        known = {member.task_id for member in proposed.members}
        everybody = await self._services.brain.teams.members(self._turn.key.user_id, proposed.team_id)
        return [member for member in everybody if member.task_id in known]

    def question(self, proposed: "Proposed") -> HitlRequest:
        """What the person is asked."""
        members = [new.draft for new in proposed.members]
        listed = [(one.name, one.role, one.agent) for one in members]
        budget = proposed.budget_usd or (proposed.new.budget_usd if proposed.new is not None else 0.0)
        return HitlRequest(
            request_id=new_id("hitl"),
            kind=KIND,
            question=words.proposal(proposed.team, listed, budget),
            tool=NAME,
            tool_call_id=self._key.rpartition(":")[2],
            input={
                "team": proposed.team,
                "budget_usd": budget,
                "members": [
                    {
                        "name": one.name,
                        "role": one.role,
                        "agent": one.agent,
                        "prompt": one.prompt,
                        "item_id": one.item_id,
                        "require_plan": one.require_plan,
                    }
                    for one in members
                ],
            },
            options=("yes", "no"),
            created_at=now_iso(),
        )

    def _seated(self) -> Team:
        if self._turn.seat is None:
            raise EngineError(ErrorCode.TEAM_CONFLICT, "You are in no team.", {"reason": "no_team"})
        return self._turn.seat.team


@dataclass(frozen=True, slots=True)
class Proposed:
    """A proposal of a call, with everything that it takes to make its members."""

    room: Room
    team_id: str
    team: str
    new: NewTeam | None
    members: tuple[NewMember, ...]
    budget_usd: float

    @property
    def request(self) -> HitlRequest:
        return self.room.question(self)

    async def made(self) -> Sequence[TeamMember]:
        return await self.room.made(self)

    async def spawn(self) -> Sequence[TeamMember]:
        return await self.room.spawned(self)
