"""Money over the wire: what was used and what it cost, and how much may be spent."""

from typing import Literal, TypeAlias
from urllib.parse import quote

from aster.client.wire import Wire
from aster.contracts.model import Contract

UsageGroup: TypeAlias = Literal["day", "model", "user", "task", "turn"]


class Amounts(Contract):
    """Model calls added up; `cost_usd` is None when no price is known, `unpriced_calls` are in no cost."""

    calls: int
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    cost_usd: float | None = None
    unpriced_calls: int = 0


class UsageRow(Amounts):
    """The calls of one day, model, user, task or turn, which is `key`."""

    key: str
    user_id: str | None = None
    task_id: str | None = None
    turn_id: str | None = None
    first_at: str = ""
    last_at: str = ""


class UsageReport(Contract):
    """Newest first; `total` is of all there is, also beyond the limit."""

    group: str
    user: str
    rows: tuple[UsageRow, ...]
    total: Amounts


class Budget(Contract):
    """A limit that holds: `user` is for each day, `task:` and an id for that task."""

    user_id: str
    scope: str
    owner: str
    limit_usd: float | None
    spent_usd: float
    updated_at: str | None = None


class BudgetDefaults(Contract):
    user_day_usd: float | None = None
    task_usd: float | None = None
    turn_usd: float | None = None


class BudgetList(Contract):
    defaults: BudgetDefaults
    budgets: tuple[Budget, ...]
    resets_at: str = ""


class DroppedBudget(Contract):
    status: str
    scope: str


class UsageClient:
    """The routes under `/usage`. `user` is another one; that is for the operator."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    async def report(
        self,
        group: UsageGroup = "day",
        *,
        since: str | None = None,
        until: str | None = None,
        task_id: str | None = None,
        limit: int = 100,
        user: str | None = None,
    ) -> UsageReport:
        """Calls, tokens and costs; `since` and `until` are days (`2026-04-27`) or times."""
        params = {"group": group, "from": since, "to": until, "task_id": task_id, "limit": limit, "user": user}
        return await self._wire.ask(UsageReport, "GET", "/usage", params=params)

    async def budgets(self, *, user: str | None = None) -> BudgetList:
        return await self._wire.ask(BudgetList, "GET", "/usage/budgets", params={"user": user})

    async def set_budget(self, scope: str, limit_usd: float | None, *, user: str | None = None) -> Budget:
        """The most to spend in a scope; None, for the operator, lifts it."""
        body = {"limit_usd": limit_usd}
        return await self._wire.ask(Budget, "PUT", _path(scope), params={"user": user}, body=body)

    async def drop_budget(self, scope: str, *, user: str | None = None) -> DroppedBudget:
        """Take back what was set."""
        return await self._wire.ask(DroppedBudget, "DELETE", _path(scope), params={"user": user})


def _path(scope: str) -> str:
    return f"/usage/budgets/{quote(scope, safe='')}"
