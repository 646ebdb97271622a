"""Live fan-out: every subscriber of a thread reads the same frames; none has a copy of its own.

A topic keeps the frames of a thread that some subscriber has not read yet, up to a size. A subscriber that falls
behind that reads the table instead and comes back when it has caught up, so it neither slows a turn nor grows
memory. Nothing is kept for a thread that nobody watches. What another process wrote is read from the table once for
all of them, when a hint says that there is something.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Iterable

from aster.brain.records import Frame, ThreadKey

ReadFrames = Callable[[ThreadKey, int, int], Awaitable[list[Frame]]]

log = logging.getLogger("aster.brain")

RING_BYTES = 256 * 1024
PAGE = 500


class Topic:
    """The newest frames of one watched thread; complete for every seq above `floor`."""

    __slots__ = ("_bytes", "_waiters", "floor", "frames", "hinted", "pulling", "readers")

    def __init__(self) -> None:
        self.hinted = False
        self.pulling: asyncio.Task[None] | None = None
        self.frames: deque[Frame] = deque()
        self.floor: int | None = None
        self.readers: set[Subscription] = set()
        self._bytes = 0
        self._waiters: list[asyncio.Future[None]] = []

    @property
    def last(self) -> int | None:
        """The newest seq the ring knows of."""
        return self.frames[-1].seq if self.frames else self.floor

    @property
    def slowest(self) -> int:
        """What every reader has."""
        return min(reader.seq for reader in self.readers)

    def push(self, frames: list[Frame]) -> None:
        if self.last != frames[0].seq - 1:
            # Somebody else wrote in between: the ring starts afresh, and whoever has not come so far reads the table.
            self.frames.clear()
            self._bytes = 0
            self.floor = frames[0].seq - 1
        for item in frames:
            self.frames.append(item)
            self._bytes += len(item.data)
        self._trim()
        self.wake()

    def _trim(self) -> None:
        """Let go of what every reader has, and of the oldest when there is too much."""
        frames, slowest = self.frames, self.slowest
        while frames and (frames[0].seq <= slowest or self._bytes > RING_BYTES):
            dropped = frames.popleft()
            self._bytes -= len(dropped.data)
            self.floor = dropped.seq

    def wake(self) -> None:
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)

    def waiter(self) -> "asyncio.Future[None]":
        waiter = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        return waiter

    def forget(self, waiter: "asyncio.Future[None]") -> None:
        """Nobody waits there any more."""
        if waiter in self._waiters:
            self._waiters.remove(waiter)

    def after(self, seq: int) -> list[Frame]:
        """Frames above `seq`, newest last; only meaningful when `seq` is not below the floor."""
        frames = self.frames
        if not frames or frames[-1].seq <= seq:
            return []
        if frames[0].seq > seq:
            return list(frames)
        tail: list[Frame] = []
        for item in reversed(frames):
            if item.seq <= seq:
                break
            tail.append(item)
        tail.reverse()
        return tail


class Fanout:
    """The topics of all watched threads."""

    def __init__(self, read: ReadFrames) -> None:
        self.read = read
        self.alone = True
        """Whether nobody but this process writes."""
        self._topics: dict[ThreadKey, Topic] = {}

    def deliver(self, placed: Iterable[tuple[ThreadKey, list[Frame]]]) -> None:
        """Show committed frames to whoever watches."""
        for key, frames in placed:
            topic = self._topics.get(key)
            if topic is not None and frames:
                topic.push(frames)

    def hint(self, key: ThreadKey) -> None:
        """Another process has written to this thread: read on, once for all who watch it."""
        topic = self._topics.get(key)
        if topic is None:
            return
        topic.hinted = True
        if topic.pulling is None:
            topic.pulling = asyncio.get_running_loop().create_task(self._pull(key, topic), name="pull")

    def hint_all(self) -> None:
        """Hints may have been missed."""
        for key in list(self._topics):
            self.hint(key)

    async def _pull(self, key: ThreadKey, topic: Topic) -> None:
        try:
            while topic.hinted and topic.readers:
                topic.hinted = False
                last = topic.last
                found = await self.read(key, topic.slowest if last is None else last, PAGE)
                fresh = [item for item in found if item.seq > (topic.last or 0)]
                if fresh and topic.readers:
                    topic.hinted = topic.hinted or len(found) == PAGE
                    topic.push(fresh)
        except Exception:  # the boundary to storage: who watches reads the table then, and is told what is wrong
            log.exception("a thread written elsewhere could not be read on")
            for reader in topic.readers:
                reader.look_again()
            topic.wake()
        finally:
            topic.pulling = None

    def subscribe(self, key: ThreadKey, after_seq: int) -> "Subscription":
        topic = self._topics.get(key)
        if topic is None:
            topic = self._topics[key] = Topic()
        subscription = Subscription(self, key, topic, after_seq)
        topic.readers.add(subscription)
        return subscription

    def release(self, key: ThreadKey, topic: Topic, subscription: "Subscription") -> None:
        topic.readers.discard(subscription)
        if not topic.readers and self._topics.get(key) is topic:
            del self._topics[key]

    def wake_all(self) -> None:
        """Let every subscriber look up from its waiting (the engine is going away)."""
        for topic in list(self._topics.values()):
            topic.wake()

    @property
    def watched(self) -> int:
        return len(self._topics)

    @property
    def subscribers(self) -> int:
        return sum(len(topic.readers) for topic in self._topics.values())


class Subscription:
    """One reader's place on a thread. Use as a context manager; `next` gives what is new since the last call."""

    def __init__(self, fanout: Fanout, key: ThreadKey, topic: Topic, after_seq: int) -> None:
        self._fanout = fanout
        self._key = key
        self._topic = topic
        self._open = True
        self._read_table = True
        self.seq = after_seq

    def __enter__(self) -> "Subscription":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if self._open:
            self._open = False
            self._fanout.release(self._key, self._topic, self)

    def seek(self, seq: int) -> None:
        """Go to a place that is known to be committed; the table is only read if the ring does not reach there."""
        self.seq = seq
        self._read_table = self._topic.floor is None or seq < self._topic.floor

    def look_again(self) -> None:
        """There may be something in the table that the ring does not have."""
        self._read_table = True

    async def next(self, timeout: float) -> list[Frame]:
        """The next frames in order; empty after `timeout` seconds, or when woken for another reason."""
        frames = await self._ready()
        if frames:
            return frames
        waiter = self._topic.waiter()
        try:
            await asyncio.wait_for(waiter, timeout)
        except TimeoutError:
            self._topic.forget(waiter)
            # A hint from elsewhere may have been missed: look at the table once more before the next wait.
            self._read_table = self._read_table or not self._fanout.alone
            return []
        return await self._ready()

    async def _ready(self) -> list[Frame]:
        topic = self._topic
        while self._read_table or (topic.floor is not None and self.seq < topic.floor):
            floor = topic.floor
            frames = await self._fanout.read(self._key, self.seq, PAGE)
            self._read_table = len(frames) == PAGE
            if frames:
                return self._advance(frames)
            if floor is not None:
                # Everything between here and the floor has been folded away: the hole is legal.
                self.seq = max(self.seq, floor)
        return self._advance(topic.after(self.seq))

    def _advance(self, frames: list[Frame]) -> list[Frame]:
        if frames:
            self.seq = max(self.seq, frames[-1].seq)
        return frames
