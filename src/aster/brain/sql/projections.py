"""What a record event means for the tables beside the thread.

Each projection runs in the commit of the event itself, so a table never says something the thread does not.
"""

from aster.brain.memory_records import JournalRow
from aster.brain.records import Row, ThreadKey
from aster.brain.sequencer import Placed, Slot
from aster.brain.sql import judgement
from aster.brain.sql.connection import Connection
from aster.brain.sql.memory import journal
from aster.brain.sql.permissions import note_use
from aster.brain.sql.work import goals, graph_deeds
from aster.brain.titles import first_words
from aster.contracts.events import (
    BackgroundTask,
    ErrorEvent,
    GoalStatus,
    HitlRequest,
    HitlResolved,
    LearningUpdate,
    Phase,
    PlanUpdate,
    TaskLifecycle,
    ThreadLifecycle,
    ToolCallIssued,
    Uncertainty,
    Usage,
    UserMessage,
    WorkUpdate,
)
from aster.contracts.model import encode

LEARNING_TITLE = "Learning"
"""What the thread of learning is called; it is listed with no task."""


def project(db: Connection, placed: Placed) -> None:
    """Apply a thread's new records to the tables derived from it."""
    thread_id, user_id, now = placed.slot.id, placed.key.user_id, placed.slot.last_ms
    copied = _copied_until(placed)
    for event in placed.records:
        if event.depth:
            continue
        match event:
            case ThreadLifecycle():
                _lifecycle(db, event, placed.slot, user_id)
            case Usage(purpose="import"):
                pass
            case Usage():
                _usage(db, event)
                if event.seq > copied:
                    _spent(db, event, placed.key, now)
            case ToolCallIssued(grant_id=str(grant_id)) if event.seq > copied:
                note_use(db, user_id, grant_id, now)
            case UserMessage():
                _message(db, event, thread_id)
            case HitlRequest():
                _asked(db, event, thread_id, user_id, now)
            case HitlResolved():
                db.execute(
                    "UPDATE hitl_requests SET status = 'answered', answer = ?, resolved_at = ?"
                    " WHERE request_id = ?",
                    (event.answer, now, event.request_id),
                )
            case TaskLifecycle():
                _task(db, event, thread_id)
            case LearningUpdate():
                db.execute(
                    "UPDATE threads SET title = ?, parent_task_id = '' WHERE thread_id = ? AND title = ''"
                    " AND parent_task_id IS NULL",
                    (LEARNING_TITLE, thread_id),
                )
            case PlanUpdate():
                judgement.planned(db, event, thread_id, user_id, now)
            case WorkUpdate() if event.seq > copied:
                graph_deeds.place(db, user_id, event)
            case GoalStatus() if event.seq > copied:
                goals.noted(db, event, thread_id, user_id, now)
            case Uncertainty():
                judgement.wondered(db, event, thread_id, user_id, now)
            case BackgroundTask(status=status, resumed=resumed) if status != "stalled" and not resumed:
                db.execute(
                    "DELETE FROM background_output WHERE user_id = ? AND runtime_task_id = ?",
                    (user_id, event.runtime_task_id),
                )
            case ErrorEvent():
                db.execute("UPDATE turns SET error = ? WHERE turn_id = ?", (event.error, event.turn_id))
            case _:
                pass
    if placed.handed and not any(isinstance(event, ThreadLifecycle) for event in placed.records):
        slot = placed.slot
        db.execute(
            "UPDATE threads SET owner = ?, epoch = ? WHERE thread_id = ?", (slot.owner, slot.epoch, thread_id)
        )


def _lifecycle(db: Connection, event: ThreadLifecycle, slot: Slot, user_id: str) -> None:
    thread_id, now, turn_id, phase = slot.id, slot.last_ms, event.turn_id, event.phase
    if phase is Phase.STARTED:
        request = event.request or {}
        profile: dict[str, str] = request.get("agent") or {}
        agent = profile.get("label", "main")
        db.execute(
            "INSERT INTO turns (turn_id, thread_id, user_id, status, first_seq, started_at, agent)"
            " VALUES (?, ?, ?, 'running', ?, ?, ?)",
            (turn_id, thread_id, user_id, event.seq, now, agent),
        )
        parent = request.get("parent")
        if parent is not None:
            db.execute(
                "UPDATE threads SET parent_task_id = ?, home_task_id = ? WHERE thread_id = ?",
                (parent["task_id"], parent["home_task_id"], thread_id),
            )
        status = "running"
    elif phase.final:
        db.execute(
            "UPDATE turns SET status = ?, last_seq = ?, ended_at = ?, stop_reason = ? WHERE turn_id = ?",
            (phase, event.seq, now, event.stop_reason, turn_id),
        )
        db.execute(
            "UPDATE hitl_requests SET status = 'void', resolved_at = ? WHERE turn_id = ? AND status = 'pending'",
            (now, turn_id),
        )
        db.execute(
            "UPDATE threads SET status = 'idle', active_turn_id = NULL, tip_turn_id = ?, updated_at = ?,"
            " owner = ?, epoch = ?, asked_to_stop = NULL WHERE thread_id = ?",
            (turn_id, now, slot.owner, slot.epoch, thread_id),
        )
        return
    else:
        status = "suspended" if phase is Phase.SUSPENDED else "running"
        db.execute(
            "UPDATE turns SET status = ?, segment = ?, crashes = 0 WHERE turn_id = ?",
            (status, event.segment, turn_id),
        )
    db.execute(
        "UPDATE threads SET status = ?, active_turn_id = ?, updated_at = ?, owner = ?, epoch = ?,"
        " asked_to_stop = NULL WHERE thread_id = ?",
        (status, turn_id, now, slot.owner, slot.epoch, thread_id),
    )


