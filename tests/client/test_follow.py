"""Whatever is done to the connection or the engine, a client sees every event of its turn once, in order."""

import asyncio
import random
from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

import pytest

from aster.client import AsterClient, EngineUnreachable, ThreadEvent, Transcript
from aster.client.follow import OnWait
from aster.contracts.errors import EngineError
from aster.contracts.events import Phase, Recovery, TextDelta, ThreadLifecycle, UserMessage
from aster.testing import ModelServer
from tests.client.cutting_proxy import REFUSE, CuttingProxy
from tests.live import Live, live
from tests.process import engine as engine_process
from tests.process import free_port

WORDS = 60
TURN = f'[[text={WORDS} rate=600 tools=1 tool=bash input={{"command":"echo hi"}}]]'

POST = "POST /execute "


def words(transcript: Transcript) -> list[str]:
    return transcript.text().split()


def numbered(count: int) -> list[str]:
    return [f"w{number:06}" for number in range(1, count + 1)]


async def check(seen: list[ThreadEvent], direct: AsterClient, task: str) -> None:
    """What was seen is the thread, whole, and the message is on it once."""
    thread = [event async for event in direct.thread(task)]
    assert seen == thread
    assert [event.seq for event in seen] == list(range(1, len(seen) + 1))
    assert sum(isinstance(event, UserMessage) for event in seen) == 1
    last = seen[-1]
    assert isinstance(last, ThreadLifecycle)
    assert last.phase is Phase.COMPLETED
    assert Transcript().extend(seen).answer() == Transcript().extend(thread).answer()


@asynccontextmanager
async def shaken(
    engine: Live, *cuts: int, request: str | None = None, on_wait: OnWait | None = None
) -> AsyncGenerator[AsterClient]:
    """A client that has met its engine, and from now on meets it through a proxy that cuts."""
    async with (
        CuttingProxy(engine.url) as proxy,
        AsterClient(proxy.url, patience=30, on_wait=on_wait) as client,
    ):
        await client.health()
        proxy.cut(*cuts, request=request)
        yield client
        assert proxy.made > len(cuts)


@pytest.mark.parametrize("seed", range(8))
async def test_cuts_anywhere_leave_no_gap_and_no_duplicate(
    engine: Live, client: AsterClient, task: str, seed: int
) -> None:
    chance = random.Random(seed)
    cuts = [chance.choice([REFUSE, 0, chance.randrange(1, 400), chance.randrange(400, 2500)]) for _ in range(4)]
    async with shaken(engine, *cuts) as following:
        seen = [event async for event in following.execute(TURN, task)]
    await check(seen, client, task)
    assert Transcript().extend(seen).answer().split() == numbered(WORDS)


@pytest.mark.parametrize("cut", [0, 1, 17, 200, 600])
async def test_a_post_whose_answer_is_cut_is_not_posted_twice(
    engine: Live, client: AsterClient, task: str, cut: int
) -> None:
    async with shaken(engine, cut, request=POST) as following:
        seen = [event async for event in following.execute("[[text=5]]", task)]
    await check(seen, client, task)


async def test_a_retry_whose_answer_is_cut_is_made_once(engine: Live, client: AsterClient, task: str) -> None:
    first = [event async for event in client.execute("[[text=5]]", task)]
    (message,) = [event for event in first if isinstance(event, UserMessage)]
    async with shaken(engine, 0, request=POST) as following:
        again = [event async for event in following.execute("", task, retry_message_id=message.message_id)]
    assert [event async for event in client.thread(task)] == [*first, *again]
    assert [event.retries for event in again if isinstance(event, UserMessage)] == [message.message_id]


async def test_a_queued_message_whose_answer_is_cut_is_queued_once(
    engine: Live, client: AsterClient, model: ModelServer, task: str
) -> None:
    running = client.execute(f"[[text=4 hold={task} at=2]]", task)
    async with aclosing(running):
        async for event in running:
            if isinstance(event, TextDelta):
                break
        async with shaken(engine, 0, request=POST) as following:
            queued = following.execute("[[text=7]]", task, on_busy="queue")
            seen = [await anext(queued)]
            model.release(task)
            seen += [event async for event in queued]
    thread = [event async for event in client.thread(task)]
    assert [event for event in thread if event.seq >= seen[0].seq] == seen
    assert [event.origin for event in thread if isinstance(event, UserMessage)] == ["user", "queue"]


