"""The queue of what happened: nothing is lost, nothing is done twice, and who lost a claim can do nothing with it."""

import asyncio
from itertools import chain

from aster.brain.learning import Claim
from aster.brain.postgres.brain import PostgresBrain
from aster.brain.protocol import Brain
from aster.brain.records import ThreadKey
from aster.brain.signals import Signal
from aster.infra.clock import now_ms
from aster.memory.drafts import Draft
from tests.brain.learned import NOW, Drawn, applied, claim_of, ended, exported, fact, row

LATER = NOW + 60_000


def rated(target_id: str = "turn-1", *, correction: str = "", at: int = NOW, name: str = "signal-1") -> Signal:
    return Signal(
        signal_id=name,
        user_id="ada",
        target="turn",
        target_id=target_id,
        task_id="task-1",
        turn_id=target_id,
        rating=-1.0,
        text="no",
        correction=correction,
        created_at=at,
        updated_at=at,
    )


async def test_entries_are_claimed_in_order_and_of_one_user(brain: Brain) -> None:
    for turn_id, user_id in (("t1", "ada"), ("t2", "bob"), ("t3", "ada"), ("t4", "ada")):
        await ended(brain, turn_id, user_id=user_id)
    assert await brain.learning.waiting_users(NOW) == ["ada", "bob"]
    first = await brain.learning.claim("h1", now=NOW, until=LATER, limit=2)
    assert [entry.turn_id for entry in first] == ["t1", "t3"]
    second = await brain.learning.claim("h2", now=NOW, until=LATER, limit=9)
    assert [(entry.user_id, entry.turn_id) for entry in second] == [("bob", "t2")]
    third = await brain.learning.claim("h3", now=NOW, until=LATER, limit=9, user_id="ada")
    assert [entry.turn_id for entry in third] == ["t4"]
    assert await brain.learning.claim("h4", now=NOW, until=LATER, limit=9) == []
    assert await brain.learning.waiting_users(NOW) == []
    assert await brain.learning.waiting_users(LATER) == ["ada", "bob"], "claims run out"


async def test_an_entry_is_there_once_however_often_its_turn_ends(brain: Brain) -> None:
    await ended(brain, "t1")
    [entry] = await brain.learning.claim("h", now=NOW, until=LATER, limit=9)
    await applied(brain, Drawn("c1"), claim_of("h", [entry]))
    await ended(brain, "t2")
    assert [(one.turn_id, one.state) for one in await brain.learning.entries("ada", limit=9)] == [
        ("t2", "waiting"),
        ("t1", "done"),
    ]
    assert [one.turn_id for one in await brain.learning.entries("ada", limit=9, state="done")] == ["t1"]
    assert [one.changeset_id for one in await brain.learning.entries("ada", limit=9, before=2)] == ["c1"]


async def test_a_claim_that_ran_out_commits_nothing(brain: Brain) -> None:
    await ended(brain, "t1")
    late = claim_of("h1", await brain.learning.claim("h1", now=NOW, until=LATER, limit=9))
    drawn = Drawn("c1").write(fact("in Oslo"))
    learning = brain.learning
    assert await learning.commit(drawn.changeset, apply=True, claim=late, now=LATER, rows=drawn.rows) is None
    again = await learning.claim("h2", now=LATER, until=LATER * 2, limit=9)
    assert [entry.attempts for entry in again] == [1], "whoever had it before died over it"
    assert not await learning.keep_claim(late, LATER * 3)
    assert await learning.commit(drawn.changeset, apply=True, claim=late, now=NOW, rows=drawn.rows) is None
    assert await exported(brain) == b"[]"
    assert await learning.changesets("ada", limit=9) == []
    done = await learning.commit(
        drawn.changeset, apply=True, claim=claim_of("h2", again), now=LATER, rows=drawn.rows
    )
    assert done is not None
    assert (done.status, done.entries) == ("applied", 1)
    more = Drawn("c2").write(fact("in Rome"))
    assert (
        await learning.commit(more.changeset, apply=True, claim=claim_of("h2", again), now=LATER, rows=more.rows)
        is None
    ), "done is done"
    assert await learning.commit(drawn.changeset, apply=True, claim=None, now=LATER, rows=drawn.rows) is None
    assert (await exported(brain)).count(b"in Oslo") == 1


