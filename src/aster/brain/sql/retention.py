"""Retention: what a thread may lose without anyone missing it.

Deltas of a block that is whole, and of a turn that has ended long enough ago, say nothing the block does not; they
are folded away in small steps between two commits. Records are never touched.
"""

from aster.brain.records import ThreadKey
from aster.brain.sql.connection import Connection
from aster.brain.sql.learning import erasing
from aster.brain.sql.work import projects, schedules, teams, worktrees
from aster.brain.sql.work.graph_deeds import SqlDeed
from aster.brain.work import ENGINE, Abandon, Actor
from aster.infra.clock import now_ms

TURNS_PER_STEP = 50
_NAMED_MS = 7 * 86_400_000
"""How long a message that was left for a busy task is known again when it is sent once more."""

_OWNED = (
    "thread_events",
    "turns",
    "conversations",
    "hitl_requests",
    "inbox",
    "channel_state_snapshots",
    "trajectories",
    "artifacts",
    "compactions",
    "file_versions",
    "background_tasks",
    "background_output",
    "plans",
    "uncertainties",
    "corrections",
    "door_places",
    "learning_signals",
    "learning_journal",
    "subagents",
    "schedule_occurrences",
    "workflow_runs",
    "workflow_calls",
    "goals",
    "project_advances",
    "project_suggestions",
    "message_names",
)


def fold_deltas(db: Connection, ended_before: int, now: int) -> int:
    """Fold the deltas of a few turns that ended before a point in time; returns how many events went."""
    turns = db.execute(
        "SELECT turn_id, thread_id, first_seq, last_seq FROM turns"
        " WHERE folded_at IS NULL AND ended_at IS NOT NULL AND ended_at < ? ORDER BY ended_at LIMIT ?",
        (ended_before, TURNS_PER_STEP),
    ).fetchall()
    gone = 0
    for turn_id, thread_id, first_seq, last_seq in turns:
        gone += db.execute(
            "DELETE FROM thread_events WHERE thread_id = ? AND seq BETWEEN ? AND ?"
            " AND grade = 'delta' AND turn_id = ?",
            (thread_id, first_seq, last_seq, turn_id),
        ).rowcount
        gone += _fold_shown(db, turn_id)
        db.execute("UPDATE turns SET folded_at = ? WHERE turn_id = ?", (now, turn_id))
    return gone


def _fold_shown(db: Connection, turn_id: str) -> int:
    """What was shown of a sub-agent's turn on the thread of the task that it worked for."""
    place = db.execute(
        "SELECT root.thread_id, root.first_seq FROM subagents s JOIN turns root ON root.turn_id = s.root_turn_id"
        " WHERE s.child_turn_id = ?",
        (turn_id,),
    ).fetchone()
    if place is None:
        place = _member_place(db, turn_id)
    if place is None:
        return 0
    sql = "DELETE FROM thread_events WHERE thread_id = ? AND seq > ? AND grade = 'shown' AND turn_id = ?"
    return db.execute(sql, (*place, turn_id)).rowcount


def _member_place(db: Connection, turn_id: str) -> tuple[int, int] | None:
    """The thread of the task that leads the team of whose member this is a turn."""
    return db.execute(
        "SELECT h.thread_id, 0 FROM turns u JOIN threads c ON c.thread_id = u.thread_id JOIN team_members m"
        " ON m.user_id = c.user_id AND m.task_id = c.task_id JOIN threads h ON h.user_id = c.user_id"
        " AND h.task_id = c.home_task_id WHERE u.turn_id = ?",
        (turn_id,),
    ).fetchone()


def prune(db: Connection, now: int, observations_before: int) -> int:
    """Drop expired snapshots, limits that were reset long ago, and old observations."""
    gone = db.execute("DELETE FROM channel_state_snapshots WHERE expires_at <= ?", (now,)).rowcount
    gone += db.execute("DELETE FROM corrections WHERE expires_at <= ?", (now,)).rowcount
    gone += db.execute("DELETE FROM grants WHERE expires_at <= ?", (now,)).rowcount
    gone += db.execute("DELETE FROM message_names WHERE created_at <= ?", (now - _NAMED_MS,)).rowcount
    gone += db.execute("DELETE FROM budget_holds WHERE expires_at <= ?", (now - 60_000,)).rowcount
    gone += db.execute("DELETE FROM quota_windows WHERE resets_at <= ?", (now - 86_400_000,)).rowcount
    return (
        gone + db.execute("DELETE FROM observability_events WHERE created_at < ?", (observations_before,)).rowcount
    )


def delete_thread(db: Connection, key: ThreadKey) -> str | None:
    """Delete a task and all that belongs to it; returns its status, None when there is none.

    A task whose turn runs or waits is left alone.
    """
    sql = f"SELECT thread_id, status FROM threads WHERE user_id = ? AND task_id = ?{db.dialect.lock}"
    found = db.execute(sql, key).fetchone()
    if found is None:
        return None
    thread_id, status = found
    if status == "idle":
        for table in _OWNED:
            db.execute(f"DELETE FROM {table} WHERE thread_id = ?", (thread_id,))
        db.execute("DELETE FROM grants WHERE user_id = ? AND scope = 'task' AND task_id = ?", key)
        schedules.task_deleted(db, *key)
        worktrees.task_deleted(db, *key)
        teams.task_deleted(db, key)
        projects.task_deleted(db, key)
        erasing.deleted(db, *key, now_ms())
        engine = Actor(user_id=key.user_id, name=ENGINE)
        SqlDeed(Abandon(actor=engine, task_id=key.task_id, reason="the task that had it was deleted"))(db)
        db.execute("DELETE FROM threads WHERE thread_id = ?", (thread_id,))
    return status
