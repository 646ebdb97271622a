"""Fan-out: every subscriber sees the same bytes in the same order, and a slow one costs nobody anything."""

import asyncio

from aster.brain.fanout import RING_BYTES, Fanout, Subscription
from aster.brain.protocol import Brain
from aster.brain.records import Frame, ThreadKey, frame
from tests.brain.thread import KEY, begin, delta, end, read_all, text_in


async def collect(brain: Brain, after_seq: int = 0, pause: float = 0.0) -> list[Frame]:
    frames: list[Frame] = []
    with brain.subscribe(KEY, after_seq) as subscription:
        while not frames or frames[-1].grade != "end":
            frames += await subscription.next(10)
            if pause:
                await asyncio.sleep(pause)
    return frames


async def test_two_subscribers_see_the_same_bytes(brain: Brain) -> None:
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


async def test_a_late_subscriber_catches_up_from_the_table(brain: Brain) -> None:
    await begin(brain)
    for number in range(100):
        brain.emit(KEY, "turn-1", delta(f"{number} "))
        await asyncio.sleep(0)
    late = asyncio.create_task(collect(brain, after_seq=1))
    await asyncio.sleep(0.01)
    await end(brain)
    frames = await late
    assert [item.seq for item in frames] == list(range(2, frames[-1].seq + 1))


async def test_a_slow_subscriber_falls_back_to_the_table(brain: Brain) -> None:
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


async def test_nothing_is_kept_for_a_thread_nobody_watches(brain: Brain) -> None:
    await begin(brain)
    assert brain.fanout.watched == 0
    with brain.subscribe(KEY, 0) as subscription:
        assert await subscription.next(1)
        assert (brain.fanout.watched, brain.fanout.subscribers) == (1, 1)
    assert brain.fanout.watched == 0


async def test_silence_ends_with_the_timeout(brain: Brain) -> None:
    with brain.subscribe(KEY, 0) as subscription:
        assert await subscription.next(0.01) == []


async def test_holes_left_by_folding_are_skipped(brain: Brain) -> None:
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


class Table:
    """A thread that others write to as well; `pause` holds up a reading that has looked already."""

    def __init__(self) -> None:
        self.head = 0
        self.looked = asyncio.Event()
        self.pause: asyncio.Event | None = None

    def write(self, count: int) -> list[Frame]:
        self.head += count
        return [self.frame(seq) for seq in range(self.head - count + 1, self.head + 1)]

    async def read(self, key: ThreadKey, after_seq: int, limit: int) -> list[Frame]:
        found = [self.frame(seq) for seq in range(after_seq + 1, self.head + 1)][:limit]
        self.looked.set()
        if self.pause is not None:
            await self.pause.wait()
        return found

    @staticmethod
    def frame(seq: int) -> Frame:
        return frame(seq, "text_delta", "turn-1", "delta", b"{}")


async def seen(subscription: Subscription, last: int) -> list[int]:
    found: list[int] = []
    while not found or found[-1] < last:
        found += [item.seq for item in await asyncio.wait_for(subscription.next(5), 2)]
    return found


async def test_what_is_written_on_both_sides_of_a_reading_is_not_skipped() -> None:
    table = Table()
    fanout = Fanout(table.read)
    with fanout.subscribe(KEY, 0) as subscription:
        table.pause = asyncio.Event()
        reading = asyncio.create_task(seen(subscription, 3))
        await table.looked.wait()
        table.write(2)
        fanout.deliver([(KEY, table.write(1))])
        table.pause.set()
        assert await reading == [1, 2, 3]


async def test_a_reader_ahead_of_the_thread_takes_nothing_from_others() -> None:
    table = Table()
    fanout = Fanout(table.read)
    table.write(3)
    with fanout.subscribe(KEY, 1000) as ahead, fanout.subscribe(KEY, 0) as late:
        late.close()
        fanout.hint(KEY)
        assert await ahead.next(0.01) == []
        with fanout.subscribe(KEY, 0) as reader:
            assert await seen(reader, 3) == [1, 2, 3]
            table.write(1)
            fanout.hint(KEY)
            assert await seen(reader, 4) == [4]


async def test_a_hint_is_not_lost_with_the_reading_it_caused() -> None:
    table, broken = Table(), True

    async def read(key: ThreadKey, after_seq: int, limit: int) -> list[Frame]:
        nonlocal broken
        if table.head and broken:
            broken = False
            raise OSError("gone")
        return await table.read(key, after_seq, limit)

    fanout = Fanout(read)
    with fanout.subscribe(KEY, 0) as subscription:
        reading = asyncio.create_task(seen(subscription, 1))
        await table.looked.wait()
        await asyncio.sleep(0)
        table.write(1)
        fanout.hint(KEY)
        assert await reading == [1]