async def test_a_claim_is_good_for_its_own_user_alone(brain: Brain) -> None:
    await ended(brain, "t1", user_id="bob")
    claim = claim_of("h", await brain.learning.claim("h", now=NOW, until=LATER, limit=9))
    assert await brain.learning.commit(Drawn("c1").changeset, apply=True, claim=claim, now=NOW) is None


async def test_a_claim_can_be_kept_given_back_and_given_up(brain: Brain) -> None:
    await ended(brain, "t1")
    claim = claim_of("h", await brain.learning.claim("h", now=NOW, until=LATER, limit=9))
    assert await brain.learning.keep_claim(claim, LATER * 2)
    assert await brain.learning.claim("x", now=LATER, until=LATER * 2, limit=9) == []
    await brain.learning.give_back(claim, LATER)
    assert await brain.learning.claim("x", now=NOW, until=LATER, limit=9) == [], "not before it is due"
    for attempt in range(3):
        [entry] = found = await brain.learning.claim("h", now=LATER, until=LATER * 2, limit=9)
        assert entry.attempts == attempt, "being given back is no attempt"
        await brain.learning.give_up(claim_of("h", found), LATER, f"failed {attempt}", 3)
    [entry] = await brain.learning.entries("ada", limit=9, state="set_aside")
    assert (entry.problem, entry.attempts) == ("failed 2", 3)
    assert await brain.learning.claim("h", now=LATER, until=LATER * 2, limit=9) == []
    assert not await brain.learning.requeue("bob", entry.number)
    assert await brain.learning.requeue("ada", entry.number)
    assert not await brain.learning.requeue("ada", entry.number)
    [entry] = await brain.learning.claim("h", now=NOW, until=LATER, limit=9)
    assert (entry.problem, entry.attempts) == ("", 0)
    await brain.learning.give_up(Claim(holder="x", numbers=(entry.number,)), 0, "not mine", 1)
    assert (await brain.learning.queue("ada")).set_aside == 0


async def test_the_queue_tells_how_much_there_is(brain: Brain) -> None:
    now = now_ms()
    for turn_id in ("t1", "t2", "t3", "t4"):
        await ended(brain, turn_id)
    await ended(brain, "t5", user_id="bob")
    await applied(
        brain,
        Drawn("c1"),
        claim_of("h", await brain.learning.claim("h", now=NOW, until=LATER, limit=1, user_id="ada")),
    )
    aside = claim_of("h", await brain.learning.claim("h", now=now, until=now + 60_000, limit=1, user_id="ada"))
    await brain.learning.give_up(aside, 0, "no", 1)
    await brain.learning.claim("h", now=now, until=now + 60_000, limit=1, user_id="ada")
    state = await brain.learning.queue("ada")
    assert (state.waiting, state.claimed, state.set_aside, state.done, state.oldest_at) == (1, 1, 1, 1, NOW)
    everybody = await brain.learning.queue(None)
    assert (everybody.waiting, everybody.done) == (2, 1)
    assert (await brain.learning.queue("eve")).oldest_at is None


async def test_what_was_done_long_ago_is_forgotten_a_few_at_a_time(brain: Brain) -> None:
    for turn_id in ("t1", "t2", "t3"):
        await ended(brain, turn_id)
    found = await brain.learning.claim("h", now=NOW, until=LATER, limit=2)
    await applied(brain, Drawn("c1"), claim_of("h", found))
    assert await brain.learning.retain(NOW, 9) == 0
    assert await brain.learning.retain(NOW + 1, 1) == 1
    assert await brain.learning.retain(NOW + 1, 9) == 1
    assert [entry.turn_id for entry in await brain.learning.entries("ada", limit=9)] == ["t3"]


