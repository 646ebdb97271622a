"""The work graph in a brain: what is compared is set in the same commit, and what tells of it stands on the thread."""

import asyncio
from pathlib import Path

import pytest

from aster.brain.protocol import Brain
from aster.brain.records import ThreadKey
from aster.brain.sql.work import graph
from aster.brain.sql.work.graph_edges import MOST_NEEDS, circle
from aster.brain.sqlite.brain import SqliteBrain
from aster.brain.sqlite.connection import connect
from aster.brain.unit import Absent, Conflict
from aster.brain.work import ENGINE, Abandon, Actor, Claim, Complete, Create, Edit, Link, Release, WorkOutcome
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.events import TaskLifecycle, WorkUpdate
from aster.contracts.work import WorkDraft, WorkEdge, WorkEdit, WorkItem

ADA = Actor(user_id="ada", name="ada", person=True)
KEY = ThreadKey("ada", "t1")


def agent(name: str = "t1", call: str = "", user_id: str = "ada") -> Actor:
    return Actor(user_id=user_id, name=name, task_id=name, turn_id="turn-1", call_key=call)


async def make(
    brain: Brain, *drafts: WorkDraft, actor: Actor = ADA, key: ThreadKey | None = None
) -> list[WorkItem]:
    done = await brain.work.do(Create(actor=actor, board="main", drafts=drafts, most=100), key)
    return list(done.items)


async def one(brain: Brain, subject: str = "Dig", **fields: object) -> WorkItem:
    (made,) = await make(brain, WorkDraft(subject=subject, **fields))  # type: ignore[arg-type]
    return made


async def refused(work: object) -> str:
    with pytest.raises(EngineError) as caught:
        await work  # type: ignore[misc]
    details = caught.value.details or {}
    return str(details.get("reason", caught.value.message))


async def thread(brain: Brain, key: ThreadKey = KEY) -> None:
    await brain.append(key, None, [TaskLifecycle(phase="renamed", title="A task")])


async def told(brain: Brain, key: ThreadKey = KEY) -> list[str]:
    return [frame.type for frame in await brain.frames(key, 0, 100)]


async def claim(brain: Brain, item_id: str, owner: str) -> WorkOutcome:
    return await brain.work.do(Claim(actor=agent(owner), owner=owner, item_id=item_id))


async def test_a_change_and_what_tells_of_it_are_one_commit(brain: Brain) -> None:
    await thread(brain)
    (made,) = await make(brain, WorkDraft(subject="Dig"), actor=agent(), key=KEY)
    (change,) = await brain.work.history("ada", made.item_id, limit=10)
    assert (change.action, change.by, change.task_id, change.seq) == ("created", "t1", "t1", 2)
    assert await told(brain) == ["task_lifecycle", "work_update"]
    assert made.ready
    assert made.task_id == "t1"


async def test_a_deed_that_is_refused_leaves_nothing_and_hurts_nobody_beside_it(brain: Brain) -> None:
    await thread(brain)
    bad = Create(
        actor=ADA,
        board="main",
        drafts=(WorkDraft(subject="a"), WorkDraft(subject="b", blocked_by=("nowhere",))),
        most=100,
    )
    wrong = brain.append(KEY, None, [TaskLifecycle(phase="renamed", title="Never")], deed=brain.work.deed(bad))
    right = brain.append(KEY, None, [TaskLifecycle(phase="renamed", title="Right")])
    with pytest.raises(EngineError, match="no item nowhere"):
        await wrong
    assert [event.seq for event in await right] == [2]
    assert await brain.work.items("ada", limit=10) == []
    assert await brain.work.uses("ada") == frozenset()


async def test_a_guard_that_does_not_hold_keeps_the_deed_from_being_done(brain: Brain) -> None:
    await thread(brain)
    deed = brain.work.deed(Create(actor=ADA, board="main", drafts=(WorkDraft(subject="a"),), most=100))
    with pytest.raises(Conflict):
        await brain.append(KEY, None, (), guard=Absent(), deed=deed)
    assert await brain.work.uses("ada") == frozenset()


async def test_what_tells_of_a_deed_stands_before_the_other_events_of_its_unit(brain: Brain) -> None:
    deed = brain.work.deed(Create(actor=ADA, board="main", drafts=(WorkDraft(subject="a"),), most=100))
    written = await brain.append(KEY, None, [TaskLifecycle(phase="renamed", title="x")], deed=deed)
    assert [type(event) for event in written] == [WorkUpdate, TaskLifecycle]
    assert [event.seq for event in written] == [1, 2]


async def test_a_change_is_made_also_when_its_thread_is_gone(brain: Brain) -> None:
    (made,) = await make(brain, WorkDraft(subject="a"), key=ThreadKey("ada", "never"))
    assert await brain.thread(ThreadKey("ada", "never")) is None
    assert (await brain.work.history("ada", made.item_id, limit=1))[0].seq == 0


