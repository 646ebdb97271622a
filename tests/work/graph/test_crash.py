"""An engine that dies while an agent changes the board: each change is made once and told once."""

import asyncio
import json
from typing import Any

from aster.client import AsterClient
from aster.client.work import WorkStory
from aster.contracts.events import ThreadLifecycle, WorkUpdate
from tests.process import Process


async def interrupted(host: Process, task_id: str, tool: str, given: dict[str, Any]) -> list[WorkUpdate]:
    """A turn whose engine is killed as soon as the board has changed, and taken up by the next; what its thread tells
    of the board."""
    message = f"[[text=5 tools=1 tool={tool} input={json.dumps(given)}]] Do it."

    async def follow() -> None:
        async with AsterClient(host.url, patience=60) as client:
            async for event in client.execute(message, task_id):
                if isinstance(event, WorkUpdate):
                    changed.set()

    changed = asyncio.Event()
    following = asyncio.create_task(follow())
    await asyncio.wait_for(changed.wait(), 30)
    await host.kill()
    await host.up()
    await asyncio.wait_for(following, 60)
    async with AsterClient(host.url) as client:
        events = (await client.events(task_id)).events
    assert isinstance(events[-1], ThreadLifecycle)
    assert events[-1].phase == "completed"
    return [event for event in events if isinstance(event, WorkUpdate)]


async def story(client: AsterClient, item_id: str) -> list[WorkStory]:
    return list(reversed((await client.work.history(item_id)).changes))


async def test_a_change_is_made_once_and_told_once_whenever_the_engine_dies(host: Process) -> None:
    tasks = [{"subject": "a", "name": "a"}, {"subject": "b", "blocked_by": ["a"]}]
    made = await interrupted(host, "t1", "task_create", {"tasks": tasks})
    assert [(update.action, update.subject) for update in made] == [("created", "a"), ("created", "b")]
    first = made[0].item_id
    for tool in ("task_claim", "task_complete"):
        await interrupted(host, "t1", tool, {"id": first})
    async with AsterClient(host.url) as client:
        assert len((await client.work.list()).items) == 2
        told = await story(client, first)
        assert [change.action for change in told] == ["created", "claimed", "completed"]
        updates = [
            event for event in (await client.events("t1", limit=1000)).events if isinstance(event, WorkUpdate)
        ]
        assert [update.seq for update in updates if update.item_id == first] == [change.seq for change in told]
