"""Teams: a task that leads, members that work for it, each in a task of its own, and the mail between them.

Who is meant is always a name within a team: that of a member, `lead` for the task that leads, `person` for the user and
`engine` for the runtime. A message is queued, then told to the model of whoever it is for, then heard by it.
"""

from typing import Any, Final, Literal, TypeAlias

from aster.contracts.model import Contract

LEAD: Final = "lead"
PERSON: Final = "person"
ENGINE: Final = "engine"
EVERYBODY: Final = "all"
"""The recipient that means every member but the one who writes."""
RESERVED: Final = frozenset((LEAD, PERSON, ENGINE, EVERYBODY, "agent", "user"))

TeamStatus: TypeAlias = Literal["active", "stopped"]
MemberStatus: TypeAlias = Literal["working", "idle", "waiting_approval", "stopping", "stopped", "failed"]
TeamAction: TypeAlias = Literal[
    "created", "joined", "working", "idle", "waiting_approval", "stopping", "stopped", "failed"
]
MailType: TypeAlias = Literal[
    "message",
    "broadcast",
    "result",
    "idle_notification",
    "error",
    "shutdown_request",
    "shutdown_response",
    "plan_request",
    "plan_approval_request",
    "plan_approval_response",
]
TeamObstacle: TypeAlias = Literal[
    "name_taken",
    "already_leads",
    "too_many",
    "stopped",
    "unknown_recipient",
    "inbox_full",
    "too_fast",
    "busy",
]
"""Why nothing was changed: a member has that name; the task leads a team already; there are enough members; the team or
the member has stopped; nobody has that name; too much waits for the recipient; too much was written in the last minute;
the member is at something else by now."""


class Team(Contract):
    """`board` is where its work is; `budget_usd` what its members may spend together, 0 when only the budgets of the
    task that leads hold."""

    team_id: str
    user_id: str
    name: str
    board: str
    lead_task_id: str
    status: TeamStatus
    budget_usd: float
    created_at: int
    updated_at: int
    ended_at: int | None = None


class TeamMember(Contract):
    """`turns` it has had since a person last wrote to it, `begun` ever; `stop` is `hard` once somebody has stopped it,
    `soft` when it was asked to; `reason` says why it is as it is, `turn_id` is its newest turn; `body` is what its
    turns are begun with."""

    team_id: str
    user_id: str
    name: str
    role: str
    agent: str
    task_id: str
    status: MemberStatus
    stop: str
    reason: str
    require_plan: bool
    body: str
    turns: int
    begun: int
    turn_id: str
    created_at: int
    updated_at: int


class Mail(Contract):
    """A message for one recipient, whose messages are numbered (`seq`). `told_id` is the message of the thread it was
    told with, in the turn `turn_id`; it is `acked_at` when a model call that saw it was answered."""

    number: int
    team_id: str
    recipient: str
    seq: int
    message_id: str
    sender: str
    type: MailType
    content: str
    created_at: int
    metadata: dict[str, Any] = {}
    turn_id: str = ""
    told_id: str = ""
    told_at: int | None = None
    acked_at: int | None = None


class MemberDraft(Contract):
    """A member that is to be made: its first message is `prompt`; `item_id` is the work it begins with."""

    name: str
    prompt: str
    role: str = ""
    agent: str = ""
    item_id: str | None = None
    require_plan: bool = False
