"""What one replica writes the others show and hear of; a hint that is missed delays, and loses nothing."""

import asyncio
from collections.abc import Callable

import psycopg
import pytest

from aster.brain.changes import Change
from aster.brain.postgres.brain import PostgresBrain
from aster.brain.records import BudgetRow, Frame, ThreadKey
from aster.brain.unit import Idle, Owned
from tests.brain.thread import KEY, begin, delta, end, ending, opening, read_all, text_in
from tests.postgres import server


async def tail(brain: PostgresBrain, after_seq: int = 0, wait: float = 20.0) -> list[Frame]:
    """Watch a thread until its turn has ended."""
    frames: list[Frame] = []
    with brain.subscribe(KEY, after_seq) as subscription:
        while not frames or b'"completed"' not in frames[-1].data:
            frames += await subscription.next(wait)
    return frames


class Heard:
    """What a replica was told of the others."""

    def __init__(self, brain: PostgresBrain) -> None:
        self.changes: list[Change] = []
        self._new = asyncio.Event()
        brain.changes.watch(self._hear)

    def _hear(self, change: Change) -> None:
        self.changes.append(change)
        self._new.set()

    async def until(self, wanted: Callable[[Change], bool]) -> Change:
        async with asyncio.timeout(10):
            while True:
                for change in self.changes:
                    if wanted(change):
                        return change
                self._new.clear()
                await self._new.wait()


async def test_a_thread_is_watched_from_anywhere(a: PostgresBrain, b: PostgresBrain) -> None:
    watching = [asyncio.create_task(tail(brain)) for brain in (a, b, b)]
    await begin(a)
    for number in range(50):
        a.emit(KEY, "turn-1", delta(f"{number},"))
        await asyncio.sleep(0)
    await end(a)
    stored = await read_all(b)
    for frames in await asyncio.wait_for(asyncio.gather(*watching), 10):
        assert frames == stored
    assert text_in(stored) == "".join(f"{number}," for number in range(50))


async def test_a_turn_that_changes_hands_is_watched_through(a: PostgresBrain, b: PostgresBrain) -> None:
    watching = [asyncio.create_task(tail(brain)) for brain in (a, b)]
    await begin(a)
    for number in range(20):
        owner, other = (a, b) if number % 2 == 0 else (b, a)
        await owner.append(KEY, "turn-1", [delta(f"{number},")], guard=Owned("turn-1"))
        thread = await other.thread(KEY)
        assert thread is not None
        await other.take(KEY, "turn-1", thread.epoch)
    await end(a)
    stored = await read_all(a)
    for frames in await asyncio.wait_for(asyncio.gather(*watching), 10):
        assert frames == stored


async def test_the_others_hear_what_was_changed_and_not_oneself(a: PostgresBrain, b: PostgresBrain) -> None:
    heard, own = Heard(b), Heard(a)
    await begin(a)
    assert KEY in (await heard.until(lambda change: KEY in change.threads)).threads
    budget = BudgetRow(user_id="ada", scope="user", task_id="", owner="operator", limit_usd=1.0, updated_at=1)
    await a.put(budget)
    await heard.until(lambda change: change.touches("budgets"))
    heard.changes.clear()
    await a.drop_budget(budget)
    await heard.until(lambda change: change.touches("budgets"))
    await end(a)
    heard.changes.clear()
    await a.delete_thread(KEY)
    await heard.until(lambda change: KEY in change.threads)
    assert own.changes == []


async def test_more_keys_than_a_hint_holds_mean_everything(a: PostgresBrain, b: PostgresBrain) -> None:
    heard = Heard(b)
    keys = [ThreadKey("ada", f"{number:04}" + "x" * 200) for number in range(60)]
    watching = asyncio.create_task(tail(b))
    await asyncio.sleep(0.05)
    starts = [a.append(key, key.task_id, opening(message_id=key.task_id), guard=Idle()) for key in keys]
    both = [a.append(KEY, "turn-1", opening(), guard=Idle()), a.append(KEY, "turn-1", [ending()])]
    await asyncio.gather(*starts, *both)
    await heard.until(lambda change: change.everything)
    assert len(await asyncio.wait_for(watching, 5)) == 3


async def test_what_was_written_while_nobody_listened_is_shown(
    a: PostgresBrain, b: PostgresBrain, clean_url: str
) -> None:
    heard = Heard(b)
    watching = asyncio.create_task(tail(b))
    await begin(a)
    await asyncio.to_thread(server().cut, clean_url)
    await a.append(KEY, "turn-1", [delta("unheard")], guard=Owned("turn-1"))
    await end(a)
    await heard.until(lambda change: change.everything)
    assert text_in(await asyncio.wait_for(watching, 10)) == "unheard"


@pytest.mark.parametrize("garbage", ["", "what", '["other",7]'])
async def test_a_hint_that_cannot_be_read_means_everything(
    a: PostgresBrain, b: PostgresBrain, clean_url: str, garbage: str
) -> None:
    told: asyncio.Queue[Change] = asyncio.Queue()
    b.changes.watch(told.put_nowait)
    server().run(f"SELECT pg_notify('aster', '{garbage}')", clean_url.rsplit("/", 1)[1])
    assert (await asyncio.wait_for(told.get(), 5)).everything
    await begin(a)
    assert KEY in (await asyncio.wait_for(told.get(), 5)).threads


async def test_a_hint_that_never_came_only_delays(a: PostgresBrain, clean_url: str) -> None:
    """Somebody writes and tells nobody: whoever watches looks at the table from time to time."""
    await begin(a)
    watching = asyncio.create_task(tail(a, wait=0.05))
    await asyncio.sleep(0.1)
    with psycopg.connect(clean_url, autocommit=True) as silent:
        silent.execute("SELECT set_config('aster.user', '*', false)")
        silent.execute(
            "INSERT INTO thread_events SELECT thread_id, 3, user_id, 'turn-1', 'thread_lifecycle', 'end', 0, %s"
            " FROM threads",
            [b'{"type":"thread_lifecycle","phase":"completed","seq":3}'],
        )
    assert [item.seq for item in await asyncio.wait_for(watching, 5)] == [1, 2, 3]
