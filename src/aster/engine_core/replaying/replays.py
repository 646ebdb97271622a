"""Replays: recorded turns that run again on hidden threads of their own, and the reports of what came of them.

A replay is a turn like any other, so a crash does not lose it; its thread belongs to the task it is from and is deleted
with it. Asked for again under the same id it is not run again: the report is made of the two threads.
"""

import msgspec

from aster.brain.records import ThreadKey, ThreadRecord, TurnRecord
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.events import CompactionEvent, Event, Phase, ThreadLifecycle, decode_event
from aster.contracts.messages import Message
from aster.contracts.replay import RecordedView, ReplayReport, ReplaySummary, ReplayWish
from aster.contracts.turn import Replay, TurnRequest
from aster.engine_core.admission import check_task
from aster.engine_core.casting import check_model
from aster.engine_core.coordinator import Coordinator
from aster.engine_core.history import Place
from aster.engine_core.orders import Order
from aster.engine_core.replaying import comparing, kept, recorded
from aster.engine_core.replaying.opening import Opening, opened
from aster.engine_core.replaying.recollecting import recollected
from aster.engine_core.replaying.recorded import Recorded
from aster.engine_core.services import Services
from aster.engine_core.tasks import existing
from aster.engine_core.unbroken import Unbroken
from aster.infra.clock import iso_ms
from aster.infra.ids import new_id

_views = msgspec.json.Decoder(tuple[Message, ...])


