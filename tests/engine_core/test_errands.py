"""Calls beside the turns: what is set aside for them is given back, however they end, and what they use counts."""

import asyncio

import pytest

from aster.brain.records import ThreadKey
from aster.infra.clock import now_ms
from aster.testing import Cut, Failure, Hold, ModelServer, Reply, Rule, Text, Usage
from tests.live import Live, live

PAID = Usage(input=2_000_000)
"""Of gpt-4o-mini: 0.30 USD."""


async def held(engine: Live) -> float:
    purse = await engine.engine.brain.purse(ThreadKey("default", "t1"), 0, now_ms())
    return purse.task_held


async def given_back(engine: Live) -> None:
    async with asyncio.timeout(10):
        while await held(engine) or engine.engine.herald.background.running:
            await asyncio.sleep(0)


@pytest.mark.parametrize(
    "tail", [[Text("title")], [Cut()], None], ids=["it is done", "it is cut off", "the engine stops"]
)
async def test_what_was_set_aside_is_given_back(model: ModelServer, tail: list[Text | Cut] | None) -> None:
    model.script([Rule(Reply([Text("hello")]))])
    async with ModelServer() as worker:
        worker.enqueue(Reply([Text("a"), Hold(), *(tail or [])]))
        pool = f"{worker.url}/v1|gpt-4o-mini"
        async with live(model, llm_pool_worker=pool, budget_task_usd=1.0) as engine:
            await engine.execute("hi")
            await worker.wait_held()
            assert await held(engine) > 0
            if tail is None:
                await engine.engine.drain(0)
            else:
                worker.release()
            await given_back(engine)


async def test_a_refusal_gives_back_what_was_set_aside(model: ModelServer) -> None:
    model.script([Rule(Reply([Text("hello")]))])
    async with (
        ModelServer([Rule(Failure(400))]) as worker,
        live(model, llm_pool_worker=f"{worker.url}/v1|gpt-4o-mini", budget_task_usd=1.0) as engine,
    ):
        await engine.execute("hi")
        await worker.wait_calls(1, ended=True)
        await given_back(engine)


async def test_what_it_used_counts_for_the_budget(model: ModelServer) -> None:
    model.script([Rule(Reply([Text("hello")]))])
    async with (
        ModelServer([Rule(Reply([Text("A title")], usage=PAID))]) as worker,
        live(model, llm_pool_worker=f"{worker.url}/v1|gpt-4o-mini", budget_task_usd=0.2) as engine,
    ):
        await engine.execute("hi")
        await worker.wait_calls(1, ended=True)
        await given_back(engine)
        refused = await engine.http.post("/execute", json={"message": "more", "task_id": "t1"})
        assert (refused.status_code, refused.json()["error"]) == (402, "BUDGET_EXCEEDED")
