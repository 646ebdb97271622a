"""Commands that outlive their turn: the ones that run in this engine, from their start to their end on the thread.

A command is on its thread before it runs, and its end, with all that is kept of its output, is one commit. It
outlives the turn and not the engine: what still ran when an engine died is `lost`, and the next start, or another
replica, says so. What it says is written down while it runs, and it can be ended from any replica.
"""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import replace
from hashlib import blake2b
from typing import Final, Literal, TypeAlias

from aster.brain.background import (
    ENDING,
    BackgroundEndRow,
    BackgroundRecord,
    BackgroundRow,
    BackgroundSaidRow,
    BackgroundStallRow,
)
from aster.brain.protocol import Brain
from aster.brain.records import Row, ThreadKey
from aster.brain.unit import Conflict, Present
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.events import BackgroundTask
from aster.infra.clock import now_ms
from aster.infra.secret_stream import SecretStream
from aster.infra.secrets import Secrets
from aster.infra.settings import Settings
from aster.sandbox.backend import Command, Completed, Sandbox
from aster.sandbox.limits import Limits
from aster.utility_directory import background_lost as lost
from aster.utility_directory.background_begun import Begun, artifact_of, named
from aster.utility_directory.background_elsewhere import Elsewhere
from aster.utility_directory.background_parts import Parts
from aster.utility_directory.background_running import Running
from aster.utility_directory.background_stall import END_CHARS, asks

log = logging.getLogger("aster.background")

End: TypeAlias = Literal["completed", "failed", "killed", "timeout"]

SUMMARY_CHARS: Final = 500
DESCRIPTION_CHARS: Final = 200
START_SECONDS: Final = 0.05
"""How long a start is watched: what cannot be started at all fails the call."""

STOP_SECONDS: Final = 10.0
WRITE_SECONDS: Final = 0.8
"""How often what a command says is written down."""

_CORES: Final = 4


class TooMany(Exception):
    """The user has as many commands running as there may be."""


async def _nobody_wakes(key: ThreadKey) -> None:
    del key