class Replays:
    def __init__(self, services: Services, coordinator: Coordinator) -> None:
        self._services = services
        self._brain = services.brain
        self._coordinator = coordinator
        self._unbroken = Unbroken()

    async def run(self, user_id: str, wish: ReplayWish, replay_task_id: str | None = None) -> ReplayReport:
        """Replay a turn and wait for its end. Under an id that is a replay already, that one is waited for."""
        started = await self.start(user_id, wish, replay_task_id)
        return await self.ended(user_id, wish.task_id, started)

    async def start(self, user_id: str, wish: ReplayWish, replay_task_id: str | None = None) -> str:
        """Begin a replay; the id of its task. Under an id that is a replay of the task already, nothing is begun."""
        key = ThreadKey(user_id, replay_task_id or new_id("replay"))
        check_task(key.task_id)
        if replay_task_id is None or await self._brain.thread(key) is None:
            self._coordinator.check()
            await self._services.budgets.admit(key)
            opening = await self._opening(user_id, wish)
            begun = self._coordinator.takeover.begin(key, opening.turn_id, opening.events, opening.rows)
            if await self._unbroken.do(begun):
                return key.task_id
        thread = await existing(self._brain, key)
        if not kept.is_replay(thread, wish.task_id):
            message = f"A task {key.task_id!r} exists already, and is no replay of this one."
            raise EngineError(ErrorCode.TASK_EXISTS, message, {"replay_task_id": key.task_id})
        return key.task_id

    async def ended(self, user_id: str, task_id: str, replay_task_id: str) -> ReplayReport:
        """The report of a replay once it has ended."""
        key = ThreadKey(user_id, replay_task_id)
        turn = await self._found(user_id, task_id, replay_task_id)
        with self._brain.subscribe(key, turn.first_seq - 1) as subscription:
            over = turn.ended_at is not None
            while not over:
                if self._coordinator.draining:
                    raise EngineError(
                        ErrorCode.DRAINING,
                        "The engine is going away; the replay goes on with the next one. Ask for its report then.",
                        {"task_id": task_id, "replay_task_id": replay_task_id},
                        retry_after=2.0,
                    )
                for frame in await subscription.next(self._services.settings.heartbeat_seconds):
                    over = over or (frame.turn_id == turn.turn_id and frame.grade == "end")
        return await self.report(user_id, task_id, replay_task_id)

    async def report(self, user_id: str, task_id: str, replay_task_id: str) -> ReplayReport:
        """What a replay came to, or has come to so far."""
        turn = await self._found(user_id, task_id, replay_task_id)
        replayed = await recorded.load(self._brain, ThreadKey(user_id, replay_task_id), turn.turn_id)
        replay = replayed.state.request.replay
        assert replay is not None, "the turn was chosen because it is one"
        source = await recorded.load(self._brain, ThreadKey(user_id, task_id), replay.turn_id)
        return comparing.report(replay, replay_task_id, source, replayed)

    async def listed(self, user_id: str, task_id: str) -> list[ReplaySummary]:
        """The replays of a task, the newest first."""
        await existing(self._brain, ThreadKey(user_id, task_id))
        found = await kept.replays_of(self._brain, ThreadKey(user_id, task_id))
        return sorted(map(_summary, found), key=lambda one: one.created_at, reverse=True)

    async def source(
        self, user_id: str, task_id: str, turn_id: str | None, from_seq: int | None = None
    ) -> Recorded:
        """The recorded turn that is meant: the one named, the one at a seq, or the newest; refused if it cannot be
        replayed."""
        key = ThreadKey(user_id, task_id)
        await existing(self._brain, key)
        turns = [
            turn
            for turn in await self._brain.turns(key)
            if turn.model_calls or turn.ended_at is None or turn.turn_id == turn_id
        ]
        chosen = await self._chosen(key, turns, turn_id, from_seq)
        if chosen.ended_at is None:
            raise EngineError(
                ErrorCode.TASK_BUSY,
                "This turn still runs or waits; it can be replayed when it has ended.",
                {"task_id": task_id, "turn_id": chosen.turn_id},
            )
        found = await recorded.load(self._brain, key, chosen.turn_id)
        if found.state.request.method or all(step.usage.purpose == "import" for step in found.steps):
            raise _unfit("turn_id", "is a turn in which no model was asked; there is nothing to replay", task_id)
        return found

    async def history(self, key: ThreadKey, found: Recorded) -> list[Message]:
        """The conversation before a recorded turn, as its model was shown it."""
        state = found.state
        return await self._services.history.load(key, Place(state.follows_turn_id, state.follows_messages))

    async def views(self, user_id: str, events: list[Event]) -> list[RecordedView]:
        """What the conversation was compacted to by these records."""
        found: list[RecordedView] = []
        for event in events:
            if isinstance(event, CompactionEvent) and event.ok and event.compaction_id is not None:
                row = await self._brain.compaction(user_id, event.compaction_id)
                if row is not None:
                    messages = _views.decode(row.messages)
                    view = RecordedView(compaction_id=row.compaction_id, covers=row.covers, messages=messages)
                    found.append(view)
        return found

    async def _chosen(
        self, key: ThreadKey, turns: list[TurnRecord], turn_id: str | None, from_seq: int | None
    ) -> TurnRecord:
        if turn_id is not None:
            named = next((turn for turn in turns if turn.turn_id == turn_id), None)
            if named is None:
                raise EngineError(
                    ErrorCode.NOT_FOUND,
                    f"There is no turn {turn_id!r} in this task. GET /tasks/{{task_id}} lists its turns.",
                    {"task_id": key.task_id, "turn_id": turn_id},
                )
            turns = [named]
        if from_seq is not None:
            first = turns[0].first_seq if turns else 1
            last = turns[0].last_seq or await self._brain.head(key) if turn_id else await self._brain.head(key)
            if not first <= from_seq <= last:
                raise _unfit("from_seq", f"must be between {first} and {last}", key.task_id)
            turns = [turn for turn in turns if turn.first_seq <= from_seq]
        if not turns:
            raise _unfit(
                "task_id", "has no turn in which a model was asked; there is nothing to replay", key.task_id
            )
        return turns[-1]

    async def _opening(self, user_id: str, wish: ReplayWish) -> Opening:
        key = ThreadKey(user_id, wish.task_id)
        found = await self.source(user_id, wish.task_id, wish.turn_id, wish.from_seq)
        step = found.steps[_kept(found, wish.from_seq)]
        taken = [event for event in found.events if event.seq <= step.floor]
        thread = await existing(self._brain, key)
        history = await self.history(key, found)
        then = recorded.read(found.state.turn_id, taken)
        replay = Replay(
            task_id=wish.task_id,
            turn_id=found.state.turn_id,
            home_task_id=thread.home_task_id or wish.task_id,
            kept=len(then.steps),
            from_seq=step.floor,
            memory=wish.memory,
            soul=wish.memory != "none" and found.state.request.parent is None,
            unrecorded=wish.unrecorded,
            background=wish.background,
            max_usd=wish.max_usd,
            paid_usd=then.state.cost_usd,
        )
        request = await self._request(user_id, wish, then.state.request, replay)
        recalled = await recollected(self._services, user_id, wish, found.events, history)
        views = await self.views(user_id, taken)
        return opened(key, new_id("turn"), request, history, taken, views, recalled)

    async def _request(self, user_id: str, wish: ReplayWish, then: TurnRequest, replay: Replay) -> TurnRequest:
        """How the turn was asked for, with what is to be different."""
        model = wish.model or then.model
        check_model(self._services.settings, wish.model)
        order = Order(task_id=wish.task_id, message="", agent=wish.agent, model=wish.model)
        cast = await self._services.agents.cast(user_id, order)
        return msgspec.structs.replace(
            then,
            model=cast.model or model,
            agent=then.agent if wish.agent is None else cast.profile,
            instructions=then.instructions if wish.instructions is None else wish.instructions,
            echo={},
            place="",
            parent=None,
            budget=(),
            replay=replay,
        )

    async def _found(self, user_id: str, task_id: str, replay_task_id: str) -> TurnRecord:
        """The turn of a replay."""
        key = ThreadKey(user_id, replay_task_id)
        thread = await self._brain.thread(key)
        if thread is None or not kept.is_replay(thread, task_id):
            raise EngineError(
                ErrorCode.NOT_FOUND,
                f"{replay_task_id!r} is no replay of this task. GET /tasks/{{task_id}}/replays lists them.",
                {"task_id": task_id, "replay_task_id": replay_task_id},
            )
        for turn in await self._brain.turns(key):
            frames = await self._brain.frames(key, turn.first_seq - 1, 1)
            begun = decode_event(frames[0].json)
            if isinstance(begun, ThreadLifecycle) and begun.phase is Phase.STARTED and _replays(begun):
                return turn
        raise AssertionError("a replay has the turn that makes it one")


def _replays(begun: ThreadLifecycle) -> bool:
    return (begun.request or {}).get("replay") is not None


def _kept(found: Recorded, from_seq: int | None) -> int:
    """How many model calls are taken as they were: always those that a client had made elsewhere."""
    made = sum(step.usage.purpose == "import" for step in found.steps)
    if from_seq is None:
        return made
    return max(made, sum(step.floor <= from_seq for step in found.steps) - 1)


def _summary(thread: ThreadRecord) -> ReplaySummary:
    return ReplaySummary(
        replay_task_id=thread.task_id,
        task_id=thread.from_task_id or "",
        from_seq=thread.from_seq or 0,
        status="ended" if thread.status == "idle" else "running",
        created_at=iso_ms(thread.created_at),
    )


def _unfit(field: str, problem: str, task_id: str) -> EngineError:
    return EngineError(
        ErrorCode.INVALID_REQUEST,
        f"Correct this and send it again: `{field}` {problem}.",
        {"fields": [{"field": field, "problem": problem}], "task_id": task_id},
    )
