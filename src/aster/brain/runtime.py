"""Runtime tasks, as a storage tells of them: commands and agents that work behind a turn, in one shape.

They are written beside the events that tell of them, each in its own table; here they are only read. The names of
messages that were left for busy tasks are kept here too, so that one that is sent again is not left twice.
"""

from typing import Literal, NamedTuple, Protocol, TypeAlias

from aster.brain.records import ThreadKey
from aster.brain.unit import Deed
from aster.contracts.errors import EngineError
from aster.contracts.model import Contract

RuntimeKind: TypeAlias = Literal["bash", "agent"]
RuntimeStatus: TypeAlias = Literal["running", "stalled", "completed", "failed", "killed", "timeout", "lost"]
RuntimeShow: TypeAlias = Literal["active", "running", "stalled", "completed", "failed", "killed", "timeout", "lost"]
"""What is asked for: a status, or all that has not ended (`active`)."""


class RuntimePlace(NamedTuple):
    """A place in the list of a user's runtime tasks."""

    started_at: int
    runtime_id: str


class RuntimeRecord(Contract):
    """A command or an agent in the background. An agent is known by the task it works in (`child_task_id`), and
    `order` is what it was begun with; `said` is how many characters there are to read."""

    runtime_id: str
    kind: RuntimeKind
    user_id: str
    task_id: str
    turn_id: str
    tool_call_id: str
    status: RuntimeStatus
    description: str
    started_at: int
    ended_at: int | None
    exit_code: int | None
    said: int
    left_out: int
    told_at: int | None
    work_item: str | None
    wake: bool
    stalled_at: int | None
    artifact_id: str | None
    child_task_id: str | None
    agent: str | None
    order: bytes | None

    @property
    def key(self) -> ThreadKey:
        return ThreadKey(self.user_id, self.task_id)


class RuntimeStore(Protocol):
    async def tasks(
        self,
        user_id: str,
        *,
        limit: int,
        status: RuntimeShow | None = None,
        task_id: str | None = None,
        kind: RuntimeKind | None = None,
        after: RuntimePlace | None = None,
    ) -> list[RuntimeRecord]:
        """The newest first."""
        ...

    async def task(self, user_id: str, runtime_id: str) -> RuntimeRecord | None: ...
    async def last_words(self, user_id: str, runtime_id: str) -> str:
        """What an agent said at its end."""
        ...

    async def taken(self, key: ThreadKey, turn_id: str, message_id: str) -> bool:
        """Whether a message of this name has begun its turn, or was left for a busy task."""
        ...

    def leaving(self, key: ThreadKey, turn_id: str, message_id: str, refusal: EngineError) -> Deed:
        """Lets a message of this name be left, in the commit that leaves it; the second time it is refused."""
        ...
