"""The blocking client: the same events and answers as the async one, from any thread, whatever happens meanwhile."""

import asyncio
import inspect
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from aster.client import AsterClient, EngineError, ErrorCode, SyncAsterClient, ThreadEvent, Transcript
from aster.client.blocking import Part
from aster.contracts.events import Phase, TextDelta, ThreadLifecycle, UserMessage
from aster.testing import ModelServer
from tests.client.elsewhere import Elsewhere, elsewhere
from tests.process import engine as engine_process


@pytest.fixture(scope="module")
def place() -> Iterator[Elsewhere]:
    with elsewhere() as running:
        yield running


@pytest.fixture
def blocking(place: Elsewhere) -> Iterator[SyncAsterClient]:
    with SyncAsterClient(place.url) as client:
        yield client


def numbered(count: int) -> list[str]:
    return [f"w{number:06}" for number in range(1, count + 1)]


def public(part: object) -> set[str]:
    return {name for name in dir(part) if not name.startswith("_")}


def test_it_can_do_what_the_async_one_can() -> None:
    ours, theirs = SyncAsterClient(), AsterClient()
    assert public(ours) - {"reach"} == public(theirs)
    parts = {name: part for name, part in vars(ours).items() if isinstance(part, Part)}
    for name in parts:
        part, inner = getattr(ours, name), getattr(theirs, name)
        assert public(part) - {"reach"} == public(inner), name
        for method in public(inner):
            assert inspect.signature(getattr(part, method)) == inspect.signature(getattr(inner, method))
            assert getattr(part, method).__doc__ == getattr(inner, method).__doc__
    assert len(parts) >= 9


def test_a_turn_is_a_loop(blocking: SyncAsterClient, task: str) -> None:
    events = list(blocking.execute("[[text=300]]", task))
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert Transcript().extend(events).text().split() == numbered(300)
    assert list(blocking.thread(task)) == events == list(blocking.replay(task))
    assert blocking.ask("[[text=3]]", task).split() == numbered(3)
    assert [turn.status for turn in blocking.task(task).turns] == ["completed", "completed"]


def test_a_refusal_is_raised_where_it_was_asked_for(blocking: SyncAsterClient, task: str) -> None:
    with pytest.raises(EngineError) as refused:
        blocking.task(task)
    assert refused.value.code is ErrorCode.TASK_NOT_FOUND
    with pytest.raises(EngineError, match="message"):
        list(blocking.execute(" ", task))


def test_many_threads_share_one_client(blocking: SyncAsterClient, task: str) -> None:
    def work(number: int) -> list[str]:
        mine = f"{task}-{number}"
        answers = [blocking.ask(f"[[text={number + step} rate=2000]]", mine).split() for step in (1, 2)]
        assert blocking.task(mine).task_id == mine
        return answers[0] + answers[1]

    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(work, range(16)))
    assert found == [numbered(number + 1) + numbered(number + 2) for number in range(16)]
    assert sum(thread.name == "aster-client" for thread in threading.enumerate()) == 1


async def test_it_works_inside_a_running_loop(blocking: SyncAsterClient, task: str) -> None:
    assert blocking.ask("[[text=4]]", task).split() == numbered(4)
    assert len(list(blocking.execute("[[text=4]]", task))) > 4
    async with AsterClient(blocking.url) as client:
        assert (await client.task(task)).status == "idle"


def test_leaving_a_stream_leaves_the_turn_running(place: Elsewhere, blocking: SyncAsterClient, task: str) -> None:
    for event in blocking.execute(f"[[text=9 hold={task} at=4]]", task):
        if isinstance(event, TextDelta):
            break
    assert blocking.task(task).status == "running"
    with closing(blocking.replay(task)) as again:
        assert next(again).seq == 1
    place.release(task)
    assert Transcript().extend(blocking.replay(task)).answer().split() == numbered(9)


def test_ctrl_c_ends_the_call_and_nothing_else(place: Elsewhere, blocking: SyncAsterClient, task: str) -> None:
    def interrupt() -> None:
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    seen: list[ThreadEvent] = []

    def follow() -> None:
        for event in blocking.execute(f"[[text=9 hold={task} at=4]]", task):
            seen.append(event)
            if "w000004" in Transcript().extend(seen).text():
                threading.Timer(0.05, interrupt).start()

    with pytest.raises(KeyboardInterrupt):
        follow()
    threading.Timer(0.2, interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        blocking.ask("[[text=1]]", task, on_busy="queue")
    assert blocking.cancel(task, clear_inbox=True).dropped_messages == 1
    place.release(task)
    rest = list(blocking.replay(task, seen[-1].seq))
    assert Transcript().extend([*seen, *rest]).phase is Phase.CANCELLED


async def test_a_killed_engine_costs_nothing_and_doubles_nothing(
    model: ModelServer, tmp_path: Path, task: str
) -> None:
    host = engine_process(tmp_path, model.url)
    seen: list[ThreadEvent] = []
    half, loop = asyncio.Event(), asyncio.get_running_loop()
    told: list[int] = []

    def follow() -> int:
        def on_wait(error: EngineError | None, delay: float) -> None:
            told.append(threading.get_ident())

        with SyncAsterClient(host.url, on_wait=on_wait) as client:
            for event in client.execute(f"[[text=30 hold={task} at=15]]", task):
                seen.append(event)
                if "w000010" in Transcript().extend(seen).text():
                    loop.call_soon_threadsafe(half.set)
            assert list(client.thread(task)) == seen
        return threading.get_ident()

    await host.up()
    try:
        following = asyncio.create_task(asyncio.to_thread(follow))
        await asyncio.wait_for(half.wait(), 20)
        await host.kill()
        model.release(task)
        await host.up()
        thread = await asyncio.wait_for(following, 30)
    finally:
        await host.stop()
    assert [event.seq for event in seen] == list(range(1, len(seen) + 1))
    assert sum(isinstance(event, UserMessage) for event in seen) == 1
    assert isinstance(seen[-1], ThreadLifecycle)
    assert seen[-1].phase is Phase.COMPLETED
    assert Transcript().extend(seen).text().split() == numbered(30)
    assert set(told) == {thread}


def test_a_forked_process_is_told_to_make_its_own(blocking: SyncAsterClient) -> None:
    blocking.health()
    child = os.fork()
    if child == 0:
        try:
            blocking.health()
        except RuntimeError as error:
            os._exit(7 if "forked" in str(error) else 1)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert blocking.health().status == "ok"
