"""The engine is killed in the middle of a compaction: it is there whole, or not at all, and is made once."""

import asyncio
from pathlib import Path

from aster.client.client import AsterClient
from aster.contracts.events import CompactionEvent, ThreadLifecycle
from aster.testing import Hold, ModelServer, RecordedCall, Reply, Text
from tests.engine_core.compaction.talk import filler, text_in
from tests.engine_core.compaction.test_orchestrator import MOST_TURNS, SUMMARY, WINDOW, chatting, summarising
from tests.process import engine


def slow(call: RecordedCall) -> Reply:
    return Reply([Text(SUMMARY[:20]), Hold("summary"), Text(SUMMARY[20:])]) if summarising(call) else chatting(call)


async def talk(url: str) -> None:
    async with AsterClient(url, patience=60) as client:
        for number in range(MOST_TURNS):
            async for _ in client.execute(f"Request {number}: " + filler(880, number), "t1"):
                pass


async def test_a_killed_compaction_is_made_again(tmp_path: Path) -> None:
    async with ModelServer([slow]) as model:
        small = {"CONTEXT_WINDOW": str(WINDOW), "MAX_TOKENS": "1000", "SCHEDULE_TOOLS": "false"}
        small |= dict.fromkeys(("WORK_TOOLS", "TEAM_TOOLS", "PROJECT_TOOLS"), "off")
        host = engine(tmp_path, model.url, MEMORY_ENABLED="false", **small)
        await host.up()
        talking = asyncio.create_task(talk(host.url))
        try:
            await model.wait_held("summary", timeout=60)
            await host.kill()
            model.release("summary")
            await host.up()
            await asyncio.wait_for(talking, 60)
            async with AsterClient(host.url) as client:
                events = [event async for event in client.thread("t1")]
        finally:
            talking.cancel()
            await asyncio.gather(talking, return_exceptions=True)
            await host.kill()
    made = [event for event in events if isinstance(event, CompactionEvent)]
    assert [event.ok for event in made] == [True]
    ends = [event.stop_reason for event in events if isinstance(event, ThreadLifecycle) and event.stop_reason]
    assert ends == ["end_turn"] * MOST_TURNS
    assert sum(map(summarising, model.calls)) == 2
    assert SUMMARY in text_in(model.calls[-1])