def _usage(db: Connection, event: Usage) -> None:
    db.execute(
        "UPDATE turns SET model_calls = model_calls + ?, input_tokens = input_tokens + ?,"
        " output_tokens = output_tokens + ?, cache_read_tokens = cache_read_tokens + ?,"
        " cache_write_tokens = cache_write_tokens + ?, cost_usd = cost_usd + ?, crashes = crashes * ?"
        " WHERE turn_id = ?",
        (
            not event.estimated,
            event.input_tokens,
            event.output_tokens,
            event.cache_hit_tokens,
            event.cache_write_tokens,
            event.cost_usd or 0.0,
            event.estimated,
            event.turn_id,
        ),
    )


def _copied_until(placed: Placed) -> int:
    """The seq up to which a fork or a replay copied records; what they cost was paid for where they come from."""
    copies = (event for event in placed.records if isinstance(event, TaskLifecycle))
    return max((event.seq for event in copies if event.phase in ("forked", "replayed")), default=0)


def _spent(db: Connection, event: Usage, key: ThreadKey, now: int) -> None:
    db.execute(
        "INSERT INTO usage (user_id, task_id, turn_id, model, input_tokens, output_tokens, cache_read_tokens,"
        " cache_write_tokens, cost_usd, ts) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *key,
            event.turn_id or "",
            event.model,
            event.input_tokens,
            event.output_tokens,
            event.cache_hit_tokens,
            event.cache_write_tokens,
            event.cost_usd,
            now,
        ),
    )


def _message(db: Connection, event: UserMessage, thread_id: int) -> None:
    if event.origin in ("queue", "steer", "interrupt"):
        db.execute("DELETE FROM inbox WHERE message_id = ?", (event.message_id,))
    title = first_words(event.content)
    if title:
        db.execute("UPDATE threads SET title = ? WHERE thread_id = ? AND title = ''", (title, thread_id))


def _asked(db: Connection, event: HitlRequest, thread_id: int, user_id: str, now: int) -> None:
    db.execute(
        "INSERT INTO hitl_requests (request_id, thread_id, user_id, turn_id, kind, question, tool, tool_call_id,"
        " input, options, reason, created_at, offer) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            event.request_id,
            thread_id,
            user_id,
            event.turn_id,
            event.kind,
            event.question,
            event.tool,
            event.tool_call_id,
            None if event.input is None else encode(event.input),
            encode(event.options) if event.options else None,
            event.reason,
            now,
            None if event.offer is None else encode(event.offer),
        ),
    )


def _task(db: Connection, event: TaskLifecycle, thread_id: int) -> None:
    if event.phase == "dequeued":
        db.execute("DELETE FROM inbox WHERE message_id = ?", (event.message_id,))
    elif event.phase == "renamed":
        db.execute("UPDATE threads SET title = ? WHERE thread_id = ?", (event.title, thread_id))
    elif event.phase == "replayed":
        db.execute(
            "UPDATE threads SET from_task_id = ?, from_seq = ?, parent_task_id = ? WHERE thread_id = ?",
            (event.from_task_id, event.from_seq, event.from_task_id, thread_id),
        )
    elif event.phase == "forked":
        db.execute(
            "UPDATE threads SET from_task_id = ?, from_seq = ?, title = ?, parent_task_id = NULL, home_task_id = NULL"
            " WHERE thread_id = ?",
            (event.from_task_id, event.from_seq, event.title or "", thread_id),
        )


def put(db: Connection, row: Row, thread_id: int | None, user_id: str | None) -> None:
    """Write a row, replacing the one with the same key."""
    if isinstance(row, JournalRow):
        journal.enter(db, row)
        return
    columns = {name: getattr(row, name) for name in row.__struct_fields__}
    if thread_id is not None:
        columns |= {"thread_id": thread_id, "user_id": user_id}
    names = ", ".join(columns)
    marks = ", ".join("?" * len(columns))
    changes = ", ".join(f"{name} = excluded.{name}" for name in columns if name not in row.key)
    db.execute(
        f"INSERT INTO {row.table} ({names}) VALUES ({marks})"
        f" ON CONFLICT ({', '.join(row.key)}) DO UPDATE SET {changes}",
        list(columns.values()),
    )
