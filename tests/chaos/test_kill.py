"""`kill -9` at random moments, many times: after each the engine is started again and everything must add up.

Every turn reaches an end, threads are gapless, every tool call has exactly one result, a command that cannot be
repeated never ran twice, and a client that reconnects has the same text as the thread.
"""

import asyncio
import json
import random
import sqlite3
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from aster.client.client import AsterClient
from aster.client.transcript import Transcript
from aster.contracts.blocks import TextBlock, ToolUseBlock
from aster.contracts.errors import EngineError
from aster.contracts.events import (
    ContentBlockStop,
    ErrorEvent,
    Event,
    Recovery,
    ThreadLifecycle,
    ToolCallIssued,
    ToolResult,
)
from tests.process import Process, engine, model

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(1800)]

ANSWERS = {"permission": "yes", "question": "go on", "in_doubt": "skip"}


@dataclass
class Story:
    """One task, what its client has seen, and the file its commands append to."""

    task_id: str
    message: str
    marks: Path
    seen: list[Event] = field(default_factory=list[Event])


def story(number: int, workspace: Path, chance: random.Random) -> Story:
    task_id = f"task-{number}"
    marks = workspace / task_id / f"{task_id}.log"
    append = json.dumps({"command": f"sleep 0.0{chance.randint(1, 9)}; echo $call >> {marks.name}"})
    note = json.dumps({"path": "note.txt", "content": "round $round"})
    kinds = {
        "text": "[[text=120 rate=300]] Talk.",
        "think": "[[text=60 thinking=60 rate=300]] Think, then talk.",
        "append": f"[[text=20 rate=300 tools=3 tool=bash input={append}]] Append.",
        "parallel": f"[[text=20 rate=300 tools=2 parallel=3 tool=bash input={append}]] Append side by side.",
        "read": '[[text=20 rate=300 tools=3 parallel=2 tool=glob input={"pattern":"*"}]] Look.',
        "ask": '[[text=20 rate=300 tools=1 tool=ask_user input={"question":"Shall I?"}]] Ask.',
        "approve": '[[text=20 rate=300 tools=1 tool=bash input={"command":"chmod -R 700 ."}]] Needs a yes.',
        "write": f"[[text=20 rate=300 tools=2 tool=write_file input={note}]] Write.",
    }
    return Story(task_id, kinds[chance.choice(sorted(kinds))], marks)


async def follow(url: str, tale: Story) -> None:
    """A patient client: keeps its place and comes back until its turn has ended."""
    async with AsterClient(url, patience=60) as client:
        await reached(client)
        async for event in client.execute(tale.message, tale.task_id):
            if event.seq and type(event).__struct_config__.tag not in ("heartbeat", "reconnect"):
                tale.seen.append(event)


async def reached(client: AsterClient) -> None:
    """A client that has once met its engine waits for it; one that has not reports it missing at once."""
    while True:
        try:
            await client.health()
            return
        except EngineError:
            await asyncio.sleep(0.02)


async def answer_everything(url: str, tales: list[Story]) -> None:
    """A person who answers whatever is asked, until told to stop."""
    async with AsterClient(url, patience=60) as client:
        while True:
            try:
                for request in await client.pending():
                    await client.respond(ANSWERS[request.kind], request_id=request.request_id)
            except EngineError:
                pass
            await asyncio.sleep(0.05)


async def kill_and_restart(process: Process, chance: random.Random) -> None:
    await asyncio.sleep(chance.uniform(0.0, 0.7))
    await process.kill()
    await process.up()