async def test_many_claimants_and_each_item_goes_to_one(brain: Brain) -> None:
    made = await make(brain, *(WorkDraft(subject=str(at)) for at in range(3)))

    wanted = [claim(brain, made[at % 3].item_id, f"w{at}") for at in range(30)]
    got = await asyncio.gather(*wanted, return_exceptions=True)
    taken = [outcome.items[0].item_id for outcome in got if isinstance(outcome, WorkOutcome)]
    assert sorted(taken) == sorted(item.item_id for item in made)
    lost = [(error.details or {})["reason"] for error in got if isinstance(error, EngineError)]
    assert lost == ["already_claimed"] * 27


async def test_one_owner_many_items_at_once_gets_one(brain: Brain) -> None:
    made = await make(brain, *(WorkDraft(subject=str(at)) for at in range(5)))
    done = await asyncio.gather(*(claim(brain, item.item_id, "w") for item in made), return_exceptions=True)
    assert sum(isinstance(outcome, WorkOutcome) for outcome in done) == 1
    reasons = {(error.details or {})["reason"] for error in done if isinstance(error, EngineError)}
    assert reasons == {"busy_owner"}


async def test_a_call_made_again_changes_nothing_and_comes_to_the_same(brain: Brain) -> None:
    drafts = (WorkDraft(subject="a", name="a"), WorkDraft(subject="b", blocked_by=("a",)))
    order = Create(actor=agent(call="k1"), board="main", drafts=drafts, most=100)
    first, again = await brain.work.do(order), await brain.work.do(order)
    assert first == again
    a, b = first.items
    claimed = Claim(actor=agent(call="k2"), owner="t1", item_id=a.item_id)
    assert await brain.work.do(claimed) == await brain.work.do(claimed)
    done = Complete(actor=agent(call="k3"), item_id=a.item_id, owner="t1")
    assert await brain.work.do(done) == await brain.work.do(done)
    assert [item.item_id for item in (await brain.work.do(done)).unblocked] == [b.item_id]
    assert len(await brain.work.history("ada", a.item_id, limit=10)) == 3


async def test_users_do_not_see_or_touch_each_others_work(brain: Brain) -> None:
    made = await one(brain)
    eve = agent("t9", user_id="eve")
    assert await brain.work.item("eve", made.item_id) is None
    assert await brain.work.items("eve", limit=10) == []
    assert await brain.work.history("eve", made.item_id, limit=10) == []
    for order in (
        Claim(actor=eve, owner="t9", item_id=made.item_id),
        Edit(actor=eve, item_id=made.item_id, owner="t9", edit=WorkEdit(subject="mine")),
        Release(actor=eve, item_id=made.item_id, owner="ada"),
        Link(actor=eve, add=(WorkEdge(item_id=made.item_id, needs=made.item_id),)),
    ):
        with pytest.raises(EngineError) as caught:
            await brain.work.do(order)
        assert caught.value.code is ErrorCode.NOT_FOUND
    own = await brain.work.do(Create(actor=eve, board="main", drafts=(WorkDraft(subject="e"),), most=9))
    edge = WorkEdge(item_id=own.items[0].item_id, needs=made.item_id)
    assert "no item" in await refused(brain.work.do(Link(actor=eve, add=(edge,))))


async def test_what_somebody_has_is_theirs_or_a_persons_to_change(brain: Brain) -> None:
    made = await one(brain, description="old")
    await claim(brain, made.item_id, "t1")
    edit = WorkEdit(description="new", priority=0)
    other = Edit(actor=agent("t2"), item_id=made.item_id, owner="t2", edit=edit)
    assert await refused(brain.work.do(other)) == "not_owner"
    for actor, owner in ((agent("t1"), "t1"), (ADA, "ada")):
        await brain.work.do(Edit(actor=actor, item_id=made.item_id, owner=owner, edit=edit))
    newest = (await brain.work.history("ada", made.item_id, limit=1))[0]
    assert (newest.action, newest.by, newest.detail) == ("updated", "t1", {"before": {"description": "old"}})
    settled = Edit(actor=ADA, item_id=made.item_id, owner="ada", edit=WorkEdit(), add=("x",))
    assert await refused(brain.work.do(settled)) == "already_claimed"


async def test_what_a_task_was_at_goes_back_to_the_board(brain: Brain) -> None:
    made = await one(brain)
    await claim(brain, made.item_id, "t1")
    engine = Actor(user_id="ada", name=ENGINE)
    done = await brain.work.do(Abandon(actor=engine, task_id="t1", reason="it failed"))
    assert [item.ready for item in done.items] == [True]
    assert (await brain.work.do(Abandon(actor=engine, task_id="t1", reason="it failed"))).items == ()
    newest = (await brain.work.history("ada", made.item_id, limit=1))[0]
    assert (newest.by, newest.detail) == (ENGINE, {"owner": "t1", "reason": "it failed"})


