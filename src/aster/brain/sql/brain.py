"""A brain in SQL: what one writer, a few readers and the fan-out make of the queries, whichever the database."""

import asyncio
from collections.abc import Sequence

from aster.brain.agents import AgentRow, SubagentRecord
from aster.brain.background import BackgroundRecord
from aster.brain.changes import Changes
from aster.brain.compaction_records import CompactionRow, WayBack
from aster.brain.corrections import CorrectionRecord
from aster.brain.doors import DoorPlace
from aster.brain.fanout import Fanout, Subscription
from aster.brain.grants import GrantRow, PastCall
from aster.brain.holds import Cap, HoldRow, Purse
from aster.brain.judgement import PlanRecord, RecurringUnknown, UncertaintyRecord
from aster.brain.marks import MarkRow
from aster.brain.records import (
    ArtifactRecord,
    ConversationRow,
    FileVersion,
    Frame,
    HitlRecord,
    InboxRow,
    KeyRow,
    ObservabilityRow,
    Place,
    QuotaRow,
    Row,
    SnapshotRow,
    ThreadKey,
    ThreadRecord,
    TrajectoryRow,
    TurnRecord,
)
from aster.brain.signals import Said, Signal, Target
from aster.brain.skills import SkillRow
from aster.brain.sql import (
    agents,
    background,
    compactions,
    context,
    corrections,
    doors,
    holds,
    judgement,
    kept,
    marks,
    owners,
    permissions,
    queries,
    retention,
    signals,
    skills,
)
from aster.brain.sql.asset_brain import AssetBrain
from aster.brain.sql.connection import Connection
from aster.brain.sql.money_brain import MoneyBrain
from aster.brain.sql.running import Reads, Writes
from aster.brain.unit import Deed, Guard, Hand, Left, Owned, Unit
from aster.contracts.events import Event
from aster.contracts.turn import Doubt
from aster.infra.clock import now_ms
from aster.infra.ids import new_id

ROOM = 2000


