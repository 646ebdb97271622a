"""Teams at work: whoever rests and has mail, or work on the board that fits, is begun; the lead is woken by its mail.

It goes by the rows alone. A turn begins with the very commit that says which mail it was told and which item it has, so
that of many who try one does, and a crash at any moment loses nothing and begins nothing twice. Inbox first, then the
board; nothing is begun for whoever has had its turns without a person, or has spent the team's money.
"""

import asyncio
import logging
from collections.abc import Sequence
from typing import Final, Protocol

from msgspec.structs import replace

from aster.brain.records import ThreadKey, ThreadRecord
from aster.brain.teams import AskToStop, Begin, Seat, Stopped, Told, owner_of
from aster.brain.unit import Absent, Idle
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.events import Event
from aster.contracts.events.lifecycle import Origin
from aster.contracts.model import decode
from aster.contracts.teams import LEAD, PERSON, Mail, Team, TeamMember
from aster.contracts.turn import TurnStatus
from aster.contracts.work import WorkItem
from aster.engine_core.agents.waking import order_as, so_far
from aster.engine_core.boundary import Boundary
from aster.engine_core.casting import check_model
from aster.engine_core.history import Place
from aster.engine_core.opening import opening
from aster.engine_core.orders import Order
from aster.engine_core.permissions import moded
from aster.engine_core.services import Services
from aster.engine_core.takeover import Takeover
from aster.engine_core.teams import protocols
from aster.engine_core.teams.mail import received, unseen
from aster.engine_core.turn import Turn
from aster.infra.clock import now_ms
from aster.infra.ids import derived_id, new_id
from aster.work.teams import words

log = logging.getLogger("aster.teams")

_GO_ON: Final = "Nobody has said anything since. Go on with what depends on it, then say what came of it."
_MAY_BEGIN: Final = ("idle", "failed", "waiting_approval")
_AT_ONCE: Final = 20
"""So many items a member reaches for in one go; whoever loses them all is roused by the next change."""


class Turns(Protocol):
    """Whoever runs turns."""

    draining: bool
    takeover: Takeover

    async def stop(self, key: ThreadKey, stop_reason: str) -> str | None: ...


