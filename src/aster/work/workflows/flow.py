"""A run of a workflow: its calls of agents, each looked up in the journal first, within the limits of the run.

Whatever is begun is in the journal before it begins, and what came of it before anybody goes on with it; so a run that
was cut off anywhere is gone on with, and no agent is begun twice. When a call fails nothing more is begun, and those
under way come to their end: what they found is kept for the next time.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Protocol, TypeVar, cast

from msgspec.structs import replace

from aster.brain.workflows import RunStatus, WorkflowCall, WorkflowRun, WorkflowRunRow, sealed
from aster.contracts.events import WorkflowUpdate
from aster.contracts.model import decode, encode
from aster.infra.clock import now_ms
from aster.work.workflows.journal import AgentCall, again, read

MOST_AGENTS: Final = 1000
MOST_AT_ONCE: Final = 8
ATTEMPTS: Final = 2
T = TypeVar("T")


class Ended(NamedTuple):
    """What became of an agent's turn; `stopped` when the run itself is to stop."""

    completed: bool
    said: str
    cost_usd: float = 0.0
    tokens: int = 0
    stopped: bool = False


class Failed(Exception):
    """A run cannot go on; `stopped` when that was wanted."""

    def __init__(self, reason: str, *, stopped: bool = False) -> None:
        super().__init__(reason)
        self.stopped = stopped


