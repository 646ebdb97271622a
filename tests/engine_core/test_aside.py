"""Asides of sub-agents: they are paid from what is left of the person's turn and task, not of the sub-agent's own."""

import asyncio
import json
from collections.abc import AsyncIterator

import pytest

from aster.testing import ModelServer, Reply, Rule, Text, ToolCall, Usage
from tests.engine_core.frames import events
from tests.live import live

SPAWN = ToolCall("spawn_agent", {"prompt": "work"}, id="s1")
HALF = Usage(input=200_000)
QUARTER = Usage(input=100_000)
CLAIM = "The table has 987 rows in all, as the script has it."
"""With prices of 2.5 dollars for a million tokens, the parent spends 0.5 and its child 0.5 in two calls."""

BUDGETS = ["budget_turn_usd", "budget_task_usd"]


@pytest.fixture
async def critic() -> AsyncIterator[ModelServer]:
    confirms = Reply([Text(json.dumps({"verdict": "confirm", "confidence": 0.9}))])
    async with ModelServer([Rule(confirms)]) as server:
        yield server


def rules(tool: ToolCall, answer: str) -> list[Rule]:
    return [
        Rule(Reply([Text(answer)], usage=QUARTER), tool=tool.name),
        Rule(Reply([Text("the end")]), tool="spawn_agent"),
        Rule(Reply([SPAWN], usage=HALF), match="^go", round=0),
        Rule(Reply([tool], usage=QUARTER), match="^work", round=0),
    ]


@pytest.mark.parametrize("budget", BUDGETS)
async def test_a_childs_critic_is_not_asked_beyond_the_persons_budget(
    model: ModelServer, critic: ModelServer, budget: str
) -> None:
    model.script(rules(ToolCall("bash", {"command": "echo rows: 987"}), CLAIM))
    pool = {"llm_pool_critic": f"{critic.url}/v1|gpt-4o-mini", "task_titles": False}
    priced = live(model, sandbox="auto", llm_model="gpt-4o", max_tokens=100, **{budget: 1.0}, **pool)
    async with priced as engine, engine.executing("go") as stream:
        await asyncio.wait_for(stream.until("subagent_lifecycle", phase="completed"), 20)
        assert critic.calls == []


@pytest.mark.parametrize("budget", BUDGETS)
async def test_a_childs_answer_is_not_repaired_beyond_the_persons_budget(model: ModelServer, budget: str) -> None:
    model.script(rules(ToolCall("read_file", {"path": "notes.txt"}), "0"))
    priced = live(model, llm_model="gpt-4o", max_tokens=100, task_titles=False, **{budget: 1.0})
    async with priced as engine, engine.executing("go") as stream:
        ended = await asyncio.wait_for(stream.until("subagent_lifecycle", phase="completed"), 20)
        frames = await engine.replay(task_id=ended.data["child_task_id"], after_seq=0)
    assert [found["action"] for found in events(frames, "verification")] == ["note"]
