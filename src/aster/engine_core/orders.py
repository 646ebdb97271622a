"""What a client orders and the ticket it gets: the language between the doors and the coordinator."""

from dataclasses import dataclass
from enum import StrEnum

from aster.brain.fanout import Subscription
from aster.contracts.blocks import MediaBlock
from aster.contracts.model import Contract
from aster.contracts.permissions import GrantScope, PermissionMode


class OnBusy(StrEnum):
    """What to do when the task's turn is still running."""

    REJECT = "reject"
    QUEUE = "queue"
    STEER = "steer"
    INTERRUPT = "interrupt"


class Order(Contract):
    """One message for one task, with everything the client said about how to run it."""

    task_id: str
    message: str
    media: tuple[MediaBlock, ...] = ()
    direct: bool = False
    super_thinking: bool = False
    edit_message_id: str | None = None
    retry_message_id: str | None = None
    on_busy: OnBusy = OnBusy.REJECT
    request_id: str | None = None
    model: str | None = None
    permission_mode: PermissionMode | None = None
    unattended: bool = False


@dataclass(slots=True)
class Ticket:
    """An accepted order: follow `subscription` until the turn that took `message_id` ends."""

    task_id: str
    message_id: str
    turn_id: str
    subscription: Subscription
    queued: bool = False


class HitlReply(Contract):
    """A person's answer, addressed by request or by task (its oldest open request).

    `operator`: who answers runs the engine, and may allow what a user may not.
    """

    answer: str
    request_id: str | None = None
    task_id: str | None = None
    feedback: str | None = None
    content_blocks: tuple[MediaBlock, ...] = ()
    resolved_by: str | None = None
    operator: bool = False
    scope: GrantScope | None = None


class Cancelled(Contract):
    """What a cancel came to."""

    task_id: str
    turn_id: str
    status: str
    dropped_messages: int = 0


class Forked(Contract):
    task_id: str
    from_task_id: str
    from_seq: int
    head_seq: int
