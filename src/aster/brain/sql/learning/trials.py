"""Trials and their runs. A trial is open until it is promoted or retired; from then on nothing about it changes but by
taking its promotion back."""

from collections.abc import Sequence
from typing import Any, Final

from msgspec.structs import replace

from aster.brain.sql.connection import Connection
from aster.contracts.learning import ChangeItem, Changeset, Trial, TrialRun, TrialStatus
from aster.contracts.model import decode, encode

TAKEN_BACK: Final = "It was taken back."
_OPEN: Final = "status IN ('waiting', 'running', 'undecided')"


def begin(db: Connection, changeset: Changeset, item: ChangeItem, now: int) -> str:
    """Let an item prove itself; the trial's id."""
    trial = Trial(
        trial_id=f"{changeset.changeset_id}-{item.place}",
        user_id=changeset.user_id,
        kind=item.kind,
        fields=item.fields,
        changeset_id=changeset.changeset_id,
        place=item.place,
        status="waiting",
        created_at=now,
        task_id=item.task_id,
        first_seq=item.first_seq,
        last_seq=item.last_seq,
        quote=item.quote,
    )
    db.execute(
        "INSERT INTO trials (trial_id, user_id, kind, status, changeset_id, place, record_id, task_id, body,"
        " created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *(trial.trial_id, trial.user_id, trial.kind, trial.status, trial.changeset_id, trial.place),
            *(trial.record_id, trial.task_id, encode(trial), now),
        ),
    )
    return trial.trial_id


def held(db: Connection, user_id: str, trial_id: str) -> Trial | None:
    """A trial that is open, for nobody else until the end of the transaction."""
    found = _select(db, f"user_id = ? AND trial_id = ? AND {_OPEN}{db.dialect.lock}", (user_id, trial_id))
    return found[0] if found else None


def update(db: Connection, trial: Trial) -> None:
    db.execute(
        "UPDATE trials SET status = ?, record_id = ?, task_id = ?, body = ?, decided_at = ?"
        " WHERE user_id = ? AND trial_id = ?",
        (
            *(trial.status, trial.record_id, trial.task_id, encode(replace(trial, runs=(), number=0))),
            *(trial.decided_at, trial.user_id, trial.trial_id),
        ),
    )


def end(db: Connection, user_id: str, trial_id: str, reason: str, now: int) -> bool:
    """Retire a trial, whatever it came to so far; False when it was promoted."""
    found = _select(db, f"user_id = ? AND trial_id = ?{db.dialect.lock}", (user_id, trial_id))
    if found and found[0].status == "promoted":
        return False
    for trial in found:
        if trial.status != "retired":
            update(db, replace(trial, status="retired", reason=reason, decided_at=now))
    return True


def taken_back(db: Connection, user_id: str, record_id: str, now: int) -> None:
    """What a trial was promoted to is gone."""
    for trial in _select(
        db,
        f"user_id = ? AND record_id = ? AND record_id <> '' AND status = 'promoted'{db.dialect.lock}",
        (user_id, record_id),
    ):
        update(db, replace(trial, status="retired", record_id="", reason=TAKEN_BACK, decided_at=now))


def page(
    db: Connection, user_id: str, *, limit: int, status: TrialStatus | None = None, before: int | None = None
) -> list[Trial]:
    """Newest first."""
    condition, params = "user_id = ?", list[Any]([user_id])
    for clause, value in (("status = ?", status), ("number < ?", before)):
        if value is not None:
            condition, params = f"{condition} AND {clause}", [*params, value]
    return _select(db, f"{condition} ORDER BY number DESC LIMIT ?", [*params, limit])


def one(db: Connection, user_id: str, trial_id: str) -> Trial | None:
    found = _select(db, "user_id = ? AND trial_id = ?", (user_id, trial_id))
    if not found:
        return None
    runs = db.execute(
        "SELECT body FROM trial_runs WHERE user_id = ? AND trial_id = ? ORDER BY at, turn_id, arm",
        (user_id, trial_id),
    )
    return replace(found[0], runs=tuple(decode(body, TrialRun) for (body,) in runs))


def open_ones(db: Connection, user_id: str | None) -> list[Trial]:
    whose, params = ("", ()) if user_id is None else ("user_id = ? AND ", (user_id,))
    return _select(db, f"{whose}{_OPEN} ORDER BY number", params)


def keep_run(db: Connection, user_id: str, run: TrialRun) -> None:
    if held(db, user_id, run.trial_id) is not None:
        db.execute(
            "INSERT INTO trial_runs (trial_id, turn_id, arm, user_id, task_id, body, at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (trial_id, turn_id, arm) DO NOTHING",
            (run.trial_id, run.turn_id, run.arm, user_id, run.task_id, encode(run), run.at),
        )


def _select(db: Connection, condition: str, params: Sequence[object]) -> list[Trial]:
    found = db.execute(f"SELECT number, body FROM trials WHERE {condition}", params).fetchall()
    return [replace(decode(body, Trial), number=number) for number, body in found]
