"""`LearningStore` in SQL: each method one function of this folder. Whatever compares before it sets runs on the one
writer, in a transaction of its own."""

from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import Concatenate, ParamSpec, TypeVar, cast

from aster.brain.learning import Claim, Decision, Entry, QueueState, Rows
from aster.brain.sql.connection import Connection
from aster.brain.sql.learning import activity, applying, committing, journal, kept, states, trials
from aster.brain.sql.running import Reads, Writes
from aster.contracts.learning import (
    Changeset,
    ChangesetKind,
    ChangesetStatus,
    EntryState,
    Trial,
    TrialRun,
    TrialStatus,
)
from aster.infra.clock import now_ms

P = ParamSpec("P")
T = TypeVar("T")


class SqlLearning:
    def __init__(self, writer: Writes, readers: Reads) -> None:
        self._writer = writer
        self._readers = readers

    async def claim(
        self, holder: str, *, now: int, until: int, limit: int, user_id: str | None = None
    ) -> list[Entry]:
        return await self._change(journal.claim, holder, now=now, until=until, limit=limit, user_id=user_id)

    async def keep_claim(self, claim: Claim, until: int) -> bool:
        return await self._change(journal.keep_claim, claim, until)

    async def give_back(self, claim: Claim, due_at: int) -> None:
        await self._change(journal.give_back, claim, due_at)

    async def give_up(self, claim: Claim, due_at: int, problem: str, most: int) -> None:
        await self._change(journal.give_up, claim, due_at, problem, most)

    async def forsaken(self) -> None:
        """Whoever worked on something is gone, as nobody else can have this brain open: what they had is free at
        once."""
        if await self._readers.run(journal.claimed):
            await self._change(journal.forsaken)

    async def active_at(self, now: int) -> int | None:
        return await self._readers.run(activity.active_at, now)

    async def queue(self, user_id: str | None) -> QueueState:
        return await self._readers.run(journal.queue, user_id, now_ms())

    async def entries(
        self, user_id: str, *, limit: int, before: int | None = None, state: EntryState | None = None
    ) -> list[Entry]:
        return await self._readers.run(journal.entries, user_id, limit=limit, before=before, state=state)

    async def requeue(self, user_id: str, number: int) -> bool:
        return await self._change(journal.requeue, user_id, number)

    async def waiting_users(self, now: int, user_id: str | None = None) -> list[str]:
        return await self._readers.run(journal.waiting_users, now, user_id)

    async def commit(
        self, changeset: Changeset, *, apply: bool, claim: Claim | None, now: int, rows: Rows = MappingProxyType({})
    ) -> Changeset | None:
        return await self._change(committing.commit, changeset, apply=apply, claim=claim, now=now, rows=rows)

    async def holders(self, rows: Rows) -> dict[int, set[str]]:
        return await self._readers.run(applying.holders, rows)

    async def decide(
        self, user_id: str, changeset_id: str, decision: Decision, *, by: str, now: int, places: Sequence[int] = ()
    ) -> Changeset | None:
        return await self._change(committing.decide, user_id, changeset_id, decision, by=by, now=now, places=places)

    async def changeset(self, user_id: str, changeset_id: str) -> Changeset | None:
        return await self._readers.run(kept.one, user_id, changeset_id)

    async def changesets(
        self,
        user_id: str,
        *,
        limit: int,
        before: int | None = None,
        status: ChangesetStatus | None = None,
        kind: ChangesetKind | None = None,
        night: str | None = None,
    ) -> list[Changeset]:
        return await self._readers.run(
            kept.page, user_id, limit=limit, before=before, status=status, kind=kind, night=night
        )

    async def learned_as(self, user_id: str, record_id: str) -> tuple[Changeset, int] | None:
        return await self._readers.run(kept.learned_as, user_id, record_id)

    async def trials(
        self, user_id: str, *, limit: int, status: TrialStatus | None = None, before: int | None = None
    ) -> list[Trial]:
        return await self._readers.run(trials.page, user_id, limit=limit, status=status, before=before)

    async def trial(self, user_id: str, trial_id: str) -> Trial | None:
        return await self._readers.run(trials.one, user_id, trial_id)

    async def open_trials(self, user_id: str | None = None) -> list[Trial]:
        return await self._readers.run(trials.open_ones, user_id)

    async def keep_run(self, user_id: str, run: TrialRun) -> None:
        await self._change(trials.keep_run, user_id, run)

    async def settle_trial(
        self, trial: Trial, promotion: Changeset | None, *, now: int, rows: Rows = MappingProxyType({})
    ) -> bool:
        return await self._change(committing.settle, trial, promotion, now=now, rows=rows)

    async def state(self, user_id: str, name: str) -> str | None:
        return await self._readers.run(states.state, user_id, name)

    async def keep_state(self, user_id: str, name: str, value: str, now: int) -> None:
        await self._change(states.keep, user_id, name, value, now)

    async def retain(self, done_before: int, limit: int) -> int:
        return await self._change(journal.retain, done_before, limit)

    async def _change(self, job: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        return cast("T", await self._writer.run(lambda db: job(db, *args, **kwargs)))
