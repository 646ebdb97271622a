"""Teams in a brain: a change, the mail it sends and what tells of it on several threads are one commit."""

import asyncio

import pytest

from aster.brain.protocol import Brain
from aster.brain.records import ThreadKey
from aster.brain.teams import (
    AskToStop,
    Begin,
    Ended,
    Heard,
    NewMember,
    NewTeam,
    Post,
    Spawn,
    Stopped,
    TeamOrder,
    Told,
    owner_of,
)
from aster.brain.unit import Idle
from aster.brain.work import Actor, Create
from aster.contracts.errors import EngineError
from aster.contracts.events import Event, Phase, TaskLifecycle, TeamMessage, decode_event
from aster.contracts.teams import MemberDraft
from aster.contracts.work import WorkDraft

LEAD = ThreadKey("ada", "t1")
TEAM = "team-1"


def member(name: str, item_id: str | None = None) -> NewMember:
    draft = MemberDraft(name=name, prompt=f"Begin, {name}.", item_id=item_id)
    return NewMember(draft=draft, task_id=f"agent-{name}", body=b"{}")


def spawn(*members: NewMember, call_key: str = "", most: int = 8) -> Spawn:
    new = NewTeam(team_id=TEAM, name="crew", board="main", lead_task_id=LEAD.task_id, budget_usd=0)
    return Spawn(
        user_id="ada", team_id=TEAM, members=members, sender="person", most=most, team=new, call_key=call_key
    )


async def do(brain: Brain, order: TeamOrder) -> tuple[str, ...]:
    """Make a change; what was sent by it."""
    done = await brain.teams.do(order, LEAD, await brain.teams.threads("ada", TEAM))
    return tuple(f"{one.sender}>{one.recipient}:{one.type}:{one.seq}" for one in done.mail)


async def refused(brain: Brain, order: TeamOrder) -> str:
    with pytest.raises(EngineError) as caught:
        await do(brain, order)
    return str((caught.value.details or {}).get("reason", caught.value.message))


async def told(brain: Brain, key: ThreadKey) -> list[Event]:
    return [decode_event(frame.json) for frame in await brain.frames(key, 0, 1000)]


async def item(brain: Brain) -> str:
    actor = Actor(user_id="ada", name="ada", person=True)
    done = await brain.work.do(Create(actor=actor, board="main", drafts=(WorkDraft(subject="Dig"),), most=9))
    return done.items[0].item_id


def begin(name: str, begun: int = 0, item_id: str | None = None, seqs: tuple[int, ...] = (1,)) -> Begin:
    return Begin(
        user_id="ada",
        team_id=TEAM,
        name=name,
        turn_id=f"turn-{name}-{begun}",
        begun=begun,
        told_id="msg-1",
        seqs=seqs,
        item_id=item_id,
    )


def ended(name: str, phase: Phase = Phase.COMPLETED, begun: int = 0) -> Ended:
    return Ended(
        user_id="ada",
        task_id=f"agent-{name}",
        turn_id=f"turn-{name}-{begun}",
        phase=phase,
        stop_reason="end_turn",
        said="It is dug.",
    )


async def test_a_team_is_made_whole_or_not_at_all_and_the_same_call_makes_it_once(brain: Brain) -> None:
    dig = await item(brain)
    assert await refused(brain, spawn(member("Ada", dig), member("Bob", "work-none"))) != ""
    assert await brain.teams.team("ada", TEAM) is None
    assert await brain.thread(LEAD) is None
    assert await brain.work.uses("ada") == {"work"}
    assert await do(brain, spawn(member("Ada", dig), call_key="c1")) == ("person>Ada:message:1",)
    assert await do(brain, spawn(member("Ada", dig), call_key="c1")) == ()
    assert await refused(brain, spawn(member("aDA"))) == "name_taken"
    assert await refused(brain, spawn(member("Bob"), member("Cleo"), most=2)) == "too_many"
    held = await brain.work.held("ada", owner_of(TEAM, "Ada"))
    assert held is not None
    assert held.owner_task_id == "agent-Ada"
    assert [one.team_id for one in await brain.teams.of_lead(LEAD)] == [TEAM]
    assert [one.team_id for one in await brain.teams.on_board("ada", "main")] == [TEAM]
    assert await brain.work.uses("ada") == {"work", "teams"}
    assert await brain.work.uses("eve") == frozenset()
    assert await brain.teams.team("eve", TEAM) is None


async def test_mail_is_told_on_both_threads_in_the_commit_of_its_row(brain: Brain) -> None:
    await do(brain, spawn(member("Ada"), member("Bob")))
    for name in ("Ada", "Bob"):
        await brain.append(ThreadKey("ada", f"agent-{name}"), None, [TaskLifecycle(phase="renamed", title=name)])
    sent = await do(brain, Post(user_id="ada", team_id=TEAM, sender="Ada", recipient="all", content="hi"))
    assert sent == ("Ada>Bob:broadcast:2",)
    places = {
        key.task_id: [one.mail_seq for one in await told(brain, key) if isinstance(one, TeamMessage)]
        for key in await brain.teams.threads("ada", TEAM)
    }
    assert places == {"t1": [1, 1], "agent-Ada": [2], "agent-Bob": [2]}
    assert await brain.thread(ThreadKey("ada", "agent-nobody")) is None