async def test_deleting_a_task_gives_back_what_it_was_at(brain: Brain) -> None:
    await thread(brain)
    made = await one(brain)
    await claim(brain, made.item_id, "t1")
    assert await brain.delete_thread(KEY) == "idle"
    found = await brain.work.item("ada", made.item_id)
    assert found is not None
    assert found.ready


async def test_the_next_item_is_the_most_urgent_that_is_ready_for_the_role(brain: Brain) -> None:
    first = await one(brain, "first")
    await one(brain, "for a painter", role="painter", priority=9)
    urgent = await one(brain, "urgent", priority=5)
    waits = await one(brain, "waits", priority=8, blocked_by=(first.item_id,))

    async def take(owner: str, *roles: str) -> str | None:
        order = Claim(actor=agent(owner), owner=owner, board="main", roles=roles)
        return next((item.subject for item in (await brain.work.do(order)).items), None)

    assert await take("a") == "urgent"
    assert await take("b", "painter", "cook") == "for a painter"
    assert await take("c", "cook") == "first"
    assert await take("d", "cook") is None
    done = await brain.work.do(Complete(actor=agent("c"), item_id=first.item_id, owner="c"))
    assert [item.item_id for item in done.unblocked] == [waits.item_id]
    assert await take("d") == "waits"
    assert (await brain.work.held("ada", "a")) is not None
    assert urgent.ready


async def test_pages_follow_each_other_without_gap_or_repetition(brain: Brain) -> None:
    await make(brain, *(WorkDraft(subject=str(at), priority=at % 3) for at in range(20)))
    whole = [item.item_id for item in await brain.work.items("ada", limit=100, board="main")]
    seen: list[str] = []
    while page := await brain.work.items("ada", limit=6, board="main", after=seen[-1] if seen else None):
        seen += [item.item_id for item in page]
    assert seen == whole
    assert len(set(seen)) == 20


async def test_more_than_the_most_is_refused_whole(brain: Brain) -> None:
    order = Create(actor=ADA, board="main", drafts=(WorkDraft(subject="a"), WorkDraft(subject="b")), most=1)
    assert "1 are the most" in await refused(brain.work.do(order))
    assert await brain.work.uses("ada") == frozenset()
    needed = [item.item_id for item in await make(brain, *(WorkDraft(subject=str(at)) for at in range(90)))]
    waits = await one(brain, blocked_by=tuple(needed))
    more = [(await one(brain, str(at))).item_id for at in range(MOST_NEEDS - 90 - 1)]
    edges = tuple(WorkEdge(item_id=waits.item_id, needs=needs) for needs in more)
    assert len((await brain.work.do(Link(actor=ADA, add=edges))).items[0].blocked_by) == MOST_NEEDS - 1


@pytest.mark.parametrize(
    ("edges", "found"),
    [
        ({}, []),
        ({"a": ["b"], "b": ["c"], "d": ["b", "c"]}, []),
        ({"a": ["b"], "b": ["a"]}, ["a", "b", "a"]),
        ({"x": ["a"], "a": ["b"], "b": ["c"], "c": ["a"]}, ["a", "b", "c", "a"]),
    ],
)
def test_a_circle_is_found(edges: dict[str, list[str]], found: list[str]) -> None:
    assert circle(edges) == found


def test_a_long_chain_is_no_circle_and_needs_no_deep_stack() -> None:
    assert circle({str(at): [str(at + 1)] for at in range(20_000)}) == []


async def test_pages_and_readiness_are_found_by_indexes_alone(file_brain: SqliteBrain, tmp_path: Path) -> None:
    """However many items there are: nothing is scanned and nothing sorted."""
    made = await make(file_brain, *(WorkDraft(subject=str(at)) for at in range(3)))
    db = connect(tmp_path / "brain.sqlite")
    asked: list[str] = []
    db.set_trace_callback(asked.append)
    graph.items(db, "ada", limit=5, board="main", after=made[0].item_id)
    graph.items(db, "ada", limit=5, board="main", status="pending", ready=True)
    graph.next_ready(db, "ada", "main", ["cook"])
    graph.unblocked_by(db, "ada", made[0].item_id)
    graph.held(db, "ada", "t1")
    graph.uses(db, "ada")
    graph.history(db, "ada", made[0].item_id, limit=5, before=3)
    db.set_trace_callback(None)
    steps = [(sql, step[3]) for sql in asked for step in db.execute(f"EXPLAIN QUERY PLAN {sql}")]
    assert len(asked) > 8
    assert [(sql, step) for sql, step in steps if step.startswith("SCAN") and step != "SCAN CONSTANT ROW"] == []
    sorted_ = [
        (sql, step) for sql, step in steps if "ORDER BY" in step and "work_edges" not in sql.split("WHERE")[0]
    ]
    assert sorted_ == []
    db.close()