class Hands(Protocol):
    """Who begins agents for a run, waits for them, and says on the thread what happens."""

    async def begin(self, call: AgentCall, row: WorkflowCall, told: str, most_usd: float | None) -> WorkflowCall:
        """Begin an agent, or, with `told`, the one of the row once more; the row as it was written with it."""
        ...

    async def ended(self, row: WorkflowCall) -> Ended: ...
    async def tell(self, update: WorkflowUpdate, *rows: WorkflowCall | WorkflowRunRow) -> None: ...


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that a run may use."""

    agents: int = MOST_AGENTS
    usd: float | None = None
    tokens: int | None = None


class Flow:
    """One taking up of a run."""

    def __init__(
        self,
        run: WorkflowRun,
        calls: Sequence[WorkflowCall],
        hands: Hands,
        limits: Limits,
        quote: Callable[[str], str],
    ) -> None:
        self.run = run
        self.quote = quote
        self.phase = ""
        self.agents = 0
        self.cached = 0
        self._journal = {call.call_key: call for call in calls}
        self._begun = sum(call.attempt for call in calls)
        self._hands = hands
        self._limits = limits
        self._room = asyncio.Semaphore(MOST_AT_ONCE)
        self._asked: dict[str, asyncio.Task[Any]] = {}
        self._group = asyncio.TaskGroup()
        self._failure: Failed | None = None

    async def carry_out(self, work: Callable[["Flow"], Coroutine[Any, Any, Any]]) -> Any:
        """Do it all; raises `Failed` when something of it fails."""
        try:
            async with self._group:
                outcome = await self._caught(work(self))
        except BaseExceptionGroup as several:
            raise _first(several) from None
        if isinstance(outcome, Failed):
            raise outcome
        return outcome

    @property
    def cost_usd(self) -> float:
        return sum(row.cost_usd for row in self._journal.values())

    @property
    def tokens(self) -> int:
        return sum(row.tokens for row in self._journal.values())

    async def together(self, works: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
        """Do several things side by side, and wait for all of them; raises the first failure when all have ended."""
        tasks = [self._group.create_task(self._caught(work)) for work in works]
        outcomes = [await task for task in tasks]
        for outcome in outcomes:
            if isinstance(outcome, Failed):
                raise outcome
        return [outcome for outcome in outcomes if not isinstance(outcome, Failed)]

    async def agent(self, call: AgentCall, phase: str) -> Any:
        """What an agent answers; the same answer for the same question."""
        key = call.key
        asked = self._asked.get(key)
        if asked is None:
            asked = self._asked[key] = self._group.create_task(self._caught(self._agent(call, key, phase)))
        outcome = await asyncio.shield(asked)
        if isinstance(outcome, Failed):
            raise outcome
        return outcome

    async def say(self, action: str, message: str) -> None:
        await self._hands.tell(self.update(action, message=message))

    def update(self, action: str, row: WorkflowCall | None = None, message: str = "") -> WorkflowUpdate:
        return WorkflowUpdate(
            run_id=self.run.run_id,
            workflow=self.run.workflow,
            action=action,  # pyright: ignore[reportArgumentType]
            phase=self.phase if row is None else row.phase,
            label="" if row is None else row.label,
            call_key="" if row is None else row.call_key,
            child_task_id="" if row is None else row.child_task_id,
            message=message,
            attempt=self.run.attempts if row is None else row.attempt,
            agents=self.agents,
            cached=self.cached,
            cost_usd=self.cost_usd if row is None else row.cost_usd,
        )

    def standing(self, status: RunStatus, result: bytes = b"", problem: str = "") -> WorkflowRunRow:
        """How the run stands, to be kept."""
        now = now_ms()
        return WorkflowRunRow(
            run_id=self.run.run_id,
            status=status,
            phase=self.phase,
            agents=self.agents,
            cached=self.cached,
            cost_usd=self.cost_usd,
            tokens=self.tokens,
            result=result,
            problem=problem,
            updated_at=now,
            ended_at=None if status == "running" else now,
        )

    async def _agent(self, call: AgentCall, key: str, phase: str) -> Any:
        row = self._journal.get(key)
        if row is not None and row.status == "completed":
            self.cached += 1
            await self._hands.tell(self.update("agent_cached", row))
            return decode(row.result, object)
        async with self._room:
            ended = None
            if row is not None and row.status == "running":
                row, ended = await self._waited(row)
            if row is None or ended is None or not ended.completed:
                row = await self._begin(call, self._fresh(call, key, phase, row), "")
                row, ended = await self._waited(row)
            value, problem = _said(call, ended)
            if problem and ended.completed and row.attempt % ATTEMPTS and self._failure is None:
                row = await self._begin(call, replace(row, attempt=row.attempt + 1), again(problem))
                row, ended = await self._waited(row)
                value, problem = _said(call, ended)
            return await self._settled(row, value, problem)

    async def _begin(self, call: AgentCall, row: WorkflowCall, told: str) -> WorkflowCall:
        self._afford()
        self.agents += 1
        self._begun += 1
        left = None if self._limits.usd is None else self._limits.usd - self.cost_usd
        row = await self._hands.begin(call, row, told, left)
        self._journal[row.call_key] = row
        return row

    async def _waited(self, row: WorkflowCall) -> tuple[WorkflowCall, Ended]:
        """Wait for an agent; the call with what that cost."""
        ended = await self._hands.ended(row)
        if ended.stopped:
            raise Failed(ended.said, stopped=True)
        row = replace(row, cost_usd=row.cost_usd + ended.cost_usd, tokens=row.tokens + ended.tokens)
        self._journal[row.call_key] = row
        return row, ended

    async def _settled(self, row: WorkflowCall, value: Any, problem: str) -> Any:
        """Write down what a call came to; its value, unless it failed."""
        status = "failed" if problem else "completed"
        row = _ended(replace(row, status=status, problem=problem[:2000], result=b"" if problem else encode(value)))
        self._journal[row.call_key] = row
        update = self.update(f"agent_{status}", row, row.problem)
        await self._hands.tell(update, row, self.standing("running"))
        if problem:
            raise Failed(f"The agent {row.label or row.child_task_id} failed: {row.problem}")
        return value

    def _afford(self) -> None:
        """Refuse another agent that the run may not have."""
        if self._failure is not None:
            raise self._failure
        if self._begun >= self._limits.agents:
            raise Failed(f"The run has begun {self._begun} agents, the most it may.")
        if self._limits.usd is not None and self.cost_usd >= self._limits.usd:
            raise Failed(f"The run has spent ${self.cost_usd:.4f}, and ${self._limits.usd:g} is the most it may.")
        if self._limits.tokens is not None and self.tokens >= self._limits.tokens:
            raise Failed(f"The run has used {self.tokens} tokens, and {self._limits.tokens} is the most it may.")

    def _fresh(self, call: AgentCall, key: str, phase: str, before: WorkflowCall | None) -> WorkflowCall:
        """A call that begins now. One that failed before begins from nothing, and what it cost is not forgotten."""
        attempts = 0 if before is None else before.attempt + before.attempt % ATTEMPTS
        return WorkflowCall(
            run_id=self.run.run_id,
            call_key=key,
            label=call.label[:200],
            phase=phase,
            status="running",
            attempt=attempts + 1,
            child_task_id="",
            child_turn_id="",
            result=b"",
            problem="",
            cost_usd=0.0 if before is None else before.cost_usd,
            tokens=0 if before is None else before.tokens,
            digest="",
            created_at=now_ms() if before is None else before.created_at,
            ended_at=None,
        )

    async def _caught(self, work: Coroutine[Any, Any, T]) -> T | Failed:
        try:
            return await work
        except Failed as failed:
            self._failure = self._failure or failed
            return failed


def _first(several: BaseExceptionGroup[BaseException]) -> BaseException:
    """What happened first of several things: whoever waits for the run is told of one."""
    first = several.exceptions[0]
    return (
        _first(cast("BaseExceptionGroup[BaseException]", first)) if isinstance(first, BaseExceptionGroup) else first
    )


def _said(call: AgentCall, ended: Ended) -> tuple[Any, str]:
    """The value that an agent has answered with, and what is wrong with it, if something is."""
    return read(call, ended.said) if ended.completed else (None, ended.said or "It left no answer.")


def _ended(row: WorkflowCall) -> WorkflowCall:
    row = replace(row, ended_at=now_ms())
    return replace(row, digest=sealed(row))