async def test_a_message_for_an_engine_that_is_away_waits_for_it(
    model: ModelServer, tmp_path: Path, task: str
) -> None:
    place = {"port": free_port(), "sqlite_db_path": tmp_path / "brain.sqlite"}
    away = asyncio.Event()
    async with AsterClient(f"http://127.0.0.1:{place['port']}", on_wait=lambda *_: away.set()) as client:
        async with live(model, **place):
            await client.health()

        async def follow() -> list[ThreadEvent]:
            return [event async for event in client.execute("[[text=5]]", task)]

        following = asyncio.create_task(follow())
        await away.wait()
        async with live(model, **place):
            await check(await following, client, task)


async def test_a_replay_survives_cuts_too(engine: Live, client: AsterClient, task: str) -> None:
    whole = [event async for event in client.execute(TURN, task)]
    async with shaken(engine, 700, 1500, 0) as following:
        seen = [event async for event in following.replay(task, 3)]
    assert seen == whole[3:]


async def test_a_reader_may_take_longer_than_an_engine(
    engine: Live, client: AsterClient, model: ModelServer, task: str
) -> None:
    seen: list[ThreadEvent] = []
    async with CuttingProxy(engine.url) as proxy, AsterClient(proxy.url, patience=0.1) as following:
        async for event in following.execute(f"[[text=8 hold={task} at=4]]", task):
            seen.append(event)
            if isinstance(event, TextDelta) and "w000004" in event.text:
                proxy.cut()
                await asyncio.sleep(0.2)
                model.release(task)
    await check(seen, client, task)


async def test_waiting_is_told(engine: Live, task: str) -> None:
    told: list[EngineError | None] = []
    async with shaken(engine, REFUSE, on_wait=lambda error, delay: told.append(error)) as following:
        async for _ in following.execute(TURN, task):
            pass
    assert isinstance(told[0], EngineUnreachable)


async def test_a_silent_connection_is_given_up(
    engine: Live, client: AsterClient, model: ModelServer, task: str
) -> None:
    told: list[EngineError | None] = []

    def release(error: EngineError | None, delay: float) -> None:
        told.append(error)
        model.release(task)

    async with AsterClient(engine.url, silence=0.3, on_wait=release) as impatient:
        seen = [event async for event in impatient.execute(f"[[text=8 hold={task} at=4]]", task)]
    await check(seen, client, task)
    assert isinstance(told[0], EngineUnreachable)


async def test_a_drained_engine_is_waited_for(model: ModelServer, tmp_path: Path, task: str) -> None:
    place = {"port": free_port(), "sqlite_db_path": tmp_path / "brain.sqlite"}
    message = f"[[text=30 hold={task} at=15]]"
    seen: list[ThreadEvent] = []
    half = asyncio.Event()

    async def follow(client: AsterClient) -> None:
        async for event in client.execute(message, task):
            seen.append(event)
            if "w000010" in Transcript().extend(seen).text():
                half.set()

    async with AsterClient(f"http://127.0.0.1:{place['port']}") as client:
        async with live(model, **place):
            following = asyncio.create_task(follow(client))
            await asyncio.wait_for(half.wait(), 10)
        model.release(task)
        async with live(model, **place):
            await asyncio.wait_for(following, 20)
            await check(seen, client, task)
    assert any(isinstance(event, Recovery) for event in seen)
    assert words(Transcript().extend(seen)) == numbered(30)


async def test_a_killed_engine_is_waited_for(model: ModelServer, tmp_path: Path, task: str) -> None:
    engine = engine_process(tmp_path, model.url)
    seen: list[ThreadEvent] = []
    half = asyncio.Event()

    async def follow(client: AsterClient) -> None:
        async for event in client.execute(f"[[text=30 hold={task} at=15]]", task):
            seen.append(event)
            if "w000010" in Transcript().extend(seen).text():
                half.set()

    await engine.up()
    try:
        async with AsterClient(engine.url) as client:
            following = asyncio.create_task(follow(client))
            await asyncio.wait_for(half.wait(), 10)
            await engine.kill()
            model.release(task)
            await engine.up()
            await asyncio.wait_for(following, 20)
            await check(seen, client, task)
    finally:
        await engine.stop()
    assert words(Transcript().extend(seen)) == numbered(30)


async def test_an_engine_that_stays_away_is_given_up(model: ModelServer, task: str) -> None:
    async with live(model) as engine:
        client = AsterClient(engine.url, patience=0.5)
        stream = client.execute(f"[[text=4 hold={task} at=2]]", task)
        await anext(stream)
    with pytest.raises(EngineUnreachable):
        async for _ in stream:
            pass
    model.release(task)
    await client.close()
