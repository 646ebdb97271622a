"""The learning centre: who is to learn what, and when. It runs its works one after the other for a person, tells on the
learning thread how each went, and survives whatever one of them does.

No turn ever waits for it; a failure is written down and tried again later, and what was decided about a changeset takes
effect at once.
"""

import asyncio
import logging
from collections.abc import Sequence
from typing import Final

import msgspec

from aster.brain.learning import Decision, QueueState
from aster.brain.signals import Signal
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.learning import Changeset
from aster.contracts.model import Contract, encode
from aster.engine_core.engine import Engine
from aster.infra.logging import bind
from aster.infra.settings import Settings
from aster.learning_centre import told
from aster.learning_centre.batch import Batch
from aster.learning_centre.dream import Dream
from aster.learning_centre.proposals import Skills
from aster.learning_centre.self_play import play
from aster.learning_centre.self_play.challenge import Cluster
from aster.learning_centre.self_play.cycle import STOPPED
from aster.learning_centre.trials import Trials
from aster.learning_centre.watchdog import Watchdog
from aster.learning_centre.work import Work
from aster.learning_centre.workbench import Deferred, Workbench, counted

log = logging.getLogger("aster.learning")

RAN: Final = "ran:"


class Ran(Contract):
    """How a work went for a person, and when (in milliseconds)."""

    work: str
    outcome: str
    at: int
    changeset_id: str = ""
    reason: str = ""


_ran = msgspec.json.Decoder(Ran)


def works(settings: Settings) -> tuple[Work, ...]:
    """Everything there is to do, in the order it is done: what happened first, then what follows from it."""
    return (Batch(settings.lc_idle_seconds), Dream(), Trials(), Skills(), play.SelfPlay())


