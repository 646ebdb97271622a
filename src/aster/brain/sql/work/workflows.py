"""Runs of workflows and their journals in SQL: looking, and taking a run."""

from collections.abc import Sequence
from hashlib import sha256
from typing import Any, Final

from aster.brain.sql.connection import Connection
from aster.brain.sql.running import Reads, Writes
from aster.brain.workflows import Take, Taken, WorkflowCall, WorkflowRun, sealed
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.events import Event, WorkflowUpdate
from aster.infra.clock import now_ms

_RUN: Final = WorkflowRun.__struct_fields__
_CALL: Final = WorkflowCall.__struct_fields__
_RUNNING: Final = ("running", "suspended")
_STANDING: Final = (
    f"SELECT {', '.join(f'r.{name}' for name in _RUN)}, t.status FROM workflow_runs r"
    " LEFT JOIN turns t ON t.turn_id = r.turn_id"
)


def run(db: Connection, user_id: str, run_id: str) -> WorkflowRun | None:
    found = db.execute(f"{_STANDING} WHERE r.user_id = ? AND r.run_id = ?", (user_id, run_id)).fetchone()
    return None if found is None else _run(found)


def runs(
    db: Connection, user_id: str, *, limit: int, task_id: str | None = None, before: int | None = None
) -> list[WorkflowRun]:
    where, given = ["r.user_id = ?"], list[object]((user_id,))
    if task_id is not None:
        where.append("r.task_id = ?")
        given.append(task_id)
    if before is not None:
        where.append("r.created_at < ?")
        given.append(before)
    sql = f"{_STANDING} WHERE {' AND '.join(where)} ORDER BY r.created_at DESC, r.run_id LIMIT ?"
    return [_run(row) for row in db.execute(sql, (*given, limit))]


def calls(db: Connection, user_id: str, run_id: str) -> list[WorkflowCall]:
    sql = (
        f"SELECT {', '.join(_CALL)} FROM workflow_calls WHERE user_id = ? AND run_id = ?"
        " ORDER BY created_at, call_key"
    )
    return [_call(row) for row in db.execute(sql, (user_id, run_id))]


def ask_to_stop(db: Connection, user_id: str, run_id: str) -> bool:
    found = run(db, user_id, run_id)
    if found is None or found.status != "running":
        return False
    db.execute("UPDATE workflow_runs SET cancelling = 1 WHERE user_id = ? AND run_id = ?", (user_id, run_id))
    return True


class SqlTake:
    """A run is given to a call when the writer calls this, if it may be."""

    def __init__(self, order: Take) -> None:
        self._order = order
        self._outcome: Taken | None = None

    @property
    def outcome(self) -> Taken:
        assert self._outcome is not None, "a run is known once it is taken"
        return self._outcome

    def __call__(self, db: Connection, /) -> Sequence[Event]:
        order, now = self._order, now_ms()
        db.dialect.hold(db, f"workflow {order.run_id}")
        found = run(db, order.user_id, order.run_id)
        if found is None:
            if order.resume:
                raise EngineError(ErrorCode.NOT_FOUND, f"There is no run {order.run_id[:80]!r} to resume.")
            _begin(db, order, now)
        else:
            _check(order, found)
            _check_journal(found, calls(db, order.user_id, order.run_id))
            db.execute(
                "UPDATE workflow_runs SET status = 'running', holder = ?, turn_id = ?, attempts = attempts + 1,"
                " cancelling = CASE WHEN holder = ? THEN cancelling ELSE 0 END, problem = '', ended_at = NULL,"
                " updated_at = ? WHERE user_id = ? AND run_id = ?",
                (order.holder, order.turn_id, order.holder, now, order.user_id, order.run_id),
            )
        taken = run(db, order.user_id, order.run_id)
        assert taken is not None
        self._outcome = Taken(run=taken, calls=tuple(calls(db, order.user_id, order.run_id)))
        action = "started" if found is None else "resumed"
        return [WorkflowUpdate(run_id=taken.run_id, workflow=taken.workflow, action=action, attempt=taken.attempts)]


