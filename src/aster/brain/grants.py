"""Rows about permissions: what people granted, and the calls that are on record."""

from typing import ClassVar

from aster.brain.records import Row
from aster.contracts.model import Contract
from aster.contracts.permissions import Behavior, GrantScope


class GrantRow(Row):
    """A permission given, or refused, for more than one call. `task_id` and `agent` are empty where they do not
    matter, `request_id` names the question it was the answer to. With a `pin` it holds as long as the tool describes
    itself as it did then."""

    table: ClassVar[str] = "grants"
    key: ClassVar[tuple[str, ...]] = ("grant_id",)

    grant_id: str
    user_id: str
    tool: str
    pattern: str
    behavior: Behavior
    scope: GrantScope
    task_id: str
    agent: str
    created_by: str
    created_at: int
    expires_at: int | None = None
    request_id: str | None = None
    uses: int = 0
    last_used_at: int | None = None
    pin: str | None = None


class PastCall(Contract):
    """An event about a call on some thread: that it was run, asked about, or answered for."""

    task_id: str
    seq: int
    type: str
    data: bytes
