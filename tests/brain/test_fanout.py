"""Fan-out: every subscriber sees the same bytes in the same order, and a slow one costs nobody anything."""

import asyncio

from aster.brain.fanout import RING_BYTES
from aster.brain.records import Frame
from aster.brain.sqlite.brain import SqliteBrain
from tests.brain.thread import KEY, begin, delta, end, read_all, text_in


async def collect(brain: SqliteBrain, after_seq: int = 0, pause: float = 0.0) -> list[Frame]:
    frames: list[Frame] = []
    with brain.subscribe(KEY, after_seq) as subscription:
        while not frames or frames[-1].grade != "end":
            frames += await subscription.next(10)
            if pause:
                await asyncio.sleep(pause)
    return frames


async def test_two_subscribers_see_the_same_bytes(brain: SqliteBrain) -> None:
    readers = [asyncio.create_task(collect(brain)) for _ in range(3)]
    await asyncio.sleep(0)
    await begin(brain)
    for number in range(300):
        brain.emit(KEY, "turn-1", delta(f"{number} "))
        if number % 7 == 0:
            await asyncio.sleep(0.001)
    await end(brain)
    seen = [[item.data for item in frames] for frames in await asyncio.gather(*readers)]
    stored = [item.data for item in await read_all(brain)]
    assert seen == [stored] * 3


async def test_a_late_subscriber_catches_up_from_the_table(brain: SqliteBrain) -> None:
    await begin(brain)
    for number in range(100):
        brain.emit(KEY, "turn-1", delta(f"{number} "))
        await asyncio.sleep(0)
    late = asyncio.create_task(collect(brain, after_seq=1))
    await asyncio.sleep(0.01)
    await end(brain)
    frames = await late
    assert [item.seq for item in frames] == list(range(2, frames[-1].seq + 1))


async def test_a_slow_subscriber_falls_back_to_the_table(brain: SqliteBrain) -> None:
    slow = asyncio.create_task(collect(brain, pause=0.05))
    await asyncio.sleep(0)
    await begin(brain)
    words = [f"{number:06d}" * 2000 for number in range(100)]
    assert sum(map(len, words)) > 3 * RING_BYTES
    for word in words:
        brain.emit(KEY, "turn-1", delta(word))
        await asyncio.sleep(0.002)
    topic = brain.fanout._topics[KEY]
    assert topic._bytes <= RING_BYTES + 20_000
    assert topic.floor
    await end(brain)
    frames = await slow
    assert text_in(frames) == "".join(words)
    assert [item.seq for item in frames] == list(range(1, frames[-1].seq + 1))


async def test_nothing_is_kept_for_a_thread_nobody_watches(brain: SqliteBrain) -> None:
    await begin(brain)
    assert brain.fanout.watched == 0
    with brain.subscribe(KEY, 0) as subscription:
        assert await subscription.next(1)
        assert (brain.fanout.watched, brain.fanout.subscribers) == (1, 1)
    assert brain.fanout.watched == 0


async def test_silence_ends_with_the_timeout(brain: SqliteBrain) -> None:
    with brain.subscribe(KEY, 0) as subscription:
        assert await subscription.next(0.01) == []


async def test_holes_left_by_folding_are_skipped(brain: SqliteBrain) -> None:
    await begin(brain)
    for _ in range(5):
        brain.emit(KEY, "turn-1", delta("x"))
        await brain.append(KEY, None, [])
    await end(brain)
    before = await read_all(brain)
    assert await brain.retain(deltas_before=2**60, observations_before=0)
    after = await read_all(brain)
    assert [item.type for item in after] == ["thread_lifecycle", "user_message", "thread_lifecycle"]
    assert after[-1].seq == before[-1].seq
    frames = await collect(brain)
    assert [item.seq for item in frames] == [1, 2, before[-1].seq]
    assert await brain.retain(deltas_before=2**60, observations_before=0) == 0
