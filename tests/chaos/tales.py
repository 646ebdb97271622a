"""What clients and engines do while everything around them fails, and how one sees afterwards that it all adds up.

A tale is a task with one message: its client keeps its place and comes back until the turn has ended. Then the thread
has to be gapless, every tool call to have exactly one result, a command that cannot be repeated to have run at most
once, and the client to have seen the thread and nothing else.
"""

import asyncio
import json
import random
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

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

ANSWERS = {"permission": "yes", "question": "go on", "in_doubt": "skip"}


@dataclass
class Story:
    """One task, what its client has seen, and the file its commands append to."""

    task_id: str
    message: str
    marks: Path
    seen: list[Event] = field(default_factory=list[Event])


def story(number: int, workspace: Path, chance: random.Random, rate: int = 300) -> Story:
    """A tale of any kind; its model says so many words a second."""
    task_id = f"task-{number}"
    marks = workspace / task_id / f"{task_id}.log"
    append = json.dumps({"command": f"sleep 0.0{chance.randint(1, 9)}; echo $round.$call >> {marks.name}"})
    note = json.dumps({"path": "note.txt", "content": "round $round"})
    pace = f"rate={rate}"
    kinds = {
        "text": f"[[text=120 {pace}]] Talk.",
        "think": f"[[text=60 thinking=60 {pace}]] Think, then talk.",
        "append": f"[[text=20 {pace} tools=3 tool=bash input={append}]] Append.",
        "parallel": f"[[text=20 {pace} tools=2 parallel=3 tool=bash input={append}]] Append side by side.",
        "read": f'[[text=20 {pace} tools=3 parallel=2 tool=glob input={{"pattern":"*"}}]] Look.',
        "ask": f'[[text=20 {pace} tools=1 tool=ask_user input={{"question":"Shall I?"}}]] Ask.',
        "approve": f'[[text=20 {pace} tools=1 tool=bash input={{"command":"chmod -R 700 ."}}]] Needs a yes.',
        "write": f"[[text=20 {pace} tools=2 tool=write_file input={note}]] Write.",
    }
    return Story(task_id, kinds[chance.choice(sorted(kinds))], marks)


async def follow(url: str, tale: Story, *, patience: float = 60.0, silence: float = 45.0) -> None:
    """A patient client: keeps its place and comes back until its turn has ended."""
    async with AsterClient(url, patience=patience, silence=silence) as client:
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


async def answer_everything(url: str, *, silence: float = 45.0) -> None:
    """A person who answers whatever is asked, until told to stop."""
    async with AsterClient(url, patience=60, silence=silence) as client:
        while True:
            try:
                for request in await client.pending():
                    await client.respond(ANSWERS[request.kind], request_id=request.request_id)
            except EngineError:
                pass
            await asyncio.sleep(0.05)


async def check_tale(client: AsterClient, tale: Story) -> Counter[str]:
    """Assert that a tale adds up; what happened in it, counted."""
    thread: list[Event] = [event async for event in client.thread(tale.task_id)]
    check_thread(tale, thread)
    last = thread[-1]
    assert isinstance(last, ThreadLifecycle)
    return Counter(
        {
            "turns": 1,
            "recovered": sum(isinstance(event, Recovery) for event in thread),
            "reissued": sum(isinstance(e, ToolCallIssued) and e.attempt > 1 for e in thread),
            "in_doubt": sum(isinstance(e, ToolResult) and e.error == "in_doubt" for e in thread),
            "effects": len(marks(tale)),
            str(last.phase): 1,
        }
    )


def check_thread(tale: Story, thread: list[Event]) -> None:
    assert [event.seq for event in thread] == list(range(1, len(thread) + 1)), tale
    phases = [event.phase.value for event in thread if isinstance(event, ThreadLifecycle)]
    assert phases[0] == "started"
    assert phases.count("started") == 1, "the message was taken twice"
    assert phases[-1] == "completed", [event for event in thread if isinstance(event, ErrorEvent)]
    kept = surviving(thread)
    wanted = [e.block.id for e in kept if isinstance(e, ContentBlockStop) and isinstance(e.block, ToolUseBlock)]
    results = [event for event in thread if isinstance(event, ToolResult)]
    assert sorted(wanted) == sorted(result.tool_call_id for result in results), tale
    if tale.marks.exists():
        ran = marks(tale)
        calls = {event.tool_call_id for event in thread if isinstance(event, ToolCallIssued)}
        done = [result for result in results if result.error is None]
        assert len(done) <= len(ran) <= len(calls), (tale, ran)
        assert len(set(ran)) == len(ran), f"a command ran twice: {tale.task_id} {ran}"
    check_client(tale, thread, kept)


def marks(tale: Story) -> list[str]:
    """What its commands wrote, one mark for each that ran."""
    return tale.marks.read_text().split() if tale.marks.exists() else []


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