class Background:
    """All background commands of an engine. `untold` are threads on which one may have ended or come to a halt without
    the model knowing, with a number that changes whenever one does; `wake` goes on with a task because one has ended
    that was to wake it."""

    def __init__(self, settings: Settings, brain: Brain, secrets: Secrets) -> None:
        self._brain = brain
        self._secrets = secrets
        self.most_seconds = settings.bash_background_seconds
        self.most_commands = settings.bash_background_limit
        usual = Limits.of(settings)
        self._limits = replace(usual, cpu_seconds=max(usual.cpu_seconds, int(self.most_seconds) * _CORES))
        self._running: dict[tuple[ThreadKey, str], Running] = {}
        self._closed = False
        self._stall_seconds = settings.bash_stall_seconds
        self.wake: Callable[[ThreadKey], Awaitable[None]] = _nobody_wakes
        self.untold: Counter[ThreadKey] = Counter()
        self.elsewhere = Elsewhere(brain)

    async def recover(self, *, alone: bool = True) -> None:
        """At boot: where nobody else has the brain open, what ran when the engine stopped is lost."""
        if alone:
            for record in await self._brain.background_running():
                await self._lose(record)
        self.untold.update(await self._brain.background_untold_threads())

    async def lose(self, owner: str) -> None:
        """A replica has died: what it ran is lost."""
        for record in await self._brain.background_running():
            if record.owner in (owner, owner + ENDING):
                await self._lose(record)

    async def look_again(self) -> None:
        """Another replica may have asked for something to end, or have taken this one for dead."""
        told = [running for running in self._running.values() if running.on_thread.done()]
        if not told:
            return
        owned = await self._brain.background_owned()
        for running in told:
            why = owned.get(running.begun.runtime_task_id, "it was taken for lost")
            if why is not None:
                running.stop(why)

    async def _lose(self, record: BackgroundRecord) -> None:
        key = ThreadKey(record.user_id, record.task_id)
        spool = await self.elsewhere.spool(key, record.runtime_task_id)
        if await lost.tell(self._brain, record, spool):
            self.untold[key] += 1

    def get(self, key: ThreadKey, runtime_task_id: str) -> Running | None:
        return self._running.get((key, runtime_task_id))

    async def record(self, key: ThreadKey, runtime_task_id: str) -> BackgroundRecord | None:
        """What the brain knows of a command of this task."""
        return await self._brain.background_task(key, runtime_task_id)

    async def start(self, begun: Begun, sandbox: Sandbox, command: Command) -> None:
        """Run a command behind the turn. Returns when it is on the thread and did not fail at once."""
        place = begun.key, begun.runtime_task_id
        others = await self.elsewhere.count(begun.key.user_id)
        if self._closed:
            raise EngineError(ErrorCode.DRAINING, "The engine is shutting down; nothing is started any more.")
        if others + sum(key.user_id == begun.key.user_id for key, _ in self._running) >= self.most_commands:
            raise TooMany
        running = self._running[place] = Running(
            replace(begun, description=self._secrets.clean(begun.description, "model"))
        )
        command = replace(command, limits=self._limits, everything=True)
        running.task = asyncio.create_task(
            self._see_through(running, sandbox, command), name=f"background {begun.runtime_task_id}"
        )
        try:
            await asyncio.shield(running.on_thread)
            await asyncio.wait([running.task], timeout=START_SECONDS)
        except asyncio.CancelledError:
            running.stop("the turn was cancelled before it had started")
            raise
        finally:
            running.starting = False
        if running.failure is not None:
            raise running.failure

    async def stop(self, key: ThreadKey, why: str) -> None:
        """Kill what runs for a task, here and elsewhere; returns when all ends are on its thread."""
        await self._stop([running for (owner, _), running in self._running.items() if owner == key], why)
        await self.elsewhere.stop_all(key, why)

    async def close(self) -> None:
        """Kill everything: the engine stops."""
        self._closed = True
        await self._stop(list(self._running.values()), "the engine was stopped")

    async def _stop(self, commands: list[Running], why: str) -> None:
        """The processes are gone in any case; a brain that cannot be written is not waited for without end."""
        for running in commands:
            running.stop(why)
        tasks = [running.task for running in commands if running.task is not None]
        if not tasks:
            return
        _, unwritten = await asyncio.wait(tasks, timeout=STOP_SECONDS)
        for task in unwritten:
            log.error("the end of a background command could not be written in time (%s)", task.get_name())
            task.cancel()
        await asyncio.gather(*unwritten, return_exceptions=True)

    async def _see_through(self, running: Running, sandbox: Sandbox, command: Command) -> None:
        begun = running.begun
        try:
            await self._begin(running)
            writing = asyncio.create_task(self._write_down(running), name=f"output of {begun.runtime_task_id}")
            try:
                done, status = await self._run(running, sandbox, command)
            finally:
                writing.cancel()
            await self._end(running, done, status)
        except Conflict:
            log.info("a task was deleted while a command of it ran in the background")
        except EngineError as error:
            log.error("what became of a background command could not be kept: %s", error.message)
        finally:
            self._running.pop((begun.key, begun.runtime_task_id), None)
            running.over.set()
        if begun.wake and not self._closed:
            try:
                await self.wake(begun.key)
            except Exception:  # the boundary to turns: whoever looks for what was left undone wakes it then
                log.exception("a task could not be woken by the end of its command")

    async def _begin(self, running: Running) -> None:
        begun = running.begun
        event = BackgroundTask(
            runtime_task_id=begun.runtime_task_id,
            work="bash",
            status="running",
            description=begun.description,
            tool_call_id=begun.tool_call_id,
        )
        row = BackgroundRow(
            runtime_task_id=begun.runtime_task_id,
            turn_id=begun.turn_id,
            tool_call_id=begun.tool_call_id,
            work="bash",
            description=begun.description,
            started_at=now_ms(),
            owner=self._brain.replica,
            wake=begun.wake,
            work_item=begun.work_item,
        )
        try:
            await asyncio.shield(self._brain.append(begun.key, None, [event], rows=[row], guard=Present()))
        except (Conflict, EngineError) as error:
            running.on_thread.set_exception(error)
            raise
        except asyncio.CancelledError:
            pass  # stopped before it began: its end follows the beginning, which is committed in any case
        running.on_thread.set_result(None)

    async def _run(self, running: Running, sandbox: Sandbox, command: Command) -> tuple[Completed | None, End]:
        """Run the command to its end, whatever that is."""

        def hear(text: str, stream: str) -> None:
            sieve = running.sieves.get(stream)
            if sieve is None:
                sieve = running.sieves[stream] = SecretStream(self._secrets, "tool", shapes=True)
            running.say(sieve.feed(text))

        done: Completed | None = None
        status: End = "failed"
        try:
            if running.stopped is None:
                done = await sandbox.run(command, hear)
                status = _status(done)
        except asyncio.CancelledError:
            pass
        except EngineError as error:
            running.failure = error
        except Exception as error:  # the boundary to the sandbox: the command's end must be told
            log.exception("a background command failed unexpectedly")
            running.failure = EngineError(
                ErrorCode.INTERNAL, f"The command could not be run: {type(error).__name__}."
            )
        for sieve in running.sieves.values():
            running.say(sieve.finish())
        last = running.failure.message if running.failure else done.exceeded if done else None
        if last is not None:
            running.say(f"\n{self._secrets.clean(last, 'engine')}\n")
        return done, status if running.stopped is None else "killed"

    async def _write_down(self, running: Running) -> None:
        """Keep what it says where others can read it, also when this engine dies, and notice when it seems to wait."""
        begun, parts = running.begun, Parts(running.begun.runtime_task_id)
        while True:
            await asyncio.sleep(WRITE_SECONDS)
            waits = not running.stalled and self._waits(running)
            rows: list[Row] = [*parts.due(running.spool)]
            if rows:
                rows.append(BackgroundSaidRow(runtime_task_id=begun.runtime_task_id, said=running.spool.size))
            turned = waits or (running.stalled and bool(rows))
            try:
                if turned:
                    await self._turn(running, rows, stalled=waits)
                elif rows:
                    await self._brain.append(begun.key, None, [], rows=rows, guard=Present())
            except (Conflict, EngineError) as error:
                log.warning("what a background command said can only be read where it runs: %s", error)
                return

    def _waits(self, running: Running) -> bool:
        """Whether it has been silent for so long after a question that it will not go on by itself."""
        silent = time.monotonic() - running.spoke
        if not self._stall_seconds or silent < self._stall_seconds or running.ending:
            return False
        running.flush()
        return asks(running.spool.read(running.spool.size - END_CHARS, END_CHARS).text)

    async def _turn(self, running: Running, rows: list[Row], *, stalled: bool) -> None:
        """Say that it seems to wait for an answer, or that it goes on after all."""
        begun, spool = running.begun, running.spool
        running.stalled = stalled
        end = spool.read(spool.size - SUMMARY_CHARS, SUMMARY_CHARS).text
        event = BackgroundTask(
            runtime_task_id=begun.runtime_task_id,
            work="bash",
            status="stalled" if stalled else "running",
            description=begun.description,
            summary=end.strip() if stalled else None,
            tool_call_id=begun.tool_call_id,
            resumed=not stalled,
        )
        row = BackgroundStallRow(runtime_task_id=begun.runtime_task_id, stalled_at=now_ms() if stalled else None)
        await self._brain.append(begun.key, None, [event], rows=[*rows, row], guard=Present())
        if stalled:
            self.untold[begun.key] += 1
        running.nudge()

    async def _end(self, running: Running, done: Completed | None, status: End) -> None:
        begun, spool = running.begun, running.spool
        running.ending = True
        if self._brain.shared and not await self._ended_here(begun):
            log.warning("a background command ended here after others had taken it for lost")
            return
        now, text = now_ms(), spool.text
        artifact = artifact_of(begun, text, now) if text else None
        exit_code = done.exit_code if done is not None and status != "killed" else None
        event = BackgroundTask(
            runtime_task_id=begun.runtime_task_id,
            work="bash",
            status=status,
            description=begun.description,
            summary=f"Killed: {running.stopped}." if status == "killed" else text[-SUMMARY_CHARS:].strip() or None,
            exit_code=exit_code,
            tool_call_id=begun.tool_call_id,
            artifacts=() if artifact is None else (named(artifact),),
        )
        end = BackgroundEndRow(
            runtime_task_id=begun.runtime_task_id,
            status=status,
            ended_at=now,
            exit_code=exit_code,
            artifact_id=None if artifact is None else artifact.artifact_id,
            left_out=spool.left_out,
            said=spool.size,
            wake=begun.wake and (status != "killed" or self._closed),
            told_at=now if running.failure is not None and running.starting else None,
        )
        rows: list[Row] = [end] if artifact is None else [end, artifact]
        await self._brain.append(begun.key, None, [event], rows=rows, guard=Present())
        self.untold[begun.key] += 1

    async def _ended_here(self, begun: Begun) -> bool:
        """Whether nobody else tells how it ended; asked until the brain says."""
        while True:
            try:
                return await self._brain.end_background(begun.key, begun.runtime_task_id)
            except EngineError as error:
                if error.code is not ErrorCode.STORAGE_UNAVAILABLE:
                    raise
                await asyncio.sleep(WRITE_SECONDS)


def runtime_task_id(idempotency_key: str) -> str:
    """The id of the command a call starts: the same however often the call is run."""
    return f"bg_{blake2b(idempotency_key.encode(), digest_size=8, person=b'aster-background').hexdigest()}"


def _status(done: Completed) -> End:
    if done.timed_out:
        return "timeout"
    return "completed" if done.exit_code == 0 and done.exceeded is None else "failed"
