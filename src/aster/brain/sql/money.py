"""Money: what was spent and on what, rolled up from one row per model call, and the limits people set.

An amount is what it was when its row was written. A call whose price was not known has no cost: it counts as
unpriced in a sum and never as zero.
"""

from collections.abc import Sequence
from datetime import date
from typing import Any

from aster.brain.records import BudgetRow, Spent, ThreadKey, UsageGroup, UsageSlice, UsageSum
from aster.brain.sql.connection import Connection

_SUMS = (
    "count(*), coalesce(sum(input_tokens), 0), coalesce(sum(output_tokens), 0),"
    " coalesce(sum(cache_read_tokens), 0), coalesce(sum(cache_write_tokens), 0), sum(cost_usd),"
    " count(*) - count(cost_usd), min(ts), max(ts)"
)
_EPOCH = date(1970, 1, 1).toordinal()
_DAY = "ts / 86400000"
_KEYS: dict[UsageGroup, str] = {
    "day": f"{_DAY}, NULL, NULL, NULL",
    "model": "model, NULL, NULL, NULL",
    "user": "user_id, user_id, NULL, NULL",
    "task": "task_id, user_id, task_id, NULL",
    "turn": "turn_id, user_id, task_id, nullif(turn_id, '')",
}
_GROUPS: dict[UsageGroup, str] = {
    "day": _DAY,
    "model": "model",
    "user": "user_id",
    "task": "user_id, task_id",
    "turn": "user_id, task_id, turn_id",
}


def usage(db: Connection, what: UsageSlice, group: UsageGroup, limit: int) -> tuple[list[UsageSum], UsageSum]:
    """Sums by group, newest first, and the sum of them all, also of those beyond the limit."""
    where, params = _where(what)
    rows = db.execute(
        f"SELECT {_KEYS[group]}, {_SUMS} FROM usage WHERE {where} GROUP BY {_GROUPS[group]}"
        " ORDER BY max(ts) DESC, 1 LIMIT ?",
        [*params, limit],
    )
    found = [_sum((_date(row[0]), *row[1:]) if group == "day" else row) for row in rows]
    total = db.execute(f"SELECT NULL, NULL, NULL, NULL, {_SUMS} FROM usage WHERE {where}", params).fetchone()
    return found, _sum(total)


def costs(db: Connection, user_id: str, task_ids: Sequence[str]) -> dict[str, float]:
    """What each of these tasks has cost with its sub-agents; one without a known cost is left out."""
    marks = ", ".join("?" for _ in task_ids)
    if not marks:
        return {}
    rows = db.execute(
        "SELECT home, sum(cost_usd) FROM ("
        f"SELECT task_id AS home, cost_usd FROM usage WHERE user_id = ? AND task_id IN ({marks})"
        " UNION ALL SELECT t.home_task_id, u.cost_usd FROM threads t JOIN usage u ON u.user_id = t.user_id"
        f" AND u.task_id = t.task_id WHERE t.user_id = ? AND t.home_task_id IN ({marks})"
        ") AS spent WHERE cost_usd IS NOT NULL GROUP BY home",
        (user_id, *task_ids, user_id, *task_ids),
    )
    return dict(rows)


def spent(db: Connection, key: ThreadKey, since: int) -> Spent:
    """What a user has spent since a point in time, and a task of theirs ever, with its sub-agents."""
    user = db.execute("SELECT sum(cost_usd) FROM usage WHERE user_id = ? AND ts >= ?", (key.user_id, since))
    task = db.execute(
        "SELECT sum(cost_usd) FROM usage WHERE user_id = ? AND task_id IN"
        " (SELECT ? UNION SELECT task_id FROM threads WHERE user_id = ? AND home_task_id = ?)",
        (*key, *key),
    )
    return Spent(user.fetchone()[0] or 0.0, task.fetchone()[0] or 0.0)


def budgets(db: Connection) -> list[BudgetRow]:
    """Every limit anyone set; read once, at boot."""
    names = BudgetRow.__struct_fields__
    rows = db.execute(f"SELECT {', '.join(names)} FROM budgets ORDER BY user_id, scope, task_id, owner")
    return [BudgetRow(**dict(zip(names, row, strict=True))) for row in rows]


def drop_budget(db: Connection, row: BudgetRow) -> None:
    db.execute(
        "DELETE FROM budgets WHERE user_id = ? AND scope = ? AND task_id = ? AND owner = ?",
        (row.user_id, row.scope, row.task_id, row.owner),
    )


def _where(what: UsageSlice) -> tuple[str, list[Any]]:
    conditions = {
        "user_id = ?": what.user_id,
        "task_id = ?": what.task_id,
        "ts >= ?": what.since,
        "ts < ?": what.until,
    }
    used = {sql: value for sql, value in conditions.items() if value is not None}
    return " AND ".join(used) or "TRUE", list(used.values())


def _date(day: int) -> str:
    """A day since 1970, by its date."""
    return date.fromordinal(_EPOCH + day).isoformat()


def _sum(row: tuple[Any, ...]) -> UsageSum:
    return UsageSum(**dict(zip(UsageSum.__struct_fields__, row, strict=True)))
