"""Money through the SDK."""

from aster.client import AsterClient


async def test_what_was_used_is_added_up(client: AsterClient, task: str) -> None:
    await client.ask("[[text=5]]", task)
    report = await client.usage.report("turn", task_id=task)
    assert (report.group, len(report.rows), report.total.calls) == ("turn", 1, 1)
    assert report.rows[0].task_id == task
    assert report.rows[0].output_tokens == report.total.output_tokens > 0
    assert (await client.usage.report(since="2020-01-01", until="2020-01-02")).rows == ()


async def test_a_budget_is_set_and_taken_back(client: AsterClient, task: str) -> None:
    scope = f"task:{task}/with a slash"
    budget = await client.usage.set_budget(scope, 2.5)
    assert (budget.scope, budget.limit_usd, budget.spent_usd) == (scope, 2.5, 0.0)
    assert scope in [one.scope for one in (await client.usage.budgets()).budgets]
    assert (await client.usage.drop_budget(scope)).scope == scope
    assert scope not in [one.scope for one in (await client.usage.budgets()).budgets]