class LearningCentre:
    """Made around an engine that has started; `close` it before the engine stops."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.works = {work.name: work for work in works(engine.settings)}
        self._doors: dict[str, asyncio.Lock] = {}
        self._under_way: set[asyncio.Task[list[Ran]]] = set()
        self._playing: dict[str, asyncio.Task[list[Ran]]] = {}
        self._watchdog = Watchdog(self)
        self._queue: QueueState | None = None
        engine.raven.bind_gauges(
            {
                "learning_backlog": lambda: self._queue.waiting if self._queue is not None else 0,
                "learning_set_aside": lambda: self._queue.set_aside if self._queue is not None else 0,
            }
        )

    def start(self) -> None:
        if self.by_itself:
            self._watchdog.start()

    async def close(self) -> None:
        """Begin nothing any more; what is under way is left as if it had not begun."""
        await self._watchdog.close()
        under_way = list(self._under_way)
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)

    @property
    def by_itself(self) -> bool:
        """Whether it learns without being asked to."""
        settings = self.engine.settings
        return settings.learning == "on" or (
            settings.learning == "auto" and bool(settings.llm_pool_worker or settings.light_model)
        )

    async def measure(self) -> None:
        """Look up how much waits, for the metrics."""
        self._queue = await self.engine.brain.learning.queue(None)

    async def next_run(self) -> int | None:
        """When everything is run again by the schedule; None when it never is."""
        return await self._watchdog.next_run()

    def bench(self, *, yields: bool = False) -> Workbench:
        return Workbench(self.engine, yields=yields)

    async def asked(self, user_id: str, names: Sequence[str], *, wait: bool) -> list[Ran]:
        """A person wants these works done now, all of them when none is named. Without `wait` they are begun."""
        if self.engine.settings.learning == "off":
            raise EngineError(
                ErrorCode.INVALID_REQUEST, "Learning is off. Start the engine with LEARNING=auto or on."
            )
        unknown = [name for name in names if name not in self.works]
        if unknown:
            raise EngineError(
                ErrorCode.INVALID_REQUEST,
                f"There is no work {unknown[0]!r}. Choose from: {', '.join(self.works)}.",
                {"fields": [{"field": "works", "problem": "names an unknown work"}]},
            )
        await self.bench().note(user_id, "run", "started", "Somebody asked to learn from what has happened.")
        chosen = [work for name, work in self.works.items() if not names or name in names]
        task = self._begun(user_id, chosen)
        return await asyncio.shield(task) if wait else []

    def _begun(self, user_id: str, chosen: Sequence[Work], door: str = "") -> "asyncio.Task[list[Ran]]":
        running = self.run(self.bench(), user_id, chosen, door)
        task = asyncio.create_task(running, name=f"learning {user_id}")
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        return task

    async def told(self, signal: Signal) -> None:
        """A person has said something of a turn or a memory: it takes effect without waiting for the night."""
        bench = self.bench()
        kept = await told.corrected(bench, signal)
        if kept is not None:
            await self._tell(bench, signal.user_id, kept.kind, kept)
        elif self.by_itself and (signal.correction or signal.text):
            self._begun(signal.user_id, [self.works[Batch.name]])

    async def untold(self, user_id: str, signal_id: str) -> None:
        """What a person had said is taken back, and so is what it did."""
        await told.taken_back(self.bench(), user_id, signal_id)

    async def play(self, user_id: str, cluster: Cluster | None, cycles: int, *, wait: bool) -> list[Ran]:
        """A person wants so many challenges to be met now. Without `wait` they are begun."""
        play.check(self.engine.settings, self.engine.sandbox.report)
        if self.playing(user_id):
            raise EngineError(ErrorCode.TASK_BUSY, "Self-play is under way. POST /learning/self-play/stop ends it.")
        work = play.AskedFor(self.engine.services.now(), cycles, cluster)
        task = self._playing[user_id] = self._begun(user_id, [work], work.name)
        task.add_done_callback(lambda _: self._playing.pop(user_id, None))
        return await asyncio.shield(task) if wait else []

    def playing(self, user_id: str) -> bool:
        """Whether challenges that a person asked for are being met here."""
        return user_id in self._playing

    async def stop_playing(self, user_id: str) -> None:
        """End self-play of a person, wherever it runs; when this returns, none of it runs here."""
        now = self.engine.services.now()
        await self.engine.brain.learning.keep_state(user_id, STOPPED, str(now), now)
        under_way = self._playing.get(user_id)
        if under_way is not None:
            await asyncio.wait([under_way])

    async def run(self, bench: Workbench, user_id: str, chosen: Sequence[Work], door: str = "") -> list[Ran]:
        """Run works for a person, one after the other (those of one `door` at a time); whoever is told to wait ends
        the row."""
        done: list[Ran] = []
        async with self._doors.setdefault(f"{door}\x1f{user_id}", asyncio.Lock()):
            with bind(user_id=user_id):
                for work in chosen:
                    done += await self._rounds(bench, user_id, work)
                    if done and done[-1].outcome == "deferred":
                        break
        return done

    async def _rounds(self, bench: Workbench, user_id: str, work: Work) -> list[Ran]:
        """Run a work as often as there is something to do, until it does not get on."""
        done: list[Ran] = []
        while len(done) < work.rounds and await work.due(bench, user_id):
            done.append(await self._one(bench, user_id, work))
            if not done[-1].changeset_id:
                break
        return done

    async def _one(self, bench: Workbench, user_id: str, work: Work) -> Ran:
        await bench.note(user_id, work.name, "started", f"The {work.name} begins.")
        try:
            kept = await work.run(bench, user_id)
        except Deferred as deferred:
            await bench.note(user_id, work.name, "deferred", f"It goes on later: {deferred.reason}.")
            return await self._went(
                bench, user_id, Ran(work=work.name, outcome="deferred", at=bench.now(), reason=deferred.reason)
            )
        except EngineError as error:
            return await self._failed(bench, user_id, work, error.message)
        except Exception as error:  # the boundary of work nobody waits for
            log.exception("a piece of learning failed unexpectedly")
            return await self._failed(bench, user_id, work, str(error)[:500] or repr(error))
        await self._tell(bench, user_id, work.name, kept)
        status, name = (kept.status, kept.changeset_id) if kept is not None else ("nothing", "")
        return await self._went(
            bench, user_id, Ran(work=work.name, outcome=status, at=bench.now(), changeset_id=name)
        )

    async def _tell(self, bench: Workbench, user_id: str, work: str, kept: Changeset | None) -> None:
        if kept is None:
            await bench.note(user_id, work, "finished", "There was nothing to do.")
            return
        self.engine.raven.learned(kept.kind, kept.status, counted(kept.items))
        await bench.note(
            user_id,
            work,
            "finished",
            kept.title or "There was nothing to learn.",
            changeset_id=kept.changeset_id,
            status=kept.status,
            items=counted(kept.items),
            entries=kept.entries,
            cost_usd=kept.cost_usd,
        )

    async def _failed(self, bench: Workbench, user_id: str, work: Work, why: str) -> Ran:
        self.engine.raven.note(
            "learning_failed", "warning", f"the {work.name} failed and is tried again", error=why
        )
        await bench.note(user_id, work.name, "failed", f"It failed and is tried again later: {why}")
        return await self._went(bench, user_id, Ran(work=work.name, outcome="failed", at=bench.now(), reason=why))

    async def _went(self, bench: Workbench, user_id: str, ran: Ran) -> Ran:
        await bench.store.keep_state(user_id, f"{RAN}{ran.work}", encode(ran).decode(), ran.at)
        return ran

    async def last(self, user_id: str) -> list[Ran]:
        """How each work went the last time it was run for a person."""
        store = self.engine.brain.learning
        kept = [await store.state(user_id, f"{RAN}{name}") for name in self.works]
        return [_ran.decode(one) for one in kept if one is not None]

    async def decide(
        self, user_id: str, changeset_id: str, decision: Decision, places: Sequence[int] = ()
    ) -> Changeset:
        """Accept, reject or revert a changeset, or some of its items."""
        bench = self.bench()
        done = await bench.store.decide(user_id, changeset_id, decision, by=user_id, now=bench.now(), places=places)
        if done is None:
            raise await self._undecidable(user_id, changeset_id, decision)
        self.engine.memory.learned(user_id)
        if done.kind == "skills":
            self.engine.skills.changed(user_id)
        self.engine.raven.learned(done.kind, done.status, counted(done.items))
        await bench.note(
            user_id,
            done.kind,
            "decided",
            f"{done.title}: {done.status}.",
            changeset_id=done.changeset_id,
            status=done.status,
            items=counted(done.items),
        )
        return done

    async def settled(self, user_id: str, name: str, decision: Decision) -> None:
        """A person has approved or deleted a skill on the shelf: so is decided about the changeset that proposed it."""
        for one in await self.engine.brain.learning.changesets(
            user_id, limit=MOST_PROPOSED, status="proposed", kind="skills"
        ):
            if any(item.fields.get("name") == name for item in one.items):
                await self.decide(user_id, one.changeset_id, decision)

    async def _undecidable(self, user_id: str, changeset_id: str, decision: Decision) -> EngineError:
        known = await self.engine.brain.learning.changeset(user_id, changeset_id)
        if known is None:
            message = f"There is no changeset {changeset_id!r}. GET /learning/changesets lists them."
            return EngineError(ErrorCode.NOT_FOUND, message)
        ready = "applied" if decision == "revert" else "proposed"
        return EngineError(
            ErrorCode.INVALID_REQUEST,
            f"Changeset {changeset_id!r} is {known.status}; only one that is {ready} can be {_DONE[decision]}.",
            {"status": known.status},
        )

    async def revert_night(self, user_id: str, night: str) -> list[Changeset]:
        """Take back everything that was learned in a night, the newest first."""
        found = await self.engine.brain.learning.changesets(
            user_id, limit=MOST_OF_A_NIGHT, status="applied", night=night
        )
        done: list[Changeset] = []
        for one in found:
            try:
                done.append(await self.decide(user_id, one.changeset_id, "revert"))
            except EngineError as error:
                if error.code is not ErrorCode.INVALID_REQUEST:  # else somebody has just taken it back themselves
                    raise
        return done


MOST_OF_A_NIGHT: Final = 10_000
MOST_PROPOSED: Final = 100
_DONE: Final[dict[Decision, str]] = {"accept": "accepted", "reject": "rejected", "revert": "reverted"}