async def test_nothing_is_lost(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    kills = int(request.config.getoption("--chaos-kills") or 1)
    seed = int(request.config.getoption("--chaos-seed") or time.time())
    print(f"chaos seed {seed}, {kills} kills")
    chance = random.Random(seed)
    upstream, host = model(tmp_path), None
    await upstream.up()
    try:
        host = engine(tmp_path, upstream.url)
        await kill_while_migrating(host, tmp_path / "brain.sqlite", chance)
        await host.up()
        workspace = tmp_path / "workspaces" / "default"
        tally: Counter[str] = Counter()
        for number in range(kills):
            tales = [story(number * 4 + offset, workspace, chance) for offset in range(4)]
            await one_round(host, tales, chance)
            tally += await check_round(host.url, tales)
        print(dict(tally))
        assert tally["completed"] == tally["turns"]
        assert tally["recovered"] > 0, "no kill hit a model stream: the test does not test"
    except BaseException:
        print((tmp_path / "engine.log").read_text()[-5000:])
        raise
    finally:
        if host is not None:
            await host.stop()
        await upstream.stop()


async def kill_while_migrating(host: Process, brain: Path, chance: random.Random) -> None:
    """The first starts die somewhere between opening the file and serving; the brain must not mind."""
    for _ in range(6):
        await host.spawn()
        await asyncio.sleep(chance.uniform(0.2, 0.9))
        await host.kill()
        if brain.exists():
            with sqlite3.connect(brain) as db:
                assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            db.close()


async def one_round(host: Process, tales: list[Story], chance: random.Random) -> None:
    person = asyncio.create_task(answer_everything(host.url, tales))
    clients = [asyncio.create_task(follow(host.url, tale)) for tale in tales]
    try:
        await kill_and_restart(host, chance)
        async with asyncio.timeout(60):
            await asyncio.gather(*clients)
    finally:
        for task in (person, *clients):
            task.cancel()
        await asyncio.gather(person, *clients, return_exceptions=True)


async def check_round(url: str, tales: list[Story]) -> Counter[str]:
    tally: Counter[str] = Counter()
    async with AsterClient(url) as client:
        for tale in tales:
            thread: list[Event] = [event async for event in client.thread(tale.task_id)]
            check_thread(tale, thread)
            tally["turns"] += 1
            tally["recovered"] += sum(isinstance(event, Recovery) for event in thread)
            tally["reissued"] += sum(isinstance(e, ToolCallIssued) and e.attempt > 1 for e in thread)
            tally["in_doubt"] += sum(isinstance(e, ToolResult) and e.error == "in_doubt" for e in thread)
            last = thread[-1]
            assert isinstance(last, ThreadLifecycle)
            tally[str(last.phase)] += 1
    return tally


def check_thread(tale: Story, thread: list[Event]) -> None:
    assert [event.seq for event in thread] == list(range(1, len(thread) + 1)), tale
    phases = [event.phase.value for event in thread if isinstance(event, ThreadLifecycle)]
    assert phases[0] == "started"
    assert phases[-1] == "completed", [event for event in thread if isinstance(event, ErrorEvent)]
    kept = surviving(thread)
    wanted = [e.block.id for e in kept if isinstance(e, ContentBlockStop) and isinstance(e.block, ToolUseBlock)]
    results = [event for event in thread if isinstance(event, ToolResult)]
    assert sorted(wanted) == sorted(result.tool_call_id for result in results), tale
    if tale.marks.exists():
        ran = Counter(tale.marks.read_text().split())
        calls = {event.tool_call_id for event in thread if isinstance(event, ToolCallIssued)}
        done = [result for result in results if result.error is None]
        assert len(done) <= sum(ran.values()) <= len(calls), (tale, ran)
    check_client(tale, thread, kept)


def surviving(thread: list[Event]) -> list[Event]:
    """The events that no `recovery` has taken back."""
    gone = [(event.discarded_from_seq, event.seq) for event in thread if isinstance(event, Recovery)]
    return [event for event in thread if not any(first <= event.seq < last for first, last in gone)]


def check_client(tale: Story, thread: list[Event], kept: list[Event]) -> None:
    seqs = [event.seq for event in tale.seen]
    assert seqs == list(range(seqs[0], seqs[0] + len(seqs))), "the client has a gap or a duplicate"
    assert tale.seen == thread[seqs[0] - 1 :]
    said = "".join(
        event.block.text
        for event in kept
        if isinstance(event, ContentBlockStop) and isinstance(event.block, TextBlock)
    )
    assert Transcript().extend(tale.seen).text() == said
    assert said.count("w0000") > 0
