"""The coordinator: who may run, what happens to a message for a task that is busy, and how a turn is stopped.

Every decision is a guarded commit on the thread; what is kept in memory only says which turns this process is
running. So a second process, a restart or a race finds the thread in a state that explains itself.
"""

import asyncio
import logging
from collections.abc import Sequence
from functools import partial

from aster.brain.records import InboxMode, InboxRow, Row, ThreadKey
from aster.brain.unit import Conflict, Idle, Waiting
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.events import Event, Phase, TaskLifecycle, ThreadLifecycle
from aster.contracts.model import decode, encode
from aster.contracts.turn import TurnState, TurnStatus
from aster.engine_core import admission, busy, client_tools, door_places, humans, media, segments
from aster.engine_core.agents.nursery import Nursery
from aster.engine_core.casting import check_model
from aster.engine_core.cluster import neighbours
from aster.engine_core.context.clock import stamp
from aster.engine_core.fold import apply
from aster.engine_core.history import Place
from aster.engine_core.live import Live, LiveTurns
from aster.engine_core.opening import Opening, opening
from aster.engine_core.orders import Cancelled, HitlReply, OnBusy, Order, Ticket
from aster.engine_core.permissions import moded
from aster.engine_core.redaction import clean_order, clean_reply
from aster.engine_core.runner import Alive, Chore, Runner
from aster.engine_core.services import Services
from aster.engine_core.signals import Lost
from aster.engine_core.takeover import Takeover
from aster.engine_core.tasks import existing
from aster.engine_core.titles import Titles
from aster.engine_core.turn import Turn
from aster.engine_core.unbroken import Unbroken
from aster.engine_core.verifying import corrections
from aster.infra.clock import now_ms
from aster.infra.ids import new_id

log = logging.getLogger("aster.coordinator")


