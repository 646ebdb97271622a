"""What a brain does about money: what was spent and on what, and the limits people set."""

from collections.abc import Sequence

from aster.brain.records import BudgetRow, Spent, ThreadKey, UsageGroup, UsageSlice, UsageSum
from aster.brain.sql import money
from aster.brain.sql.running import Reads, Writes


class MoneyBrain:
    _readers: Reads
    _writer: Writes

    async def usage(self, what: UsageSlice, group: UsageGroup, limit: int) -> tuple[list[UsageSum], UsageSum]:
        return await self._readers.run(money.usage, what, group, limit)

    async def costs(self, user_id: str, task_ids: Sequence[str]) -> dict[str, float]:
        return await self._readers.run(money.costs, user_id, task_ids)

    async def spent(self, key: ThreadKey, since: int) -> Spent:
        return await self._readers.run(money.spent, key, since)

    async def budgets(self) -> list[BudgetRow]:
        return await self._readers.run(money.budgets)

    async def drop_budget(self, row: BudgetRow) -> None:
        await self._writer.run(lambda db: money.drop_budget(db, row))