class SqlWorkflows:
    def __init__(self, writer: Writes, readers: Reads) -> None:
        self._writer = writer
        self._readers = readers

    def take(self, order: Take) -> SqlTake:
        return SqlTake(order)

    async def run(self, user_id: str, run_id: str) -> WorkflowRun | None:
        return await self._readers.run(run, user_id, run_id)

    async def runs(
        self, user_id: str, *, limit: int, task_id: str | None = None, before: int | None = None
    ) -> list[WorkflowRun]:
        return await self._readers.run(runs, user_id, limit=limit, task_id=task_id, before=before)

    async def calls(self, user_id: str, run_id: str) -> list[WorkflowCall]:
        return await self._readers.run(calls, user_id, run_id)

    async def ask_to_stop(self, user_id: str, run_id: str) -> bool:
        return bool(await self._writer.run(lambda db: ask_to_stop(db, user_id, run_id)))


def _begin(db: Connection, order: Take, now: int) -> None:
    db.execute(
        "INSERT INTO workflow_runs (run_id, thread_id, user_id, task_id, workflow, args, args_digest, status, holder,"
        " turn_id, attempts, result, created_at, updated_at) SELECT ?, thread_id, user_id, task_id, ?, ?, ?, 'running',"
        " ?, ?, 1, ?, ?, ? FROM threads WHERE user_id = ? AND task_id = ?",
        (
            *(order.run_id, order.workflow, order.args, order.args_digest, order.holder, order.turn_id),
            *(b"", now, now, order.user_id, order.task_id),
        ),
    )


def _check(order: Take, found: WorkflowRun) -> None:
    """Refuse to go on with another workflow, other arguments, elsewhere, or what somebody is at."""
    if found.holder == order.holder:
        return
    if found.task_id != order.task_id:
        raise _refused(found, "other_task", f"belongs to the task {found.task_id!r}; resume it there")
    if found.workflow != order.workflow:
        raise _refused(
            found, "other_workflow", f"is one of the workflow {found.workflow!r}, not of {order.workflow!r}"
        )
    if found.args_digest != order.args_digest:
        raise _refused(
            found, "other_args", "was begun with other arguments; resume it with the same ones, or start a new run"
        )
    if found.status == "running":
        raise _refused(found, "running", "is being run at this moment; wait for its end, or cancel it first")


def _check_journal(found: WorkflowRun, journal: Sequence[WorkflowCall]) -> None:
    if sha256(found.args).hexdigest() != found.args_digest:
        raise _refused(found, "damaged", "cannot be resumed: its arguments are not what was written down")
    damaged = next((call for call in journal if sealed(call) != call.digest), None)
    if damaged is not None:
        label = f" ({damaged.label[:80]})" if damaged.label else ""
        raise _refused(found, "damaged", f"cannot be resumed: its journal is damaged{label}; start a new run")


def _refused(found: WorkflowRun, reason: str, why: str) -> EngineError:
    details = {"run_id": found.run_id, "reason": reason}
    return EngineError(ErrorCode.WORK_CONFLICT, f"The run {found.run_id} {why}.", details)


def _run(row: tuple[Any, ...]) -> WorkflowRun:
    *columns, turn_status = row
    fields: dict[str, Any] = dict(zip(_RUN, columns, strict=True))
    if fields["status"] == "running" and turn_status not in _RUNNING:
        fields["status"] = "interrupted"
    fields["cancelling"] = bool(fields["cancelling"])
    fields |= {"args": _bytes(fields["args"]), "result": _bytes(fields["result"])}
    return WorkflowRun(**fields)


def _call(row: tuple[Any, ...]) -> WorkflowCall:
    fields: dict[str, Any] = dict(zip(_CALL, row, strict=True))
    fields["result"] = _bytes(fields["result"])
    return WorkflowCall(**fields)


def _bytes(value: Any) -> bytes:
    """What stands in a column, even when something else was put there."""
    return value.encode() if isinstance(value, str) else bytes(value)