class Coordinator:
    def __init__(self, services: Services, runner: Runner, live: LiveTurns, titles: Titles) -> None:
        self._services = services
        self._brain = services.brain
        self._runner = runner
        self._live = live
        self._titles = titles
        self._nursery = Nursery(services, self)
        self._unbroken = Unbroken()
        self.takeover = Takeover(services, live, self._start)
        services.offspring.resting = partial(live.resting, runner)
        self.draining = False

    @property
    def slots(self) -> tuple[int, int]:
        return self._runner.slots

    async def alive(self) -> list[Alive]:
        """The replicas that share the work with this one, itself among them; empty when it works alone."""
        return await self._runner.alive()

    async def once(self, chore: str, occasion: str, work: Chore) -> None:
        """Have a chore done, by one of the replicas, for an occasion that all of them meet."""
        await self._runner.once(chore, occasion, work)

    def check(self) -> None:
        """Refuse while nothing may begin here."""
        admission.check(self._brain, self._runner, draining=self.draining)

    async def submit(self, user_id: str, order: Order) -> Ticket:
        """Take an order: start a turn, or do what it says should be done when the task is busy."""
        self.check()
        admission.check_task(order.task_id)
        check_model(self._services.settings, order.model)
        client_tools.check(order, self._services.connectors.tools(user_id).registry)
        order = await self._services.agents.cast(user_id, moded(self._services.settings, order))
        order = clean_order(self._services.secrets, order)
        key = ThreadKey(user_id, order.task_id)
        await busy.check_new(self._brain, key, order)
        await self._services.budgets.admit(key)
        ending = self._live.get(key)
        if ending is not None and ending.ending:
            await ending.gone.wait()
        if media.concerned(self._services, order):
            if key in self._live and order.on_busy is OnBusy.REJECT:
                raise await busy.refusal(self._brain, key)
            order = await media.taken_in(self._services, user_id, order)
        if key in self._live:
            return await self._busy(key, order)
        live = self._live.claim(key, order.turn_id or new_id("turn"))
        try:
            thread = await self._brain.thread(key)
            if thread is not None and thread.status != "idle":
                self._live.release(key, live)
                return await self._busy(key, order)
            if thread is None and order.follows is not None and order.follows.turn_id is not None:
                raise EngineError(ErrorCode.TASK_NOT_FOUND, f"There is no task {order.task_id!r} any more.")
            await busy.check_new(self._brain, key, order)
            live.slot = await admission.slot(self._services, self._runner, user_id)
            tip, since = (thread.tip_turn_id, thread.epoch) if thread else (None, 0)
            return await self._begin(key, live, order, Place(tip), since)
        except BaseException:
            if live.turn is None:
                self._live.release(key, live)
            raise

    async def _begin(self, key: ThreadKey, live: Live, order: Order, tip: Place, since: int) -> Ticket:
        """Start a turn, with a slot in hand as a rule; the loop begins while its first events are being committed."""
        subscription = self._brain.subscribe(key, 0)
        try:
            history = self._services.history
            said_at = self._stamp(self._services.now())
            begun = await opening(history, key, order, tip, busy.message_id(order), "user", said_at)
            done, turn = self._write_opening(key, live, begun, since=since)
        except BaseException:
            subscription.close()
            if live.slot:
                self._runner.give_back(key.user_id)
            raise
        self._start(key, live, turn, order.request_id)
        try:
            written = await asyncio.shield(done)
        except Conflict:
            subscription.close()
            live.lost = True
            if self._live.get(key) is live:
                self._runner.cancel(key)
            await live.gone.wait()
            return await self._busy(key, order)
        except BaseException:
            subscription.close()
            raise
        subscription.seek(next(event.seq for event in written if event.turn_id == live.turn_id) - 1)
        return Ticket(order.task_id, begun.message.message_id, live.turn_id, subscription)

    def _stamp(self, ms: int) -> str | None:
        return stamp(ms, self._services.settings.time_zone)

    def _write_opening(
        self, key: ThreadKey, live: Live, begun: Opening, more: Sequence[Row] = (), since: int | None = None
    ) -> "tuple[asyncio.Future[list[Event]], Turn]":
        state = TurnState(turn_id=live.turn_id)
        events: tuple[Event, ...] = (begun.started, begun.message, *begun.made)
        for event in events:
            apply(state, event)
        before, rows = begun.before, (*more, *door_places.asked(state))
        if before is not None:
            events, rows = (*before.events, *events), (before.row, *rows)
        turn = segments.fresh(self._services, key, state)
        live.turn = turn
        done = self._brain.append(key, live.turn_id, events, rows=rows, guard=Idle(since))
        turn.track(done)
        done.add_done_callback(lambda written: self._took(key, live, written))
        return done, turn

    def _took(self, key: ThreadKey, live: Live, written: "asyncio.Future[list[Event]]") -> None:
        if not written.cancelled() and written.exception() is None:
            live.since = self._brain.held(key)

    async def _busy(self, key: ThreadKey, order: Order) -> Ticket:
        """The task has a turn that runs or waits: reject, queue, steer or interrupt."""
        await busy.check_new(self._brain, key, order, self._live.get(key))
        match order.on_busy:
            case OnBusy.REJECT:
                raise await busy.refusal(self._brain, key)
            case OnBusy.QUEUE:
                return await self._leave(key, order, "queue")
            case OnBusy.STEER:
                return await self._leave(key, order, "steer")
            case OnBusy.INTERRUPT:
                ticket = await self._leave(key, order, "interrupt")
                await self.stop(key, "interrupted")
                return ticket

    async def _leave(self, key: ThreadKey, order: Order, mode: InboxMode) -> Ticket:
        """Put a message into the task's inbox; it is delivered by the turn that runs, or starts the next."""
        message_id, turn_id = busy.message_id(order), order.turn_id or new_id("turn")
        row = InboxRow(message_id=message_id, turn_id=turn_id, mode=mode, body=encode(order), created_at=now_ms())
        subscription = self._brain.subscribe(key, 0)
        live = self._live.get(key)
        turn = live.turn if live is not None else None
        try:
            if turn is not None:
                turn.arriving += 1
            queued, once = (
                TaskLifecycle(phase="queued", message_id=message_id),
                busy.left_once(self._brain, key, order),
            )
            written = await self._brain.append(key, None, [queued], rows=[row], deed=once)
        except BaseException:
            subscription.close()
            raise
        finally:
            if turn is not None:
                turn.arriving -= 1
                turn.steered = True
        subscription.seek(written[0].seq - 1)
        live = self._live.get(key)
        if live is None:
            await self.follow_up(key)
        else:
            live.followed = True
            if live.turn is not None:
                live.turn.steered = True
        return Ticket(order.task_id, message_id, turn_id, subscription, queued=True)

    def _start(self, key: ThreadKey, live: Live, turn: Turn, request_id: str | None = None) -> None:
        turn.request_id, turn.yielding = request_id, self.draining
        self._runner.start(key, self._segment(key, live, turn))

    async def _segment(self, key: ThreadKey, live: Live, turn: Turn) -> None:
        live.begun = True
        try:
            if not live.slot and live.stop_reason is None and not turn.state.request.behind:
                await turn.flush()
                live.slot = await self._runner.room(key.user_id)
                if not live.slot:
                    await self._hand_over(key, live, turn)
                    return
            if live.stop_reason is not None or live.lost:
                raise asyncio.CancelledError
            over = await segments.run(turn, self._services)
            if turn.state.status is TurnStatus.RUNNING:
                await self._hand_over(key, live, turn)
            live.followed = live.followed or not over
            request = turn.state.request
            between = request.method or request.parent is not None or request.replay is not None
            if turn.state.status is TurnStatus.COMPLETED and not between:
                self._titles.consider(turn)
                corrections.consider(turn, self._services)
        except Lost:
            log.warning("this turn was ended or taken over by someone else")
            return
        except EngineError as error:
            log.warning("turn %s stands still until the brain can be reached: %s", turn.turn_id, error.message)
            return
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if live.stop_reason is None and not live.lost:
                await self._hand_over(key, live, turn)
                raise
            if task is not None:
                task.uncancel()
            if live.lost:
                return
            await segments.cancel(turn, self._services, live.stop_reason or "cancelled")
        finally:
            if live.slot:
                self._runner.give_back(key.user_id)
            self._live.release(key, live)
        await self._nursery.ended(turn)
        if live.followed:
            await self.follow_up(key)

    async def _hand_over(self, key: ThreadKey, live: Live, turn: Turn) -> None:
        """Leave a turn as it stands to whoever goes on with it."""
        live.left = True
        try:
            await turn.flush()
            await self._brain.release(key, turn.turn_id)
        except (Conflict, Lost):
            return
        left = await self._brain.turn(key.user_id, turn.turn_id)
        if left is not None:
            await self._runner.offer(left)

    async def follow_up(self, key: ThreadKey) -> None:
        """What is next for a task nobody runs: a turn whose answers are all there, or a message that waits."""
        if self.draining or key in self._live:
            return
        thread = await self._brain.thread(key)
        if thread is not None and thread.status == "suspended" and thread.active_turn_id is not None:
            await self.go_on(key, thread.active_turn_id)
            return
        waiting = await self._brain.inbox(key)
        if not waiting or thread is None or thread.status != "idle" or key in self._live:
            return
        row = min(waiting, key=lambda item: item.mode != "interrupt")
        live = self._live.claim(key, row.turn_id, followed=True)
        try:
            order = decode(row.body, Order)
            history, tip = self._services.history, Place(thread.tip_turn_id)
            said_at = self._stamp(row.created_at)
            begun = await opening(history, key, order, tip, row.message_id, row.mode, said_at)
            _, turn = self._write_opening(key, live, begun)
        except BaseException as error:
            self._live.release(key, live)
            if not isinstance(error, EngineError) or error.code is ErrorCode.STORAGE_UNAVAILABLE:
                raise
            log.warning("a waiting message could not be run: %s", error.message)
            await self._brain.append(key, None, [TaskLifecycle(phase="dequeued", message_id=row.message_id)])
            return
        self._start(key, live, turn, order.request_id)

    async def begin_child(
        self, key: ThreadKey, turn_id: str, order: Order, tip: str | None = None, rows: Sequence[Row] = ()
    ) -> None:
        """Start the turn of a sub-agent that is on record, or one that goes on after the turn `tip` because of one; it
        waits for a slot like any other."""
        if self.draining or key in self._live:
            return
        live, origin = self._live.claim(key, turn_id), "agent" if order.parent else "engine"
        try:
            begun = await opening(self._services.history, key, order, Place(tip), new_id("msg"), origin, None)
            _, turn = self._write_opening(key, live, begun, rows)
        except BaseException:
            self._live.release(key, live)
            raise
        self._start(key, live, turn, order.request_id)

    async def cancel(self, user_id: str, task_id: str, clear_inbox: bool = False) -> Cancelled:
        """Stop the task's turn, running or waiting; returns when its end is on the thread."""
        key = ThreadKey(user_id, task_id)
        await existing(self._brain, key)
        dropped = await self._clear_inbox(key) if clear_inbox else 0
        turn_id = await self.stop(key, "cancelled")
        if turn_id is None:
            raise EngineError(
                ErrorCode.TASK_NOT_RUNNING, "The task has no turn that runs or waits.", {"task_id": task_id}
            )
        return Cancelled(task_id=task_id, turn_id=turn_id, status="cancelled", dropped_messages=dropped)

    async def _clear_inbox(self, key: ThreadKey) -> int:
        waiting = await self._brain.inbox(key)
        events = [TaskLifecycle(phase="dequeued", message_id=row.message_id) for row in waiting]
        if events:
            await self._brain.append(key, None, events)
        return len(events)

    async def stop(self, key: ThreadKey, stop_reason: str) -> str | None:
        """Stop the turn of a task, and the agents that work for it; says which turn it was, if there was one."""
        turn_id = await self._stop_turn(key, stop_reason)
        if turn_id is not None:
            await self._nursery.stopped(key.user_id, turn_id)
            await self._services.connectors.directory.abandon(key.user_id, f"{turn_id}:")
        return turn_id

    async def _stop_turn(self, key: ThreadKey, stop_reason: str) -> str | None:
        """A turn that was just being parked when it was told to stop is parked first, and stopped then; one that
        another replica runs is stopped there."""
        turn_id, thread = None, await self._brain.thread(key)
        while (live := self._live.get(key)) is not None and turn_id in (None, live.turn_id):
            live.stop_reason = stop_reason
            if live.begun:
                self._runner.cancel(key)
            await live.gone.wait()
            turn_id, thread = live.turn_id, await self._brain.thread(key)
        running = thread.active_turn_id if thread is not None and thread.status == "running" else None
        if running is not None and turn_id in (None, running) and key not in self._live:
            await neighbours.stopped(self._brain, self.takeover.take, key, running, stop_reason)
            turn_id, thread = running, await self._brain.thread(key)
        if thread is None or thread.status != "suspended" or thread.active_turn_id is None or key in self._live:
            return turn_id
        if turn_id not in (None, thread.active_turn_id):
            return turn_id
        live = self._live.claim(key, thread.active_turn_id, followed=True)
        live.stop_reason = stop_reason
        if not await self._unbroken.do(self._resume(key, live)):
            return await self._stop_turn(key, stop_reason)
        await live.gone.wait()
        return live.turn_id

    async def resume(self, key: ThreadKey, turn_id: str) -> bool:
        """Go on with a suspended turn whose questions are all answered; false when someone else does."""
        if key in self._live or (self.draining and not self._runner.shared):
            return False
        return await self._unbroken.do(self._resume(key, self._live.claim(key, turn_id, followed=True)))

    async def _resume(self, key: ThreadKey, live: Live) -> bool:
        try:
            turn = await segments.load(self._services, key, live.turn_id)
            resumed = ThreadLifecycle(phase=Phase.RESUMED, segment=turn.state.segment + 1)
            await self._brain.append(key, live.turn_id, [resumed], guard=Waiting(live.turn_id))
            live.since = self._brain.held(key)
            live.turn = await segments.load(self._services, key, live.turn_id)
        except BaseException as error:
            self._live.release(key, live)
            if isinstance(error, Conflict):
                return False
            raise
        self._start(key, live, live.turn)
        return True

    async def recover(self) -> None:
        """At boot: take up what nobody runs. Where there are other replicas, one of them looks after that always."""
        await corrections.recover(self._services)
        if not self._runner.shared:
            await self.takeover.everything()
            await self.mend()

    async def mend(self, younger_ms: int = 0) -> None:
        """Finish what was left half done: sub-agents, answers nobody went on with, messages that wait."""
        await self._nursery.recover(younger_ms)
        await humans.reconsider(self._services, await self._brain.budget_requests())
        for record in await self._brain.answered_turns():
            try:
                await self.resume(ThreadKey(record.user_id, record.task_id), record.turn_id)
            except Exception:  # one that cannot be read must not keep the others from going on
                log.exception("turn %s cannot go on", record.turn_id)
        for key in await self._brain.waiting_threads():
            await self.follow_up(key)

    async def drain(self, seconds: float) -> bool:
        """Stop admitting, let turns reach a safe boundary, then leave the rest for the next start."""
        self.draining = True
        await self._runner.leave()
        await self._titles.close()
        await self._services.corrections.close()
        await self._services.teams.close()
        for live in self._live:
            if live.turn is not None:
                live.turn.yielding = True
        await self._unbroken.idle(seconds)
        done = await self._runner.idle(seconds)
        await self._runner.stop()
        return done

    async def answer(self, user_id: str, reply: HitlReply) -> tuple[str, str]:
        """Take a person's answer; the turn goes on when nothing else is open."""
        reply = await media.answered(self._services, clean_reply(self._services.secrets, reply))
        request, *others = await humans.answer(self._services, user_id, reply)
        for other in others:
            await self.go_on(ThreadKey(user_id, other.task_id), other.turn_id)
        key = ThreadKey(user_id, request.task_id)
        resumed = await self.go_on(key, request.turn_id)
        return "resumed" if resumed else "answered", request.request_id

    async def reconsider(self, user_id: str) -> None:
        """A budget of this user has changed: go on with the turns it stopped, if they may now."""
        waiting = await self._brain.pending_requests(user_id)
        for request in await humans.reconsider(self._services, waiting):
            await self.go_on(ThreadKey(user_id, request.task_id), request.turn_id)

    async def begin_day(self) -> None:
        """A new day has begun: go on with the turns that yesterday's money was not enough for."""
        waiting = await self._brain.budget_requests()
        for request in await humans.reconsider(self._services, waiting):
            await self.go_on(ThreadKey(request.user_id, request.task_id), request.turn_id)

    async def go_on(self, key: ThreadKey, turn_id: str) -> bool:
        """Go on if nothing is open any more. A turn still on its way to being parked does so by itself then."""
        if await self._brain.waits(key.user_id, turn_id):
            return False
        return await self.resume(key, turn_id) or key in self._live