async def test_of_many_at_once_each_message_has_its_number(brain: Brain) -> None:
    await do(brain, spawn(member("Ada")))
    await asyncio.gather(
        *(
            do(brain, Post(user_id="ada", team_id=TEAM, sender="person", recipient="ada", content=str(at)))
            for at in range(20)
        )
    )
    letters = await brain.teams.unheard("ada", TEAM, "Ada")
    assert [one.seq for one in letters] == list(range(1, 22))
    assert await brain.teams.waiting("ada", TEAM) == {"Ada": 21}
    mark = Told(user_id="ada", team_id=TEAM, recipient="Ada", seqs=(1, 2), turn_id="turn-1", told_id="msg-1")
    await do(brain, mark)
    await do(brain, Heard(user_id="ada", team_id=TEAM, recipient="Ada", seqs=(1,)))
    first, *_ = await brain.teams.unheard("ada", TEAM, "Ada")
    assert (first.seq, first.told_id) == (2, "msg-1")
    newest = await brain.teams.mail("ada", TEAM, limit=2, name="Ada")
    assert [one.seq for one in newest] == [21, 20]
    assert [one.seq for one in await brain.teams.mail("ada", TEAM, limit=1, before=newest[-1].number)] == [19]


async def test_a_member_begins_once_and_tells_the_lead_at_its_end(brain: Brain) -> None:
    dig = await item(brain)
    await do(brain, spawn(member("Ada"), member("Bob")))
    await do(brain, begin("Ada", item_id=dig))
    assert await refused(brain, begin("Ada")) == "busy"
    assert await refused(brain, begin("Bob", item_id=dig)) == "already_claimed"
    bob = next(one for one in await brain.teams.members("ada", TEAM) if one.name == "Bob")
    assert (bob.status, bob.begun) == ("idle", 0)
    assert await do(brain, ended("Ada")) == ("Ada>lead:result:1", "Ada>lead:idle_notification:2")
    assert await do(brain, begin("Ada", begun=1, seqs=())) == ()
    assert await do(brain, ended("Ada", Phase.ERRORED, begun=1)) == ("Ada>lead:error:3",)
    found = await brain.work.item("ada", dig)
    assert found is not None
    assert found.owner is None
    assert await do(brain, ended("Ada", Phase.ERRORED, begun=0)) == (), "an end that was told is not told again"
    assert (await brain.teams.seat(ThreadKey("ada", "agent-Ada"))) is not None
    lead = await brain.teams.seat(LEAD)
    assert lead is not None
    assert (lead.leads, lead.owner) == (True, "t1")


async def test_whoever_was_stopped_begins_nothing_and_has_nothing(brain: Brain) -> None:
    dig = await item(brain)
    await do(brain, spawn(member("Ada", dig), member("Bob")))
    await do(brain, AskToStop(user_id="ada", team_id=TEAM, by="person", name="ada"))
    assert await refused(brain, begin("Ada")) == "stopped"
    assert await brain.teams.left(10**15) == [("ada", TEAM)]
    assert await do(brain, Stopped(user_id="ada", team_id=TEAM, name="Ada")) == ("engine>lead:error:1",)
    assert await do(brain, Stopped(user_id="ada", team_id=TEAM, name="Ada")) == ()
    found = await brain.work.item("ada", dig)
    assert found is not None
    assert found.ready
    await do(brain, AskToStop(user_id="ada", team_id=TEAM, by="person"))
    assert await refused(brain, begin("Bob")) == "stopped"
    assert [one.status for one in await brain.teams.teams("ada", limit=9)] == ["stopped"]
    assert await brain.teams.teams("ada", limit=9, status="active") == []
    assert await brain.teams.costs("ada", TEAM) == {}


async def test_an_event_of_a_deed_goes_to_the_thread_it_names_if_there_is_one(brain: Brain) -> None:
    here, there, nowhere = (ThreadKey("ada", name) for name in ("here", "there", "nowhere"))
    for key in (here, there):
        await brain.append(key, None, [TaskLifecycle(phase="renamed", title="A task")])

    def deed(db: object) -> list[Event]:
        del db
        return [TaskLifecycle(phase="renamed", title=name, task_id=name) for name in ("", "there", "nowhere")]

    own = await brain.append(here, None, [], guard=Idle(), deed=deed, beside=(there, nowhere))
    assert [one.title for one in own if isinstance(one, TaskLifecycle)] == [""]
    assert [one.task_id for one in await told(brain, there)] == ["there", "there"]
    assert await brain.thread(nowhere) is None
    record = await brain.thread(there)
    assert record is not None
    assert record.title == "there"
