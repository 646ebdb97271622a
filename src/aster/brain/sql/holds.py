"""Setting money aside: a call fits under all its caps and is held, or is not, decided for one user at a time.

Who decides holds the user's purse until its transaction ends. What is held is read before what is spent: a call that
comes to its end in between is then counted twice for a moment, and never not at all.
"""

from collections.abc import Sequence

from aster.brain.background import ENDING
from aster.brain.holds import Cap, HoldRow, Purse
from aster.brain.records import ThreadKey
from aster.brain.sql import agents, money
from aster.brain.sql.connection import Connection
from aster.brain.sql.projections import put

TINY = 1e-9
"""Sums of fractions of a cent are not exact; a cap is not exceeded by less than this."""


def hold(db: Connection, row: HoldRow, caps: Sequence[Cap], since: int, now: int) -> bool:
    """Set money aside if it fits; false, and nothing is changed, if it does not."""
    db.dialect.hold(db, f"purse {row.user_id}")
    db.execute(
        "DELETE FROM budget_holds WHERE user_id = ? AND (expires_at <= ? OR (turn_id = ? AND owner <> ?))",
        (row.user_id, now, row.turn_id or "-", row.owner),
    )
    key = ThreadKey(row.user_id, row.task_id)
    purse = purse_of(db, key, since, now)
    for cap in caps:
        spent = purse.user if cap.scope == "user" else purse.task if cap.scope == "task" else cap.spent
        if cap.root_turn_id is not None:
            _, spent = agents.of_root(db, key, cap.root_turn_id)
        if spent + purse.held(cap.scope) + row.usd > cap.ceiling + TINY:
            return False
    put(db, row, None, None)
    return True


def purse_of(db: Connection, key: ThreadKey, since: int, now: int) -> Purse:
    held = "SELECT coalesce(sum(usd), 0.0) FROM budget_holds WHERE user_id = ? AND expires_at > ?"
    of_user = db.execute(held, (key.user_id, now)).fetchone()[0]
    of_task = (
        db.execute(f"{held} AND task_id = ?", (key.user_id, now, key.task_id)).fetchone()[0] if of_user else 0.0
    )
    spent = money.spent(db, key, since)
    return Purse(spent.user, spent.task, float(of_user), float(of_task))


def renew(db: Connection, owner: str, hold_ids: Sequence[str], expires_at: int) -> None:
    """The calls of a replica are still under way."""
    db.executemany(
        "UPDATE budget_holds SET expires_at = ? WHERE hold_id = ? AND owner = ?",
        [(expires_at, hold_id, owner) for hold_id in hold_ids],
    )


def owners(db: Connection, now: int) -> set[str]:
    """The replicas that have set money aside, or run something behind turns."""
    sql = (
        "SELECT owner FROM budget_holds WHERE expires_at > ? UNION"
        " SELECT owner FROM background_tasks WHERE status = 'running' AND owner IS NOT NULL"
    )
    return {owner.removesuffix(ENDING) for (owner,) in db.execute(sql, (now,))}


def drop(db: Connection, owner: str | None) -> None:
    """Nothing of a replica is under way any more; of none at all, if nobody is named."""
    if owner is None:
        db.execute("DELETE FROM budget_holds")
    else:
        db.execute("DELETE FROM budget_holds WHERE owner = ?", (owner,))
