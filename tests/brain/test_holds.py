"""Money set aside: it fits or it does not, it is counted once, and it comes back from whoever is gone."""

import asyncio

from aster.brain.background import BackgroundRow
from aster.brain.holds import Cap, HoldRow
from aster.brain.marks import MarkRow
from aster.brain.postgres.brain import PostgresBrain
from aster.brain.protocol import Brain
from aster.brain.records import ThreadKey, UsageRow
from aster.contracts.events import TaskLifecycle
from aster.infra.clock import now_ms

KEY = ThreadKey("ada", "t1")
LATER = 60_000


def hold(
    brain: Brain, name: str, usd: float = 0.4, *, turn: str = "", owner: str | None = None, lasts: int = LATER
) -> HoldRow:
    return HoldRow(
        hold_id=name,
        user_id="ada",
        task_id="t1",
        turn_id=turn,
        owner=owner or brain.replica,
        usd=usd,
        expires_at=now_ms() + lasts,
    )


def spent(usd: float) -> UsageRow:
    return UsageRow(
        user_id="ada",
        task_id="t1",
        model="m",
        input_tokens=1,
        output_tokens=1,
        cache_read_tokens=0,
        cache_write_tokens=0,
        cost_usd=usd,
        ts=now_ms(),
    )


async def test_what_is_spent_and_held_stays_below_the_cap(brain: Brain) -> None:
    day = [Cap("user", 1.0)]
    assert await brain.hold(hold(brain, "h1"), day, 0, now_ms())
    assert await brain.hold(hold(brain, "h2"), day, 0, now_ms())
    assert not await brain.hold(hold(brain, "h3"), day, 0, now_ms())
    await brain.put(spent(0.4))
    await brain.put(hold(brain, "h1", 0.0, lasts=-1))
    assert not await brain.hold(hold(brain, "h3"), day, 0, now_ms())
    assert await brain.hold(hold(brain, "h3", 0.2), day, 0, now_ms())
    purse = await brain.purse(KEY, 0, now_ms())
    assert [round(amount, 6) for amount in purse] == [0.4, 0.4, 0.6, 0.6]


async def test_every_cap_counts(brain: Brain) -> None:
    now = now_ms()
    assert not await brain.hold(hold(brain, "h1"), [Cap("user", 1.0), Cap("task", 0.3)], 0, now)
    assert not await brain.hold(hold(brain, "h1"), [Cap("turn", 1.0, spent=0.7)], 0, now)
    assert await brain.hold(hold(brain, "h1"), [Cap("turn", 1.0, spent=0.6)], 0, now)
    assert await brain.hold(hold(brain, "h2"), [Cap("turn", 0.8, spent=9.0, root_turn_id="turn-1")], 0, now)
    elsewhere = await brain.purse(ThreadKey("ada", "t2"), 0, now)
    assert (elsewhere.user_held, elsewhere.task_held) == (0.8, 0.0)
    assert (await brain.purse(ThreadKey("bob", "t1"), 0, now)).user_held == 0.0


async def test_what_a_dead_replica_held_comes_back(brain: Brain) -> None:
    cap = [Cap("user", 0.5)]
    assert await brain.hold(hold(brain, "old", turn="turn-1", owner="gone"), cap, 0, now_ms())
    assert not await brain.hold(hold(brain, "other", turn="turn-2"), cap, 0, now_ms())
    assert await brain.hold(hold(brain, "again", turn="turn-1"), cap, 0, now_ms()), "the turn is taken up here"
    await brain.drop_holds(brain.replica)
    assert await brain.hold(hold(brain, "short", owner="gone", lasts=1), cap, 0, now_ms())
    assert await brain.hold(hold(brain, "next"), cap, 0, now_ms() + 10), "what has expired is not held"


async def test_a_call_that_takes_long_keeps_what_it_holds(brain: Brain) -> None:
    now = now_ms()
    assert await brain.hold(hold(brain, "h1", lasts=10), [], 0, now)
    await brain.renew_holds(["h1"], now + LATER)
    assert (await brain.purse(KEY, 0, now + 20)).user_held == 0.4


async def test_who_would_leave_something_is_known(brain: Brain) -> None:
    assert await brain.owners() == set()
    assert await brain.hold(hold(brain, "h1", owner="replica-1"), [], 0, now_ms())
    row = BackgroundRow(
        runtime_task_id="bg_1",
        turn_id="",
        tool_call_id="",
        work="bash",
        description="x",
        started_at=now_ms(),
        owner="replica-2",
    )
    await brain.append(KEY, None, [TaskLifecycle(phase="renamed", title="x")], rows=[row])
    assert await brain.owners() == {"replica-1", "replica-2"}
    await brain.drop_holds("replica-1")
    assert await brain.owners() == {"replica-2"}
    (record,) = await brain.background_of("ada")
    assert await brain.take_background(record)
    assert not await brain.take_background(record), "only one tells how it ended"
    assert await brain.stop_background(KEY, "bg_1", "enough")
    assert await brain.background_owned() == {"bg_1": "enough"}
    assert await brain.end_background(KEY, "bg_1")
    assert await brain.end_background(KEY, "bg_1"), "who was not answered asks again"
    assert not await brain.take_background(record), "it is being told"
    assert await brain.background_owned() == {}
    assert await brain.owners() == {brain.replica}, "one that dies now leaves it to others"
    assert not await brain.stop_background(ThreadKey("bob", "t1"), "bg_1", "enough")


async def test_the_first_mark_stays(brain: Brain) -> None:
    first, second = (MarkRow(name="m", value=value, updated_at=now_ms()) for value in ("a", "b"))
    assert await brain.settle_mark(first) == "a"
    assert await brain.settle_mark(second) == "a"
    await brain.put(second)
    assert await brain.marks() == {"m": "b"}


async def test_replicas_that_hold_at_once_stay_below_the_cap_together(database_url: str) -> None:
    pair = PostgresBrain(database_url), PostgresBrain(database_url)
    for one in pair:
        await one.start()
    cap, now = [Cap("user", 1.0)], now_ms()
    held = await asyncio.gather(
        *(pair[at % 2].hold(hold(pair[at % 2], f"h{at}", 0.1), cap, 0, now) for at in range(40))
    )
    assert sum(held) == 10
    for one in pair:
        await one.close()
