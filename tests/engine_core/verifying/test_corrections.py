"""Answers that are checked after their turn, and put right at the start of the next one."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from aster.contracts.llm import StopReason
from aster.engine_core.verifying.corrections import TTL_SECONDS
from aster.infra.clock import now_ms
from aster.testing import Failure, Hold, ModelServer, Reply, Rule, Text
from tests.engine_core.frames import events, last
from tests.engine_core.verifying.test_verifier import CLAIM, COUNT, LOOK, WRONG, ZERO, pool, says
from tests.live import Live, live

OK = Rule(Reply([Text("As you say.")]))


@pytest.fixture
async def critic() -> AsyncIterator[ModelServer]:
    async with ModelServer([Rule(WRONG)]) as server:
        yield server


@pytest.fixture(autouse=True)
def answers(model: ModelServer) -> None:
    model.script([OK])
    model.enqueue(COUNT, CLAIM)


def after(critic: ModelServer, **more: Any) -> dict[str, Any]:
    return {**pool(critic), "verifier_mode": "after", **more}


async def checked(engine: Live) -> None:
    """Wait until every turn is over and nothing is being checked any more."""
    async with asyncio.timeout(10):
        while engine.engine.coordinator.slots[0]:
            await asyncio.sleep(0)
        await asyncio.gather(*(task for task in asyncio.all_tasks() if task.get_name().startswith("verify")))


async def test_the_turn_ends_at_once_and_the_next_begins_with_the_correction(
    model: ModelServer, critic: ModelServer
) -> None:
    critic.enqueue(Reply([*WRONG.parts, Hold()]))
    async with live(model, **after(critic)) as engine:
        first = await engine.execute("How many rows?")
        assert last(first)["stop_reason"] == StopReason.END_TURN
        assert events(first, "verification") == []
        await critic.wait_held()
        critic.release()
        await checked(engine)
        second = await engine.execute("Thanks. And columns?")
        third = await engine.execute("Fine.")
        thread = await engine.replay(task_id="t1")
    (corrected,) = events(second, "verification")
    assert (corrected["action"], corrected["about_turn_id"]) == ("correct", last(first)["turn_id"])
    assert corrected["issues"] == ["“in all”: The evidence counts one partition only."]
    assert events(third, "verification") == []
    asked = model.calls[2]
    assert "Begin your next answer with a correction" in asked.text
    assert "Thanks. And columns?" in str(asked.body["messages"])
    assert [(found["action"], found.get("turn_id") is None) for found in events(thread, "verification")] == [
        ("later", True),
        ("correct", False),
    ]
    (unowned,) = [used for used in events(thread, "usage") if used.get("turn_id") is None]
    assert (unowned["model"], unowned["purpose"]) == ("gpt-4o-mini", "verify")


@pytest.mark.parametrize("reply", [says("confirm"), says("refute", 0.5), Reply([Text("Hm?")]), Failure(400)])
async def test_nothing_is_corrected_that_was_not_surely_refuted(
    model: ModelServer, critic: ModelServer, reply: Reply | Failure
) -> None:
    critic.script([Rule(reply)])
    async with live(model, **after(critic)) as engine:
        await engine.execute("How many rows?")
        await checked(engine)
        second = await engine.execute("Thanks.")
        thread = await engine.replay(task_id="t1")
    assert critic.calls
    assert events(second, "verification") == []
    assert {found.get("action", "none") for found in events(thread, "verification")} <= {"none"}


async def test_a_correction_survives_a_restart(model: ModelServer, critic: ModelServer, tmp_path: Path) -> None:
    path = tmp_path / "brain.sqlite"
    async with live(model, sqlite_db_path=path, **after(critic)) as engine:
        await engine.execute("How many rows?")
        await checked(engine)
    async with live(model, sqlite_db_path=path, **after(critic)) as engine:
        second = await engine.execute("Thanks.")
    assert [found["action"] for found in events(second, "verification")] == ["correct"]


async def test_an_answer_that_was_edited_away_is_not_corrected(model: ModelServer, critic: ModelServer) -> None:
    async with live(model, **after(critic)) as engine:
        first = await engine.execute("How many rows?")
        await checked(engine)
        message_id = events(first, "user_message")[0]["message_id"]
        edited = await engine.execute("How many columns?", edit_message_id=message_id)
    assert events(edited, "verification") == []


async def test_a_correction_that_comes_too_late_is_not_told(model: ModelServer, critic: ModelServer) -> None:
    passed = 0
    async with live(model, now=lambda: now_ms() + passed, **after(critic)) as engine:
        await engine.execute("How many rows?")
        await checked(engine)
        passed = TTL_SECONDS * 1000
        second = await engine.execute("Thanks.")
    assert critic.calls
    assert events(second, "verification") == []


async def test_another_user_and_another_task_see_nothing_of_it(model: ModelServer, critic: ModelServer) -> None:
    async with live(model, **after(critic)) as engine:
        await engine.execute("How many rows?")
        await checked(engine)
        other = await engine.execute("Hello.", "t2")
        assert (await engine.http.delete("/tasks/t1")).status_code == 200
        again = await engine.execute("Hello.", "t1")
    assert events(other, "verification") == events(again, "verification") == []


async def test_no_more_than_three_answers_wait_to_be_checked_and_are_told(
    model: ModelServer, critic: ModelServer
) -> None:
    critic.script([Rule(Reply([*WRONG.parts, Hold()]))])
    model.enqueue(*[COUNT, CLAIM] * 4)
    async with live(model, **after(critic)) as engine:
        for _ in range(5):
            await engine.execute("How many rows?")
        await critic.wait_calls(3)
        while engine.engine.herald.background.running < 3:
            await asyncio.sleep(0)
        async with asyncio.timeout(10):
            while any(task.get_name().startswith("verify") for task in asyncio.all_tasks()):
                critic.release()
                await asyncio.sleep(0.005)
        told = await engine.execute("Thanks.")
    assert len(critic.calls) == 3
    assert [found["action"] for found in events(told, "verification")] == ["correct"] * 3


async def test_what_is_proven_is_repaired_at_once_all_the_same(model: ModelServer, critic: ModelServer) -> None:
    async with live(model, **after(critic)) as engine:
        await engine.execute("How many rows?")
        await checked(engine)
        model.enqueue(LOOK, ZERO, Reply([Text("It does not exist.")]))
        frames = await engine.execute("How many lines has notes.txt?", "t2")
        await checked(engine)
    assert [found["action"] for found in events(frames, "verification")] == ["repair"]