class TeamWork:
    def __init__(self, services: Services, turns: Turns) -> None:
        self._services = services
        self._brain = services.brain
        self._store = services.brain.teams
        self._turns = turns
        self._roused: dict[tuple[str, str], bool] = {}
        self._rousing: set[asyncio.Task[None]] = set()
        services.teams.rouse = self.rouse
        services.teams.stop = self.stop
        services.teams.close = self.close
        services.work.changed = self._board_changed
        protocols.register(services)

    def rouse(self, user_id: str, team_id: str) -> None:
        """Have begun what is to be begun in a team; while that is done it is only noted that it is to be looked at once
        more."""
        name = (user_id, team_id)
        self._services.uses.note(user_id, "teams")
        if self._turns.draining or name in self._roused:
            self._roused[name] = not self._turns.draining
            return
        self._roused[name] = True
        task = asyncio.create_task(self._rouse_until_quiet(*name), name="team")
        self._rousing.add(task)
        task.add_done_callback(self._rousing.discard)

    async def close(self) -> None:
        for task in list(self._rousing):
            task.cancel()
        await asyncio.gather(*self._rousing, return_exceptions=True)

    async def ended(self, turn: Turn) -> None:
        """A turn is over: its team may go on. A lead that a person has stopped is not woken by what it left unread."""
        parent, user_id = turn.state.request.parent, turn.key.user_id
        if parent is not None and parent.member:
            self.rouse(user_id, parent.team_id)
        elif "teams" in self._services.uses.known(user_id) and turn.state.status is not TurnStatus.CANCELLED:
            seat = turn.seat or await self._store.seat(turn.key)
            if seat is not None:
                self.rouse(user_id, seat.team.team_id)

    async def discard(self, key: ThreadKey) -> list[ThreadKey]:
        """A task is about to be deleted: the teams it led are over. Says which tasks were theirs."""
        if "teams" not in await self._services.uses.of(key.user_id):
            return []
        gone: list[ThreadKey] = []
        for team in await self._store.of_lead(key):
            await self.stop(key.user_id, team.team_id, "the task that led it was deleted")
            gone += (await self._store.threads(key.user_id, team.team_id))[1:]
        return gone

    async def recover(self, younger_ms: int = 0) -> None:
        """Rouse the teams for which something was left to be done."""
        for user_id, team_id in await self._store.left(now_ms() - younger_ms):
            self.rouse(user_id, team_id)

    async def stop(self, user_id: str, team_id: str, by: str, name: str | None = None) -> None:
        """Stop a member, or all of them and the team: what they were at is free when this is over."""
        lead, *others = await self._threads(user_id, team_id)
        asked = await self._store.do(AskToStop(user_id=user_id, team_id=team_id, by=by, name=name), lead, others)
        for member in asked.members:
            if member.status != "stopped":
                await self._stopped(member)
        self.rouse(user_id, team_id)

    async def _threads(self, user_id: str, team_id: str) -> tuple[ThreadKey, ...]:
        threads = await self._store.threads(user_id, team_id)
        if not threads:
            raise EngineError(ErrorCode.NOT_FOUND, f"There is no team {team_id[:80]!r}.")
        return threads

    async def _stopped(self, member: TeamMember) -> None:
        """End the turn of a member that was stopped, if there is one, and have it let go of everything."""
        await self._turns.stop(ThreadKey(member.user_id, member.task_id), "stopped")
        lead, *others = await self._threads(member.user_id, member.team_id)
        order = Stopped(user_id=member.user_id, team_id=member.team_id, name=member.name)
        await self._store.do(order, lead, others)

    async def _board_changed(self, user_id: str, board: str) -> None:
        if "teams" not in await self._services.uses.of(user_id):
            return
        for team in await self._store.on_board(user_id, board):
            self.rouse(user_id, team.team_id)

    async def _rouse_until_quiet(self, user_id: str, team_id: str) -> None:
        name = (user_id, team_id)
        try:
            while self._roused.get(name) and not self._turns.draining:
                self._roused[name] = False
                await self._rouse(user_id, team_id)
        except EngineError as error:
            log.info("the team %s is not roused: %s", team_id, error.message)
        except Exception:  # the boundary of a team: what cannot be begun now is found again
            log.exception("the team %s could not be roused", team_id)
        finally:
            self._roused.pop(name, None)

    async def _rouse(self, user_id: str, team_id: str) -> None:
        team = await self._store.team(user_id, team_id)
        if team is None:
            return
        members = await self._store.members(user_id, team_id)
        for member in members:
            if member.stop == "hard" and member.status != "stopped":
                await self._stopped(member)
        if team.status != "active":
            return
        for member in members:
            if member.stop != "hard" and member.status not in ("working", "stopped"):
                try:
                    await self._rouse_member(team, member)
                except EngineError as error:
                    log.info("%s of the team %s does not begin: %s", member.name, team_id, error.message)
        await self._wake_lead(team)

    async def _rouse_member(self, team: Team, member: TeamMember) -> None:
        """Mail first, then what is next on the board."""
        key = ThreadKey(team.user_id, member.task_id)
        thread = await self._brain.thread(key)
        if thread is not None and thread.status != "idle":
            if member.stop and thread.status == "suspended":
                await protocols.stop_waiting(self._services, key)
            return
        seat = Seat(team=team, name=member.name, task_id=member.task_id, role=member.role)
        letters = await received(self._services, seat, None)
        if member.stop or member.status not in _MAY_BEGIN or member.turns >= self._services.settings.team_turns:
            return
        if any(one.told_at is None for one in letters):
            await self._tell_mail(team, member, thread, letters)
        elif member.status == "idle":
            await self._take_next(team, member, thread)

    async def _tell_mail(
        self, team: Team, member: TeamMember, thread: ThreadRecord | None, letters: Sequence[Mail]
    ) -> None:
        key, told_id = ThreadKey(team.user_id, member.task_id), new_id("msg")
        history = await self._services.history.load(key, Place(None if thread is None else thread.tip_turn_id))
        new = unseen(letters, history)
        boundary = Boundary.of((history[0].id if history else None) or told_id)
        text = words.mail(new, boundary.quote, leads=False)
        held = await self._brain.work.held(team.user_id, owner_of(team.team_id, member.name))
        if held is not None and not member.begun:
            text = f"{text}\n\n{words.at_work(held, _directory(held))}"
        await self._begin(team, member, thread, text, told_id, tuple(one.seq for one in new))

    async def _take_next(self, team: Team, member: TeamMember, thread: ThreadRecord | None) -> None:
        """Take the most urgent item that fits; whoever loses it reaches for the next."""
        work, home = self._brain.work, ThreadKey(team.user_id, team.lead_task_id)
        if await work.held(team.user_id, owner_of(team.team_id, member.name)) is not None:
            return
        lost = list(await self._services.worktrees.unfit(team.user_id, home))
        roles = (member.role,) if member.role else ()
        for _ in range(_AT_ONCE):
            item = await work.next_ready(team.user_id, team.board, roles, lost)
            if item is None:
                return
            try:
                text = words.auto_claimed(item, _directory(item))
                await self._begin(team, member, thread, text, new_id("msg"), (), item.item_id)
                return
            except EngineError as error:
                if error.code not in (ErrorCode.WORK_CONFLICT, ErrorCode.WORKTREE_CONFLICT):
                    raise
                lost.append(item.item_id)

    async def _begin(
        self,
        team: Team,
        member: TeamMember,
        thread: ThreadRecord | None,
        text: str,
        told_id: str,
        seqs: tuple[int, ...],
        item_id: str | None = None,
    ) -> None:
        """Begin a member's next turn, if nobody else has and the team can pay for it."""
        turn_id = derived_id("turn", team.team_id, member.name, str(member.begun))
        order = await self._order(team, member, turn_id, text)
        begin = Begin(
            user_id=team.user_id,
            team_id=team.team_id,
            name=member.name,
            turn_id=turn_id,
            begun=member.begun,
            told_id=told_id,
            seqs=seqs,
            item_id=item_id,
        )
        await self._start(team, ThreadKey(team.user_id, member.task_id), thread, turn_id, order, told_id, begin)

    async def _order(self, team: Team, member: TeamMember, turn_id: str, text: str) -> Order:
        order = decode(member.body.encode(), Order)
        assert order.parent is not None, "a member works for somebody"
        assert order.profile is not None, "a member is somebody"
        check_model(self._services.settings, None if order.agent else order.model)
        await self._services.budgets.admit(ThreadKey(team.user_id, team.lead_task_id))
        profile = replace(order.profile, max_usd=await self._left(team))
        parent = replace(order.parent, root_turn_id=turn_id)
        return moded(self._services.settings, replace(order, message=text, profile=profile, parent=parent))

    async def _left(self, team: Team) -> float | None:
        """What the team may still spend; refused when that is nothing."""
        if not team.budget_usd:
            return None
        left = team.budget_usd - sum((await self._store.costs(team.user_id, team.team_id)).values())
        if left <= 0:
            message = f"The team {team.name} has spent its {team.budget_usd:g} USD."
            raise EngineError(ErrorCode.BUDGET_EXCEEDED, message)
        return left

    async def _start(
        self,
        team: Team,
        key: ThreadKey,
        thread: ThreadRecord | None,
        turn_id: str,
        order: Order,
        told_id: str,
        begin: Begin | Told,
    ) -> None:
        """The turn and what is true with its beginning, in one commit."""
        origin: Origin = "engine" if isinstance(begin, Told) else "agent"
        place = Place(None if thread is None else thread.tip_turn_id)
        begun = await opening(self._services.history, key, order, place, told_id, origin, None)
        events: tuple[Event, ...] = (begun.started, begun.message, *begun.made)
        await self._turns.takeover.begin(
            key,
            turn_id,
            events,
            guard=Absent() if thread is None else Idle(thread.epoch),
            deed=self._store.deed(begin),
            beside=await self._store.threads(team.user_id, team.team_id),
        )

    async def _wake_lead(self, team: Team) -> None:
        """Begin a turn of the task that leads, if it rests and has mail it was not told of."""
        services, key = self._services, ThreadKey(team.user_id, team.lead_task_id)
        thread = await self._brain.thread(key)
        if thread is None or thread.status != "idle" or await self._brain.inbox(key):
            return
        letters = await received(services, Seat(team=team, name=LEAD, task_id=key.task_id), None)
        news = [one for one in letters if one.told_at is None]
        tip = thread.tip_turn_id
        asked = any(one.sender == PERSON for one in news)
        woken = 0 if asked or not news else await so_far(services, key, tip)
        if not news or woken >= services.settings.team_wakes:
            return
        told_id = new_id("msg")
        history = await services.history.load(key, Place(tip))
        new = unseen(letters, history)
        boundary = Boundary.of((history[0].id if history else None) or told_id)
        text = f"{words.mail(new, boundary.quote, leads=True)}\n\n{_GO_ON}"
        order = (
            moded(services.settings, Order(task_id=key.task_id, message=text, direct=True, woken=1))
            if tip is None
            else await order_as(services, key, tip, text, woken + 1)
        )
        await services.budgets.admit(key)
        told = Told(
            user_id=team.user_id,
            team_id=team.team_id,
            recipient=LEAD,
            seqs=tuple(one.seq for one in new),
            turn_id=derived_id("turn", team.team_id, LEAD, str(news[0].seq)),
            told_id=told_id,
        )
        await self._start(team, key, thread, told.turn_id, order, told_id, told)


def _directory(item: WorkItem) -> str:
    return f"the worktree {item.worktree}" if item.worktree else "the workspace"
