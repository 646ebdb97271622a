"""An engine that is killed: what ran behind it is lost and said to be, and a start is never guessed at."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from aster.brain.postgres.brain import PostgresBrain
from aster.brain.records import ThreadKey
from aster.brain.sqlite.brain import SqliteBrain
from aster.client.client import AsterClient
from aster.contracts.events import (
    BackgroundTask,
    Event,
    HitlRequest,
    TaskLifecycle,
    ToolResult,
    UserMessage,
    decode_event,
)
from aster.infra.secrets import Secrets
from aster.infra.settings import Settings
from aster.utility_directory.background import Background, runtime_task_id
from tests.process import Process
from tests.sandbox.processes import alive, sleeper, token
from tests.utility_directory.conftest import Bench

KEY = ThreadKey("local", "task-1")
NAME = runtime_task_id("turn-1:1:call-1")
LONG: dict[str, Any] = {"command": "touch x; sleep 60", "run_in_background": True}
"""The bench's thread, the id of what its call starts, and something that takes long."""


def directive(tool: str, **given: Any) -> str:
    return f"[[text=5 tools=1 tool={tool} input={json.dumps(given)}]] Do it."


async def executed(host: Process, message: str) -> list[Event]:
    async with AsterClient(host.url, patience=30) as client:
        return [event async for event in client.execute(message, "t1")]


def only(events: Sequence[Event], kind: type[Any]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


async def test_what_ran_when_the_engine_died_is_lost_and_told_once(host: Process) -> None:
    mark = token()
    started = await executed(host, directive("bash", command=f"echo up; {sleeper(mark)}", run_in_background=True))
    name = only(started, BackgroundTask)[0].runtime_task_id
    async with asyncio.timeout(10):
        while not alive(mark):
            await asyncio.sleep(0.02)
    await host.kill()
    async with asyncio.timeout(10):
        while alive(mark):
            await asyncio.sleep(0.02)
    await host.up()
    after = await executed(host, directive("bash_output", id=name))
    (result,) = only(after, ToolResult)
    assert (result.data["status"], result.error) == ("lost", None)
    notices = [event for event in only(after, UserMessage) if event.origin == "engine"]
    assert [event.content[0].text for event in notices] == [
        f"The background command {name} (`echo up; {sleeper(mark)}`) is lost: the engine stopped while it ran."
    ]
    assert len(only(await executed(host, "[[text=3]] And now?"), UserMessage)) == 1
    async with AsterClient(host.url) as client:
        thread = [event async for event in client.thread("t1")]
    assert [event.status for event in only(thread, BackgroundTask)] == ["running", "lost"]
    assert only(thread, HitlRequest) == []


@pytest.fixture
async def brain(settings: Settings) -> AsyncIterator[SqliteBrain]:
    """A brain with the thread of the bench."""
    opened = SqliteBrain(settings.sqlite_db_path)
    await opened.start()
    await opened.append(KEY, None, [TaskLifecycle(phase="renamed", title="x")])
    yield opened
    await opened.close()


async def test_a_start_is_known_or_known_not_to_have_been(
    bench: Bench, settings: Settings, brain: SqliteBrain
) -> None:
    background = Background(settings, brain, Secrets())
    bench = Bench(replace(bench.context, background=background))
    before = await bench.check("bash", **LONG)
    assert before is not None
    assert before.reason == "not_started"
    started = await bench.run("bash", **LONG)
    assert started.data == {"id": NAME, "status": "running"}

    reborn = Background(settings, brain, Secrets())
    await reborn.recover()
    after = await Bench(replace(bench.context, background=reborn)).check("bash", **LONG)
    assert after is not None
    assert after.reason == "lost"
    assert await bench.check("bash", command="touch x") is None
    await background.close()
    refused = await bench.run("bash", **LONG)
    assert refused.reason == "DRAINING"


async def test_a_call_that_is_run_again_is_the_same_command(
    bench: Bench, settings: Settings, brain: SqliteBrain
) -> None:
    first, second = (Background(settings, brain, Secrets()) for _ in range(2))
    await Bench(replace(bench.context, background=first)).text("bash", **LONG)
    await second.recover()
    assert [record.status for record in await brain.background_untold(KEY)] == ["lost"]
    await Bench(replace(bench.context, background=second)).text("bash", **LONG)
    assert await brain.background_untold(KEY) == []
    assert [record.runtime_task_id for record in await brain.background_running()] == [NAME]
    await second.close()
    await first.close()


async def test_a_start_that_is_cancelled_leaves_nothing_running(
    bench: Bench, settings: Settings, brain: SqliteBrain
) -> None:
    mark = token()
    background = Background(settings, brain, Secrets())
    bench = Bench(replace(bench.context, background=background))
    starting = asyncio.create_task(bench.run("bash", command=sleeper(mark), run_in_background=True))
    while background.get(KEY, NAME) is None:
        await asyncio.sleep(0)
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    await background.close()
    record = await background.record(KEY, NAME)
    assert record is not None
    assert record.status == "killed"
    assert not alive(mark)


async def test_without_a_thread_nothing_is_started(bench: Bench, settings: Settings, brain: SqliteBrain) -> None:
    mark = token()
    background = Background(settings, brain, Secrets())
    bench = Bench(replace(bench.context, background=background, task_id="another"))
    assert not (await bench.run("bash", command=sleeper(mark), run_in_background=True)).ok
    assert not alive(mark)
    assert await brain.thread(ThreadKey("local", "another")) is None


async def test_a_deleted_task_is_no_place_for_an_end(bench: Bench, settings: Settings, brain: SqliteBrain) -> None:
    background = Background(settings, brain, Secrets())
    await Bench(replace(bench.context, background=background)).text("bash", **LONG)
    assert await brain.delete_thread(KEY) == "idle"
    await background.close()
    assert await brain.thread(KEY) is None
    assert await brain.background_running() == []


async def test_nobody_sees_the_commands_of_others(bench: Bench, settings: Settings, brain: SqliteBrain) -> None:
    background = Background(settings, brain, Secrets())
    await Bench(replace(bench.context, background=background)).text("bash", **LONG)
    await background.close()
    assert await brain.background_task(KEY, NAME) is not None
    for other in (ThreadKey("ada", KEY.task_id), ThreadKey(KEY.user_id, "another")):
        assert await brain.background_task(other, NAME) is None
        assert await brain.background_untold(other) == []
    assert await brain.background_untold_threads() == [KEY]


async def test_a_replica_that_was_taken_for_dead_ends_what_it_ran_and_says_nothing(
    bench: Bench, settings: Settings, database_url: str
) -> None:
    mark = token()
    brains = PostgresBrain(database_url), PostgresBrain(database_url)
    for one in brains:
        await one.start()
    await brains[0].append(KEY, None, [TaskLifecycle(phase="renamed", title="x")])
    asleep, other = (Background(settings, one, Secrets()) for one in brains)
    await Bench(replace(bench.context, background=asleep)).text(
        "bash", command=sleeper(mark), run_in_background=True
    )
    await other.lose(brains[0].replica)
    await asleep.look_again()
    await asleep.close()
    assert not alive(mark)
    frames = await brains[1].frames(KEY, 0, 100)
    told = [decode_event(frame.json) for frame in frames if frame.type == "background_task"]
    assert [event.status for event in told if isinstance(event, BackgroundTask)] == ["running", "lost"]
    for one in brains:
        await one.close()
