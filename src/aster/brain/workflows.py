"""What a storage must be able to do for workflows: runs that one call at a time is at, and their journals.

A run is taken in one transaction that looks at everything it depends on: who is at it, whether it is still the same
workflow with the same arguments, and whether the journal is as it was written. What an agent's call came to is a row in
the commit that tells of it, sealed with a digest, so that a journal that was tampered with is never gone on with.
"""

from collections.abc import Sequence
from hashlib import sha256
from typing import Any, ClassVar, Literal, Protocol, TypeAlias

from aster.brain.records import Row
from aster.contracts.events import Event
from aster.contracts.model import Contract

CallStatus: TypeAlias = Literal["running", "completed", "failed"]
RunStatus: TypeAlias = Literal["running", "completed", "failed", "cancelled", "interrupted"]
"""`interrupted`: the turn that ran it has ended, and it has not."""


class WorkflowRun(Contract):
    """A run as it stands. `holder` is the call that is at it, `turn_id` that call's turn; `agents` were begun since it
    was last taken up, `cached` calls were not made again; cost and tokens are of all of its agents ever."""

    run_id: str
    user_id: str
    task_id: str
    workflow: str
    args: bytes
    args_digest: str
    status: RunStatus
    holder: str
    turn_id: str
    attempts: int
    cancelling: bool
    phase: str
    agents: int
    cached: int
    cost_usd: float
    tokens: int
    result: bytes
    problem: str
    created_at: int
    updated_at: int
    ended_at: int | None


class WorkflowCall(Row):
    """A call of an agent in a run's journal, under the hash of what was asked; `result` is the value as JSON. It is
    committed with the agent's beginning, and with the event that tells of its end."""

    table: ClassVar[str] = "workflow_calls"
    key: ClassVar[tuple[str, ...]] = ("run_id", "call_key")

    run_id: str
    call_key: str
    label: str
    phase: str
    status: CallStatus
    attempt: int
    child_task_id: str
    child_turn_id: str
    result: bytes
    problem: str
    cost_usd: float
    tokens: int
    digest: str
    created_at: int
    ended_at: int | None


class WorkflowRunRow(Row):
    """How a run stands; committed with the event that tells of it."""

    table: ClassVar[str] = "workflow_runs"
    key: ClassVar[tuple[str, ...]] = ("run_id",)

    run_id: str
    status: RunStatus
    phase: str
    agents: int
    cached: int
    cost_usd: float
    tokens: int
    result: bytes
    problem: str
    updated_at: int
    ended_at: int | None


class Take(Contract):
    """A call wants to be at a run: a new one, or, with `resume`, one that is there. `holder` names the call; made again
    after a crash, it is still the one that is at it."""

    user_id: str
    task_id: str
    turn_id: str
    holder: str
    run_id: str
    workflow: str
    args: bytes
    args_digest: str
    resume: bool = False


class Taken(Contract):
    """The run as it is now, and its journal."""

    run: WorkflowRun
    calls: tuple[WorkflowCall, ...] = ()


class TakeDeed(Protocol):
    """Taking a run, as a deed of a unit; once that is committed its outcome is known."""

    @property
    def outcome(self) -> Taken: ...
    def __call__(self, db: Any, /) -> Sequence[Event]: ...


class WorkflowStore(Protocol):
    def take(self, order: Take) -> TakeDeed:
        """A deed that raises `EngineError` when the run cannot be taken: nothing is changed then."""
        ...

    async def run(self, user_id: str, run_id: str) -> WorkflowRun | None: ...
    async def runs(
        self, user_id: str, *, limit: int, task_id: str | None = None, before: int | None = None
    ) -> list[WorkflowRun]:
        """Newest first."""
        ...

    async def calls(self, user_id: str, run_id: str) -> list[WorkflowCall]:
        """The journal, in the order in which the calls were first made."""
        ...

    async def ask_to_stop(self, user_id: str, run_id: str) -> bool:
        """Ask whoever is at a run to end it; False when nobody is."""
        ...


def sealed(call: WorkflowCall) -> str:
    """The digest of what a journal says of a call."""
    said = (
        *(call.run_id, call.call_key, call.label, call.status, str(call.attempt)),
        *(call.child_task_id, call.child_turn_id, call.problem),
    )
    digest = sha256("\0".join(said).encode())
    digest.update(b"\0" + call.result)
    return digest.hexdigest()