class SqlBrain(AssetBrain, MoneyBrain):
    """Everything a brain does once it is open; opening and closing is for each database."""

    _readers: Reads
    _writer: Writes
    _loop: asyncio.AbstractEventLoop
    shared = False

    def __init__(self) -> None:
        self.replica = new_id("replica")
        self.changes = Changes()
        self.fanout = Fanout(self.frames)

    @property
    def fault(self) -> str | None:
        """Why nothing can be written at the moment, if so."""
        return self._writer.fault

    @property
    def backlog(self) -> int:
        """Units that wait for the next commit."""
        return self._writer.backlog

    @property
    def written(self) -> tuple[int, int]:
        """Commits and events since the start."""
        return self._writer.commits, self._writer.events

    def append(
        self,
        key: ThreadKey,
        turn_id: str | None,
        events: Sequence[Event],
        *,
        rows: Sequence[Row] = (),
        guard: Guard | None = None,
        deed: Deed | None = None,
        beside: Sequence[ThreadKey] = (),
    ) -> "asyncio.Future[list[Event]]":
        done: asyncio.Future[list[Event]] = self._loop.create_future()
        self._writer.submit(Unit(key, turn_id, events, rows, guard, done, deed=deed, beside=tuple(beside)))
        return done

    def emit(self, key: ThreadKey, turn_id: str, event: Event) -> None:
        self._writer.submit(Unit(key, turn_id, (event,), (), Owned(turn_id)))

    def take(self, key: ThreadKey, turn_id: str, epoch: int) -> "asyncio.Future[list[Event]]":
        """Take a running turn that nobody has taken since this epoch; `Conflict` when somebody has."""
        done: asyncio.Future[list[Event]] = self._loop.create_future()
        self._writer.submit(Unit(key, turn_id, (), (), Left(turn_id, epoch), done, Hand.TAKE))
        return done

    def release(self, key: ThreadKey, turn_id: str, epoch: int | None = None) -> "asyncio.Future[list[Event]]":
        """Leave a running turn to whoever wants it; nothing more can be written to it from here. With an epoch it is
        somebody else's, who will not come back; `Conflict` when anybody has taken it since."""
        done: asyncio.Future[list[Event]] = self._loop.create_future()
        guard = Owned(turn_id) if epoch is None else Left(turn_id, epoch)
        self._writer.submit(Unit(key, turn_id, (), (), guard, done, Hand.LEAVE))
        return done

    def held(self, key: ThreadKey) -> int | None:
        """The epoch since which this process has a thread's turn, None without one; the thread's own is greater when
        somebody has taken it since."""
        return self._writer.held(key)

    async def running_by(self) -> dict[str | None, int]:
        """Who runs turns, and how many; None for those that nobody has."""
        return await self._readers.run(owners.running_by)

    async def ask_to_stop(self, key: ThreadKey, turn_id: str, stop_reason: str) -> bool:
        """Ask whoever runs a turn to stop it; False when nobody does."""

        def job(db: Connection) -> bool:
            asked = owners.ask_to_stop(db, key, turn_id, stop_reason)
            self._writer.forget(key)
            return asked

        return bool(await self._writer.run(job))

    async def count_crash(self, user_id: str, turn_id: str) -> int:
        """One more process died over this segment; how many that makes."""
        count = await self._writer.run(lambda db: owners.count_crash(db, user_id, turn_id))
        assert isinstance(count, int)
        return count

    def put(self, *rows: Row) -> "asyncio.Future[list[Event]]":
        done: asyncio.Future[list[Event]] = self._loop.create_future()
        self._writer.submit(Unit(None, None, (), rows, None, done))
        return done

    async def room(self) -> None:
        """Wait while too much is waiting to be committed (the disk is slow or full)."""
        while self._writer.backlog > ROOM:
            await asyncio.sleep(0.02)

    def subscribe(self, key: ThreadKey, after_seq: int) -> Subscription:
        return self.fanout.subscribe(key, after_seq)

    async def thread(self, key: ThreadKey) -> ThreadRecord | None:
        return await self._readers.run(queries.thread, key)

    async def threads(
        self,
        user_id: str,
        *,
        limit: int,
        before: Place | None = None,
        status: str | None = None,
        search: str | None = None,
        parent: str | None = None,
    ) -> list[ThreadRecord]:
        return await self._readers.run(
            queries.threads, user_id, limit=limit, before=before, status=status, search=search, parent=parent
        )

    async def delete_thread(self, key: ThreadKey) -> str | None:
        def job(db: Connection) -> str | None:
            status = retention.delete_thread(db, key)
            self._writer.forget(key)
            return status

        status = await self._writer.run(job)
        assert status is None or isinstance(status, str)
        return status

    async def frames(self, key: ThreadKey, after_seq: int, limit: int, turn_id: str | None = None) -> list[Frame]:
        return await self._readers.run(queries.frames, key, after_seq, limit, turn_id)

    async def seq_at(self, key: ThreadKey, after_ms: int) -> int:
        return await self._readers.run(queries.seq_at, key, after_ms)

    async def head(self, key: ThreadKey) -> int:
        return await self._readers.run(queries.head, key)

    async def records(self, key: ThreadKey, turn_id: str, after_seq: int) -> list[tuple[str, bytes]]:
        return await self._readers.run(queries.records, key, turn_id, after_seq)

    async def turn(self, user_id: str, turn_id: str) -> TurnRecord | None:
        return await self._readers.run(queries.turn, user_id, turn_id)

    async def turns(self, key: ThreadKey) -> list[TurnRecord]:
        return await self._readers.run(queries.turns, key)

    async def running_turns(self, *, owner: str | None = None) -> list[TurnRecord]:
        return await self._readers.run(queries.running_turns, owner=owner)

    async def answered_turns(self) -> list[TurnRecord]:
        return await self._readers.run(queries.answered_turns)

    async def waiting_threads(self) -> list[ThreadKey]:
        return await self._readers.run(queries.waiting_threads)

    async def conversations(self, key: ThreadKey) -> list[ConversationRow]:
        return await self._readers.run(queries.conversations, key)

    async def way_back(self, key: ThreadKey, turn_id: str, messages: int | None) -> WayBack:
        return await self._readers.run(compactions.way_back, key, turn_id, messages)

    async def compaction(self, user_id: str, compaction_id: str) -> CompactionRow | None:
        return await self._readers.run(compactions.compaction, user_id, compaction_id)

    async def compaction_failures(self, key: ThreadKey) -> int:
        return await self._readers.run(compactions.failures, key)

    async def snapshot(self, user_id: str, turn_id: str) -> SnapshotRow | None:
        return await self._readers.run(queries.snapshot, user_id, turn_id, now_ms())

    async def trajectory(self, user_id: str, turn_id: str) -> TrajectoryRow | None:
        return await self._readers.run(queries.trajectory, user_id, turn_id)

    async def inbox(self, key: ThreadKey) -> list[InboxRow]:
        return await self._readers.run(queries.inbox, key)

    async def pending_requests(self, user_id: str, task_id: str | None = None) -> list[HitlRecord]:
        return await self._readers.run(queries.pending_requests, user_id, task_id)

    async def request(self, user_id: str, request_id: str) -> HitlRecord | None:
        return await self._readers.run(queries.request, user_id, request_id)

    async def budget_requests(self) -> list[HitlRecord]:
        return await self._readers.run(queries.budget_requests)

    async def purse(self, key: ThreadKey, since: int, now: int) -> Purse:
        return await self._readers.run(holds.purse_of, key, since, now)

    async def hold(self, row: HoldRow, caps: Sequence[Cap], since: int, now: int) -> bool:
        return bool(await self._writer.run(lambda db: holds.hold(db, row, caps, since, now)))

    async def renew_holds(self, hold_ids: Sequence[str], expires_at: int) -> None:
        await self._writer.run(lambda db: holds.renew(db, self.replica, hold_ids, expires_at))

    async def owners(self) -> set[str]:
        return await self._readers.run(holds.owners, now_ms())

    async def drop_holds(self, owner: str | None) -> None:
        await self._writer.run(lambda db: holds.drop(db, owner))

    async def marks(self) -> dict[str, str]:
        return await self._readers.run(marks.marks)

    async def settle_mark(self, row: MarkRow) -> str:
        return str(await self._writer.run(lambda db: marks.settle(db, row)))

    async def keys(self) -> list[KeyRow]:
        return await self._readers.run(queries.keys)

    async def observations(self, user_id: str, *, limit: int, kind: str | None = None) -> list[ObservabilityRow]:
        return await self._readers.run(queries.observations, user_id, limit=limit, kind=kind)

    async def quota_windows(self) -> list[QuotaRow]:
        return await self._readers.run(queries.quota_windows, now_ms())

    async def manifests(
        self,
        key: ThreadKey,
        *,
        turn_id: str | None = None,
        after: int = 0,
        before: int | None = None,
        limit: int | None = None,
    ) -> list[bytes]:
        return await self._readers.run(
            context.manifests, key, turn_id=turn_id, after=after, before=before, limit=limit
        )

    async def artifacts(self, key: ThreadKey) -> list[ArtifactRecord]:
        return await self._readers.run(kept.artifacts, key)

    async def artifact(self, user_id: str, artifact_id: str) -> tuple[ArtifactRecord, bytes] | None:
        return await self._readers.run(kept.artifact, user_id, artifact_id)

    async def file_versions(self, key: ThreadKey, turn_id: str | None) -> list[FileVersion]:
        return await self._readers.run(kept.file_versions, key, turn_id)

    async def grants(self, user_id: str) -> list[GrantRow]:
        return await self._readers.run(permissions.grants, user_id, now_ms())

    async def grants_for(self, key: ThreadKey, agent: str) -> list[GrantRow]:
        return await self._readers.run(permissions.grants_for, key, agent, now_ms())

    async def drop_grant(self, user_id: str, grant_id: str) -> bool:
        return bool(await self._writer.run(lambda db: permissions.drop_grant(db, user_id, grant_id)))

    async def past_calls(self, user_id: str, threads: int, limit: int) -> list[PastCall]:
        return await self._readers.run(permissions.past_calls, user_id, threads, limit)

    async def plan(self, key: ThreadKey) -> PlanRecord | None:
        return await self._readers.run(judgement.plan, key)

    async def uncertainties(self, key: ThreadKey) -> list[UncertaintyRecord]:
        return await self._readers.run(judgement.uncertainties, key)

    async def doubt(self, key: ThreadKey, item_id: str) -> Doubt | None:
        return await self._readers.run(judgement.doubt, key, item_id)

    async def recurring_unknowns(self, user_id: str, limit: int) -> list[RecurringUnknown]:
        return await self._readers.run(judgement.recurring, user_id, limit)

    async def background_task(self, key: ThreadKey, runtime_task_id: str) -> BackgroundRecord | None:
        return await self._readers.run(background.background_task, key, runtime_task_id)

    async def background_untold(self, key: ThreadKey) -> list[BackgroundRecord]:
        return await self._readers.run(background.untold, key)

    async def background_untold_threads(self) -> list[ThreadKey]:
        return await self._readers.run(background.untold_threads)

    async def background_running(self) -> list[BackgroundRecord]:
        return await self._readers.run(background.running)

    async def background_of(self, user_id: str) -> list[BackgroundRecord]:
        return await self._readers.run(background.of_user, user_id)

    async def background_output(
        self, key: ThreadKey, runtime_task_id: str, offset: int = 0
    ) -> list[tuple[int, str]]:
        return await self._readers.run(background.output, key, runtime_task_id, offset)

    async def stop_background(self, key: ThreadKey, runtime_task_id: str, why: str) -> bool:
        return bool(await self._writer.run(lambda db: background.ask_to_stop(db, key, runtime_task_id, why)))

    async def background_owned(self) -> dict[str, str | None]:
        return await self._readers.run(background.of_owner, self.replica)

    async def end_background(self, key: ThreadKey, runtime_task_id: str) -> bool:
        return bool(await self._writer.run(lambda db: background.end(db, key, runtime_task_id, self.replica)))

    async def take_background(self, record: BackgroundRecord) -> bool:
        return bool(await self._writer.run(lambda db: background.take_over(db, record, self.replica)))

    async def corrections(self, key: ThreadKey, now: int) -> list[CorrectionRecord]:
        return await self._readers.run(corrections.untold, key, now)

    async def correction_threads(self, now: int) -> list[ThreadKey]:
        return await self._readers.run(corrections.threads, now)

    async def door_places(self, user_id: str, fingerprints: Sequence[str]) -> list[DoorPlace]:
        return await self._readers.run(doors.places, user_id, fingerprints)

    async def keep_signal(self, signal: Signal, *, learn: bool = False) -> Signal | None:
        kept = await self._writer.run(lambda db: signals.keep(db, signal, learn=learn))
        assert kept is None or isinstance(kept, Signal)
        return kept

    async def signals(
        self,
        user_id: str,
        *,
        limit: int,
        before: int | None = None,
        target: Target | None = None,
        task_id: str | None = None,
    ) -> list[Signal]:
        return await self._readers.run(
            signals.page, user_id, limit=limit, before=before, target=target, task_id=task_id
        )

    async def drop_signal(self, user_id: str, signal_id: str) -> bool:
        return bool(await self._writer.run(lambda db: signals.drop(db, user_id, signal_id)))

    async def said(self, key: ThreadKey, message_id: str) -> Said | None:
        return await self._readers.run(signals.said, key, message_id)

    async def skills(self, user_id: str) -> list[SkillRow]:
        return await self._readers.run(skills.skills, user_id)

    async def drop_skill(self, user_id: str, name: str) -> bool:
        return bool(await self._writer.run(lambda db: skills.drop_skill(db, user_id, name)))

    async def agents(self, user_id: str) -> list[AgentRow]:
        return await self._readers.run(agents.agents, user_id)

    async def drop_agent(self, user_id: str, name: str) -> bool:
        return bool(await self._writer.run(lambda db: agents.drop_agent(db, user_id, name)))

    async def subagent(self, user_id: str, child_turn_id: str) -> SubagentRecord | None:
        return await self._readers.run(agents.subagent, user_id, child_turn_id)

    async def subagents(self, user_id: str, turn_id: str) -> list[SubagentRecord]:
        return await self._readers.run(agents.of_turn, user_id, turn_id)

    async def subagents_of(self, key: ThreadKey) -> list[SubagentRecord]:
        return await self._readers.run(agents.of_task, key)

    async def subagents_running(self) -> list[SubagentRecord]:
        return await self._readers.run(agents.running)

    async def subagents_untold_threads(self) -> list[ThreadKey]:
        return await self._readers.run(agents.untold_threads)

    async def offspring(self, home: ThreadKey, root_turn_id: str) -> tuple[int, float]:
        return await self._readers.run(agents.of_root, home, root_turn_id)

    async def waits(self, user_id: str, turn_id: str) -> bool:
        return await self._readers.run(agents.waits, user_id, turn_id)

    async def counts(self) -> dict[str, int]:
        return await self._readers.run(queries.counts)

    async def retain(self, *, deltas_before: int, observations_before: int) -> int:
        """One small step of retention; returns how many rows went, zero when there is nothing left to do."""
        now = now_ms()
        folded = await self._writer.run(lambda db: retention.fold_deltas(db, deltas_before, now))
        pruned = await self._writer.run(lambda db: retention.prune(db, now, observations_before))
        assert isinstance(folded, int)
        assert isinstance(pruned, int)
        return folded + pruned
