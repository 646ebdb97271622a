"""Rows about agents: those that users wrote down, and the turns that agents began for other agents."""

from typing import ClassVar

from aster.brain.records import Row
from aster.contracts.model import Contract


class AgentRow(Row):
    """An agent of a user's own."""

    table: ClassVar[str] = "agents"
    key: ClassVar[tuple[str, ...]] = ("user_id", "name")

    user_id: str
    name: str
    body: bytes
    updated_at: int


class SubagentRow(Row):
    """A sub-agent that is begun; it is committed with the call that asked for it, on the parent's thread."""

    table: ClassVar[str] = "subagents"
    key: ClassVar[tuple[str, ...]] = ("child_turn_id",)

    child_turn_id: str
    turn_id: str
    root_turn_id: str
    tool_call_id: str
    child_task_id: str
    agent: str
    background: bool
    body: bytes
    created_at: int
    status: str = "running"


class SubagentEndRow(Row):
    """What became of it."""

    table: ClassVar[str] = "subagents"
    key: ClassVar[tuple[str, ...]] = ("child_turn_id",)

    child_turn_id: str
    status: str
    result: str
    ended_at: int


class SubagentToldRow(Row):
    """The model that began it in the background knows that it has ended."""

    table: ClassVar[str] = "subagents"
    key: ClassVar[tuple[str, ...]] = ("child_turn_id",)

    child_turn_id: str
    told_at: int


class SubagentRecord(Contract):
    """A sub-agent as it is known now. `parent_status` and `child_status` are those of the two turns; the child's is
    None as long as its turn has not begun."""

    child_turn_id: str
    user_id: str
    task_id: str
    turn_id: str
    root_turn_id: str
    tool_call_id: str
    child_task_id: str
    agent: str
    background: bool
    status: str
    body: bytes
    result: str | None
    created_at: int
    ended_at: int | None
    told_at: int | None
    parent_status: str | None
    child_status: str | None