async def test_a_signal_is_learned_from_once_and_as_it_was_said_last(brain: Brain) -> None:
    await ended(brain, "turn-1")
    await brain.keep_signal(rated())
    assert len(await brain.learning.entries("ada", limit=9)) == 1, "not unless it is to be learned from"
    await brain.keep_signal(rated(at=NOW + 1), learn=True)
    await brain.keep_signal(rated(at=NOW + 2, correction="say Oslo", name="signal-2"), learn=True)
    [entry, _] = await brain.learning.entries("ada", limit=9)
    assert (entry.entry_id, entry.kind, entry.task_id) == (f"signal-1:{NOW + 2}", "correction", "task-1")
    claim = claim_of("h", await brain.learning.claim("h", now=LATER, until=LATER * 2, limit=9))
    await brain.keep_signal(rated(at=NOW + 3), learn=True)
    assert not await brain.learning.keep_claim(claim, LATER * 3), "it was said anew meanwhile"
    assert await brain.drop_signal("ada", "signal-1")
    assert [one.kind for one in await brain.learning.entries("ada", limit=9)] == ["turn"]


async def test_a_rated_memory_that_is_forgotten_is_not_learned_from(brain: Brain) -> None:
    [written] = await brain.memory.write([row(Draft("fact", {"content": "in Oslo"}))])
    signal = Signal(
        signal_id="s",
        user_id="ada",
        target="memory",
        target_id=written.row.id,
        task_id="",
        turn_id="",
        rating=1.0,
        text="",
        correction="",
        created_at=NOW,
        updated_at=NOW,
    )
    await brain.keep_signal(signal, learn=True)
    assert [one.kind for one in await brain.learning.entries("ada", limit=9)] == ["feedback"]
    await brain.memory.forget("ada", [written.row.id])
    assert await brain.learning.entries("ada", limit=9) == []


async def test_a_task_that_is_deleted_takes_its_entries_along(brain: Brain) -> None:
    await ended(brain, "t1", task_id="task-1")
    await ended(brain, "t2", task_id="task-2")
    claim = claim_of("h", await brain.learning.claim("h", now=NOW, until=LATER, limit=9))
    await brain.delete_thread(ThreadKey("ada", "task-1"))
    assert [entry.turn_id for entry in await brain.learning.entries("ada", limit=9)] == ["t2"]
    assert await brain.learning.commit(Drawn("c1").changeset, apply=True, claim=claim, now=NOW) is None


async def test_two_replicas_never_share_an_entry(database_url: str) -> None:
    pair = PostgresBrain(database_url), PostgresBrain(database_url)
    for one in pair:
        await one.start()
    for at in range(30):
        await ended(pair[0], f"t{at}", user_id=f"user-{at % 3}", task_id=f"task-{at}")
    claimed = await asyncio.gather(
        *(pair[at % 2].learning.claim(f"h{at}", now=NOW, until=LATER, limit=2) for at in range(20))
    )
    numbers = [entry.number for entry in chain.from_iterable(claimed)]
    assert sorted(numbers) == list(range(1, 31))
    drawn = Drawn("c1", "user-0").write(fact("in Oslo"))
    kept = await asyncio.gather(
        *(
            one.learning.commit(drawn.changeset, apply=True, claim=None, now=NOW, rows=drawn.rows)
            for one in pair
            for _ in range(3)
        )
    )
    assert sum(done is not None for done in kept) == 1
    for one in pair:
        await one.close()


async def test_nobody_sees_what_is_another_users(brain: Brain) -> None:
    await ended(brain, "t1")
    await applied(brain, Drawn("c1").write(fact("in Oslo")).add("trial", kind="lesson", fields={"trigger": "x"}))
    await brain.learning.keep_state("ada", "last", "1", NOW)
    learning = brain.learning
    assert await learning.entries("bob", limit=9) == []
    assert await learning.changesets("bob", limit=9) == []
    assert await learning.changeset("bob", "c1") is None
    assert await learning.trials("bob", limit=9) == []
    assert await learning.trial("bob", "c1-2") is None
    assert await learning.state("bob", "last") is None
    assert await learning.decide("bob", "c1", "revert", by="bob", now=NOW) is None
    assert await learning.state("ada", "last") == "1"
    await learning.keep_state("ada", "last", "2", NOW)
    assert await learning.state("ada", "last") == "2"
