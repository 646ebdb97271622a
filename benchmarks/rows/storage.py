"""The thread log: how many events a second become durable and visible, and how fast a stored thread is read.

The first is measured in process, on the real brain and a real file, beside the least SQLite can do with the same
rows: one `executemany` in one commit, seen by nobody. The second goes over HTTP.
"""

import asyncio
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from statistics import median
from time import monotonic

from aster.brain.records import Frame, ThreadKey
from aster.brain.sqlite.brain import SqliteBrain
from aster.brain.unit import Idle, Owned
from aster.contracts.blocks import TextBlock
from aster.contracts.events import Phase, TextDelta, ThreadLifecycle, UserMessage
from aster.server.auth import OPERATOR
from benchmarks.client import Client
from benchmarks.figures import Figure
from benchmarks.prompt import WrongAnswer, say
from benchmarks.scale import Scale
from benchmarks.servers import aster_server, brain_of, model_server, proxy_server
from benchmarks.stage import running
from benchmarks.subjects import PlainProxy, kind_of

THREADS = (1, 64, 256)
AT_ONCE = 16
PATIENCE = 60.0

_TABLE = """CREATE TABLE events (thread_id INTEGER, seq INTEGER, user_id TEXT, turn_id TEXT, type TEXT, grade TEXT,
ts INTEGER, data BLOB, PRIMARY KEY (thread_id, seq)) WITHOUT ROWID"""


async def appended(directory: Path, scale: Scale) -> list[Figure]:
    figures: list[Figure] = []
    for threads in THREADS:
        place = directory / f"threads-{threads}"
        place.mkdir(parents=True)
        aster, frames = await _append(place / "brain.sqlite", threads, scale.appended_events // threads)
        bare = await asyncio.to_thread(_insert, place / "bare.sqlite", frames)
        name = f"append + fan-out, {threads} threads (beside: bare sqlite3, one commit)"
        figures.append(Figure("append", name, "events/s", aster, bare))
    return figures


async def _append(path: Path, threads: int, each: int) -> tuple[float, list[list[Frame]]]:
    """Events a second from the first one emitted to the last one seen, each thread with one that watches."""
    brain = SqliteBrain(path)
    await brain.start()
    try:
        keys = [ThreadKey(OPERATOR, f"task-{number}") for number in range(threads)]
        await asyncio.gather(*(_begin(brain, key) for key in keys))
        began = monotonic()
        watchers = [asyncio.create_task(_watch(brain, key, each)) for key in keys]
        await asyncio.gather(*(_emit(brain, key, each) for key in keys))
        seen = await asyncio.gather(*watchers)
        seconds = monotonic() - began
        await asyncio.gather(*(_end(brain, key) for key in keys))
    finally:
        await brain.close()
    return threads * each / seconds, seen


async def _begin(brain: SqliteBrain, key: ThreadKey) -> None:
    message = UserMessage(message_id=f"msg-{key.task_id}", content=(TextBlock(text="go on"),))
    opening = [ThreadLifecycle(phase=Phase.STARTED), message]
    await brain.append(key, f"turn-{key.task_id}", opening, guard=Idle())


async def _end(brain: SqliteBrain, key: ThreadKey) -> None:
    turn_id = f"turn-{key.task_id}"
    await brain.append(key, turn_id, [ThreadLifecycle(phase=Phase.COMPLETED)], guard=Owned(turn_id))


async def _emit(brain: SqliteBrain, key: ThreadKey, count: int) -> None:
    """Neighbours differ in their block, so that no two of them are merged into one event."""
    turn_id = f"turn-{key.task_id}"
    for number in range(count):
        brain.emit(key, turn_id, TextDelta(text=f"w{number:06d} ", block_index=number % 2, step=1))
        if number % AT_ONCE == 0:
            await brain.room()
            await asyncio.sleep(0)


async def _watch(brain: SqliteBrain, key: ThreadKey, count: int) -> list[Frame]:
    opening = 2
    seen: list[Frame] = []
    with brain.subscribe(key, opening) as subscription:
        since = monotonic()
        while len(seen) < count:
            # Nothing new may come of being woken: what the table had already is shown once more by the ring.
            frames = await subscription.next(PATIENCE)
            since = monotonic() if frames else since
            if monotonic() - since >= PATIENCE:
                raise WrongAnswer(f"{len(seen)} events of {count} were seen")
            seen += frames
    if [frame.seq for frame in seen] != list(range(opening + 1, opening + count + 1)):
        raise WrongAnswer("the events of a thread were seen with a gap or twice")
    return seen


def _insert(path: Path, threads: Sequence[Sequence[Frame]]) -> float:
    rows = [
        (thread, frame.seq, OPERATOR, frame.turn_id, frame.type, frame.grade, 0, frame.json)
        for thread, frames in enumerate(threads)
        for frame in frames
    ]
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
        db.execute(_TABLE)
        began = monotonic()
        db.execute("BEGIN")
        db.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
        db.execute("COMMIT")
        return len(rows) / (monotonic() - began)


async def replayed(directory: Path, scale: Scale) -> list[Figure]:
    """A long thread read from its beginning, beside the proxy passing on as many chunks of the model."""
    count = scale.replayed_events
    brain_of(directory).parent.mkdir(parents=True, exist_ok=True)
    await _append(brain_of(directory), 1, count)
    async with running(model_server(directory)) as model:
        async with running(aster_server(directory, model)) as aster:
            stored = count + 3
            replays = [await _replay(aster.client, "task-0", stored) for _ in range(scale.replays)]
        async with running(proxy_server(directory, model)) as proxy:
            passed = [await _passed(PlainProxy(proxy), count) for _ in range(scale.replays)]
    name = f"replay of {count} stored events (beside: as many chunks of the model)"
    return [Figure("replay", name, "events/s", median(replays), median(passed))]


async def _replay(client: Client, task_id: str, stored: int) -> float:
    seen = 0

    def take(event: bytes, at: float) -> bool:
        nonlocal seen
        seen += kind_of(event) != b"heartbeat"
        return False

    answer = await client.get(f"/execute/replay?task_id={task_id}&after_seq=0", take, timeout=PATIENCE)
    if seen != stored:
        raise WrongAnswer(f"{seen} events were replayed in place of {stored}")
    return stored / (answer.ended - answer.sent)


async def _passed(proxy: PlainProxy, count: int) -> float:
    turn = await proxy.turn(say(count))
    return count / turn.seconds
