"""What model calls cost, row by row: counted once, never changed, never another user's."""

import sqlite3
from pathlib import Path

from aster.brain.protocol import Brain
from aster.brain.records import BudgetRow, ThreadKey, UsageSlice
from aster.brain.sqlite.brain import SqliteBrain
from aster.brain.unit import Absent
from aster.contracts.events import TaskLifecycle, Usage
from tests.brain.thread import KEY, begin, end, opening

DAY_MS = 86_400_000


def used(cost: float | None, model: str = "m", tokens: int = 10) -> Usage:
    return Usage(
        step=1,
        message_id="msg-a",
        model=model,
        stop_reason="end_turn",
        input_tokens=tokens,
        output_tokens=2,
        cache_hit_tokens=3,
        cache_write_tokens=1,
        cost_usd=cost,
    )


async def turn(brain: Brain, key: ThreadKey, turn_id: str, *calls: Usage) -> None:
    await begin(brain, key, turn_id, f"msg-{turn_id}")
    await brain.append(key, turn_id, calls)
    await end(brain, key, turn_id)


async def test_every_grouping_adds_up(brain: Brain) -> None:
    await turn(brain, KEY, "turn-1", used(0.5), used(0.25, "other"))
    await turn(brain, KEY, "turn-2", used(1.0))
    await turn(brain, ThreadKey("ada", "task-2"), "turn-3", used(2.0, tokens=20))
    await turn(brain, ThreadKey("bob", "task-1"), "turn-4", used(64.0))
    mine = UsageSlice(user_id="ada")
    for group, keys in {
        "model": {"m": 3.5, "other": 0.25},
        "task": {"task-1": 1.75, "task-2": 2.0},
        "turn": {"turn-1": 0.75, "turn-2": 1.0, "turn-3": 2.0},
        "user": {"ada": 3.75},
    }.items():
        rows, total = await brain.usage(mine, group, 100)  # type: ignore[arg-type]
        assert {row.key: row.cost_usd for row in rows} == keys
        assert sum(row.input_tokens for row in rows) == total.input_tokens == 50
        assert (total.calls, total.output_tokens, total.cache_read_tokens, total.cache_write_tokens) == (
            4,
            8,
            12,
            4,
        )
        assert total.cost_usd == 3.75
    rows, total = await brain.usage(UsageSlice(user_id=None), "user", 1)
    assert len(rows) == 1
    assert total.cost_usd == 67.75


async def test_a_slice_is_by_task_and_time(brain: Brain) -> None:
    await turn(brain, KEY, "turn-1", used(0.5))
    await turn(brain, ThreadKey("ada", "task-2"), "turn-2", used(2.0))
    _, total = await brain.usage(UsageSlice(user_id="ada", task_id="task-2"), "day", 10)
    assert (total.calls, total.cost_usd) == (1, 2.0)
    assert total.last_at is not None
    before = UsageSlice(user_id="ada", until=total.last_at - DAY_MS)
    assert (await brain.usage(before, "day", 10))[1].calls == 0
    since = UsageSlice(user_id="ada", since=total.last_at - DAY_MS)
    assert (await brain.usage(since, "day", 10))[1].calls == 2


async def test_an_unknown_cost_is_not_a_zero(brain: Brain) -> None:
    await turn(brain, KEY, "turn-1", used(None), used(None))
    await turn(brain, KEY, "turn-2", used(None), used(0.5))
    rows, total = await brain.usage(UsageSlice(user_id="ada"), "turn", 10)
    costs = {row.key: (row.cost_usd, row.unpriced_calls, row.input_tokens) for row in rows}
    assert costs == {"turn-1": (None, 2, 20), "turn-2": (0.5, 1, 20)}
    assert (total.cost_usd, total.unpriced_calls) == (0.5, 3)


async def test_what_is_spent_of_a_day_and_of_a_task(brain: Brain) -> None:
    await turn(brain, KEY, "turn-1", used(0.5), used(None))
    await turn(brain, ThreadKey("ada", "task-2"), "turn-2", used(2.0))
    await turn(brain, ThreadKey("bob", "task-1"), "turn-3", used(64.0))
    assert await brain.spent(KEY, 0) == (2.5, 0.5)
    _, total = await brain.usage(UsageSlice(user_id="ada"), "day", 1)
    assert total.last_at is not None
    assert await brain.spent(KEY, total.last_at + 1) == (0.0, 0.5)


async def test_what_tasks_cost_is_told_for_those_asked_about(brain: Brain) -> None:
    await turn(brain, KEY, "turn-1", used(0.5), used(0.25), used(None))
    await turn(brain, ThreadKey("ada", "task-2"), "turn-2", used(2.0))
    await turn(brain, ThreadKey("ada", "unpriced"), "turn-3", used(None))
    await turn(brain, ThreadKey("bob", "task-1"), "turn-4", used(64.0))
    assert await brain.costs("ada", ["task-1", "unpriced", "never"]) == {"task-1": 0.75}
    assert await brain.costs("ada", []) == {}


async def test_a_fork_costs_nothing_and_a_deleted_task_stays_paid(brain: Brain) -> None:
    await turn(brain, KEY, "turn-1", used(0.5))
    copy = ThreadKey("ada", "copy")
    forked = TaskLifecycle(phase="forked", from_task_id="task-1", from_seq=4)
    await brain.append(copy, "turn-c", [*opening(), used(0.5), forked], guard=Absent())
    assert await brain.spent(copy, 0) == (0.5, 0.0)
    await brain.append(copy, "turn-c", [used(0.25)])
    assert await brain.spent(copy, 0) == (0.75, 0.25)
    await brain.delete_thread(KEY)
    assert await brain.spent(KEY, 0) == (0.75, 0.5)


async def test_calls_from_before_the_table_are_taken_over(tmp_path: Path) -> None:
    path = tmp_path / "brain.sqlite"
    brain = SqliteBrain(path)
    await brain.start()
    await turn(brain, KEY, "turn-1", used(0.5), used(None))
    forked = TaskLifecycle(phase="forked", from_task_id="task-1", from_seq=4)
    copy = ThreadKey("ada", "copy")
    await brain.append(copy, "turn-c", [*opening(), used(0.5), forked], guard=Absent())
    await brain.append(copy, "turn-c", [used(0.25, "other")])
    before = [await brain.usage(UsageSlice(user_id="ada"), group, 10) for group in ("turn", "model", "task")]
    await brain.close()
    db = sqlite3.connect(path)
    db.executescript(
        "DROP TABLE usage; DROP TABLE budgets; DELETE FROM schema_migrations WHERE name = '0003_budgets.sql';"
    )
    db.close()
    brain = SqliteBrain(path)
    assert await brain.start() == ["0003_budgets.sql"]
    after = [await brain.usage(UsageSlice(user_id="ada"), group, 10) for group in ("turn", "model", "task")]
    await brain.close()
    assert after == before


async def test_a_budget_is_replaced_and_dropped(brain: Brain) -> None:
    first = BudgetRow(user_id="ada", scope="user", task_id="", owner="operator", limit_usd=1.0, updated_at=1)
    other = BudgetRow(user_id="ada", scope="user", task_id="", owner="user", limit_usd=0.5, updated_at=1)
    raised = BudgetRow(user_id="ada", scope="user", task_id="", owner="operator", limit_usd=None, updated_at=2)
    for row in (first, other, raised):
        await brain.put(row)
    assert await brain.budgets() == [raised, other]
    await brain.drop_budget(first)
    assert await brain.budgets() == [other]
