"""The server dies, connections are cut, answers get lost: what was accepted is there once, and nothing else is."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from aster.brain.fanout import Subscription
from aster.brain.postgres.brain import PostgresBrain
from aster.brain.records import Frame, ThreadKey, UsageRow, UsageSlice
from aster.brain.unit import Owned
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.events import Event
from tests.brain.postgres.between import Between, Loss
from tests.brain.thread import KEY, begin, delta, end, read_all, text_in
from tests.postgres import server


@pytest.fixture
async def between() -> AsyncIterator[Between]:
    async with Between(server().port) as place:
        yield place


@pytest.fixture
async def brain(between: Between, clean_url: str) -> AsyncIterator[PostgresBrain]:
    """One whose connections can be lost."""
    brain = PostgresBrain(between.url(clean_url), readers=1)
    await brain.start()
    yield brain
    await brain.close()


async def shown(subscription: Subscription, count: int) -> list[Frame]:
    frames: list[Frame] = []
    while len(frames) < count:
        frames += await subscription.next(5)
    return frames


@pytest.mark.parametrize("loss", ["commit", "answer"])
async def test_a_commit_that_was_not_answered_is_written_and_shown_once(
    brain: PostgresBrain, between: Between, loss: Loss, a: PostgresBrain
) -> None:
    with brain.subscribe(KEY, 0) as subscription, a.subscribe(KEY, 0) as elsewhere:
        between.lose(loss)
        events = await asyncio.wait_for(begin(brain), 10)
        assert [event.seq for event in events] == [1, 2]
        assert between.lost == 1
        assert [item.seq for item in await asyncio.wait_for(shown(elsewhere, 2), 4)] == [1, 2]
        await end(brain)
        assert [item.seq for item in await shown(subscription, 3)] == [1, 2, 3]
    assert [item.seq for item in await read_all(brain)] == [1, 2, 3]
    assert brain.fault is None


@pytest.mark.parametrize("loss", ["commit", "answer"])
async def test_a_turn_taken_without_an_answer_is_taken(
    a: PostgresBrain, brain: PostgresBrain, between: Between, loss: Loss
) -> None:
    await begin(a)
    [turn] = await brain.running_turns()
    between.lose(loss)
    await asyncio.wait_for(brain.take(KEY, "turn-1", turn.epoch), 10)
    assert between.lost == 1
    await end(brain)


@pytest.mark.parametrize("loss", ["commit", "answer"])
async def test_rows_alone_are_put_once(brain: PostgresBrain, between: Between, loss: Loss) -> None:
    spent = UsageRow(
        user_id="ada",
        task_id="gone",
        model="m",
        input_tokens=5,
        output_tokens=1,
        cache_read_tokens=0,
        cache_write_tokens=0,
        cost_usd=0.5,
        ts=1,
    )
    between.lose(loss)
    await asyncio.wait_for(brain.put(spent), 10)
    assert between.lost == 1
    assert (await brain.usage(UsageSlice(user_id="ada"), "user", 5))[1].calls == 1


@pytest.mark.parametrize("loss", ["commit", "answer"])
async def test_a_job_says_when_it_is_not_known_what_became_of_it(
    a: PostgresBrain, brain: PostgresBrain, between: Between, loss: Loss
) -> None:
    """Its answer is known to nobody: it is not run again behind anyone's back."""
    await begin(a)
    between.lose(loss)
    counting = brain.count_crash(KEY.user_id, "turn-1")
    with pytest.raises(EngineError) as told:
        await asyncio.wait_for(counting, 10)
    assert told.value.code is ErrorCode.STORAGE_UNAVAILABLE
    counted = await a.count_crash(KEY.user_id, "turn-1")  # waits for who may still be writing
    assert counted == (2 if loss == "answer" else 1)


async def test_a_job_that_went_through_at_last_leaves_no_fault(a: PostgresBrain, clean_url: str) -> None:
    await begin(a)
    server().cut(clean_url)
    assert await a.ask_to_stop(KEY, "turn-1", "cancelled")
    assert a.fault is None
    assert (await a.health()).ok


async def test_cut_connections_lose_nothing(a: PostgresBrain, clean_url: str) -> None:
    """Every connection is cut, again and again, under load."""
    await begin(a)
    done: list[asyncio.Future[list[Event]]] = []
    for number in range(300):
        done.append(a.append(KEY, "turn-1", [delta(f"{number},")], guard=Owned("turn-1")))
        if number % 40 == 20:
            await asyncio.to_thread(server().cut, clean_url)
        await asyncio.sleep(0.001)
        await a.head(KEY)
    await asyncio.wait_for(asyncio.gather(*done), 20)
    await end(a)
    frames = await read_all(a)
    assert text_in(frames) == "".join(f"{number}," for number in range(300))
    assert [item.seq for item in frames] == list(range(1, len(frames) + 1))


async def test_a_server_that_dies_under_load_loses_nothing(a: PostgresBrain, b: PostgresBrain) -> None:
    """Stopped without a warning and started again, twice; what was shown before is there after."""
    keys = [ThreadKey("ada", f"task-{number}") for number in range(4)]
    for key in keys:
        await begin(a, key, f"{key.task_id}-turn", f"{key.task_id}-message")
    written: list[int] = []

    async def write(key: ThreadKey) -> None:
        turn_id = f"{key.task_id}-turn"
        for number in range(100):
            await a.append(key, turn_id, [delta(f"{number},")], guard=Owned(turn_id))
            written.append(number)

    async def watch() -> str:
        frames: list[Frame] = []
        with b.subscribe(keys[0], 0) as subscription:
            while not frames or frames[-1].type != "thread_lifecycle" or frames[-1].seq == 1:
                frames += await subscription.next(1)
        return text_in(frames)

    watching = asyncio.create_task(watch())
    writing = asyncio.gather(*map(write, keys))
    for reached in (80, 240):
        while len(written) < reached:
            await asyncio.sleep(0.002)
        await asyncio.to_thread(server().stop, "immediate")
        await asyncio.sleep(0.3)
        server().start()
    await asyncio.wait_for(writing, 30)
    wanted = "".join(f"{number}," for number in range(100))
    for key in keys:
        await end(a, key, f"{key.task_id}-turn")
        frames = await read_all(b, key)
        assert text_in(frames) == wanted
        assert [item.seq for item in frames] == list(range(1, len(frames) + 1))
    assert await asyncio.wait_for(watching, 10) == wanted
    assert a.fault is None


async def test_a_read_waits_for_a_server_that_comes_back(a: PostgresBrain) -> None:
    await begin(a)
    await asyncio.to_thread(server().stop, "immediate")
    reading = asyncio.create_task(a.head(KEY))
    await asyncio.sleep(0.2)
    assert not reading.done()
    server().start()
    assert await asyncio.wait_for(reading, 10) == 2
