"""Budgets: who may spend how much.

The limits are in the brain and at hand here; another replica that changes one says so. What was spent is in the brain,
one row per call, and so is what calls under way may still cost (`holding`).
"""

import asyncio
from collections.abc import Callable, Iterator
from typing import NamedTuple

from aster.brain.protocol import Brain
from aster.brain.records import BudgetRow, ThreadKey
from aster.contracts.budgets import BudgetOwner, BudgetScope
from aster.contracts.errors import EngineError, ErrorCode
from aster.engine_core.holding import Holding
from aster.infra.clock import iso_ms, now_ms
from aster.infra.settings import Settings

DAY_MS = 86_400_000
LEAST_SECONDS, MOST_SECONDS = 0.05, 60.0
"""How long to sleep before looking at the clock again: it may be set, and a machine may have been asleep."""


class Day(NamedTuple):
    """A day in UTC, the period of a user's budget."""

    name: str
    start_ms: int

    @classmethod
    def at(cls, moment_ms: int) -> "Day":
        start = moment_ms // DAY_MS * DAY_MS
        return cls(iso_ms(start)[:10], start)

    @property
    def end_ms(self) -> int:
        return self.start_ms + DAY_MS

    @property
    def end(self) -> str:
        return iso_ms(self.end_ms)


class Line(NamedTuple):
    """A limit that holds. The operator's and the user's own stand side by side, so the lower one binds."""

    scope: BudgetScope
    owner: BudgetOwner
    limit: float


class Budgets:
    """Every limit in force. The settings give them to all; a row gives one user or task another. `holding` is what
    calls under way may cost; `now` is the time of day, in milliseconds."""

    def __init__(self, settings: Settings, brain: Brain, now: Callable[[], int] = now_ms) -> None:
        self._brain = brain
        self._now = now
        self._usual: dict[BudgetScope, float | None] = {
            "user": settings.budget_user_day_usd,
            "task": settings.budget_task_usd,
            "turn": settings.budget_turn_usd,
        }
        self._rows: dict[tuple[str, str, str, str], BudgetRow] = {}
        self.holding = Holding(brain)

    async def load(self) -> None:
        """Read the limits that were set; also again, when another replica has changed one."""
        self._rows = {_place(row): row for row in await self._brain.budgets()}
        self.holding.look_again()

    def today(self) -> Day:
        """The day (UTC) whose money is being spent, and whose prices hold."""
        return Day.at(self._now())

    async def next_day(self, day: Day) -> Day:
        """Wait until it is no longer that day; the day it is then."""
        while (today := self.today()) == day:
            left = (day.end_ms - self._now()) / 1000
            await asyncio.sleep(min(max(left, LEAST_SECONDS), MOST_SECONDS))
        return today

    @property
    def usual(self) -> dict[BudgetScope, float | None]:
        """What the settings say."""
        return dict(self._usual)

    def rows(self, user_id: str | None = None) -> list[BudgetRow]:
        """What was set for a user, or for anybody."""
        return [row for row in self._rows.values() if user_id is None or row.user_id == user_id]

    def lines(self, key: ThreadKey) -> list[Line]:
        """The limits that hold for a turn of this task."""
        return list(self._lines(key))

    def _lines(self, key: ThreadKey) -> Iterator[Line]:
        for scope in self._usual:
            limit = self.operators_limit(key, scope)
            if limit is not None:
                yield Line(scope, "operator", limit)
            own = self._rows.get((key.user_id, scope, _task(key, scope), "user")) if self._rows else None
            if own is not None and own.limit_usd is not None:
                yield Line(scope, "user", own.limit_usd)

    def line(self, key: ThreadKey, scope: BudgetScope, owner: BudgetOwner) -> Line | None:
        return next((line for line in self._lines(key) if (line.scope, line.owner) == (scope, owner)), None)

    def operators_limit(self, key: ThreadKey, scope: BudgetScope) -> float | None:
        """What the operator allows: set for this user or task, or for all by the settings."""
        row = self._rows.get((key.user_id, scope, _task(key, scope), "operator")) if self._rows else None
        return self._usual[scope] if row is None else row.limit_usd

    async def put(self, row: BudgetRow) -> None:
        """Set a limit. A user may only go below what the operator allows."""
        await self.load()
        if row.owner == "user":
            most = self.operators_limit(ThreadKey(row.user_id, row.task_id), row.scope)
            if row.limit_usd is None or (most is not None and row.limit_usd > most):
                allowed = "" if most is None else f" Choose {most} USD or less."
                raise EngineError(
                    ErrorCode.PERMISSION_DENIED, f"Only the operator can raise or lift a budget.{allowed}"
                )
        await self._brain.put(row)
        self._rows[_place(row)] = row
        self.holding.look_again(row.user_id)

    async def drop(self, row: BudgetRow) -> bool:
        """Take back a limit; false when there is none."""
        await self.load()
        if _place(row) not in self._rows:
            return False
        await self._brain.drop_budget(row)
        self._rows.pop(_place(row), None)
        self.holding.look_again(row.user_id)
        return True

    async def admit(self, key: ThreadKey) -> None:
        """Refuse work for a user or a task that has nothing left to spend."""
        lines = [line for line in self._lines(key) if line.scope != "turn"]
        if not lines:
            return
        day = self.today()
        spent = await self._brain.spent(key, day.start_ms)
        for line in lines:
            used = spent.user if line.scope == "user" else spent.task
            if used >= line.limit:
                raise exhausted(line.scope, line.limit, used, day)


def exhausted(scope: BudgetScope, limit: float, spent: float, day: Day) -> EngineError:
    """The refusal that says which budget is used up and what helps."""
    help_ = f" It begins anew at {day.end}." if scope == "user" else ""
    return EngineError(
        ErrorCode.BUDGET_EXCEEDED,
        f"The budget for {NAMES[scope]} is used up: {usd(spent)} of {usd(limit)} are spent.{help_}"
        " The operator can raise it with PUT /usage/budgets.",
        {"scope": scope, "limit_usd": limit, "spent_usd": spent, **({"resets_at": day.end} if help_ else {})},
    )


NAMES: dict[BudgetScope, str] = {"user": "today", "task": "this task", "turn": "this turn"}


def usd(amount: float) -> str:
    """An amount for people."""
    return f"{amount:.2f} USD" if amount >= 1 else f"{amount:.4f} USD"


def _task(key: ThreadKey, scope: BudgetScope) -> str:
    return key.task_id if scope == "task" else ""


def _place(row: BudgetRow) -> tuple[str, str, str, str]:
    return row.user_id, row.scope, row.task_id, row.owner
