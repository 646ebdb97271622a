"""What a client orders and the ticket it gets: the language between the doors and the coordinator."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from aster.brain.fanout import Subscription
from aster.contracts.agents import Parent, Profile
from aster.contracts.blocks import MediaBlock
from aster.contracts.budgets import BudgetCase
from aster.contracts.events import ProjectUpdate, ScheduleFired
from aster.contracts.messages import Message
from aster.contracts.model import Contract
from aster.contracts.permissions import GrantScope, PermissionMode
from aster.contracts.projects import AdvanceOf
from aster.contracts.tools import ToolCall, ToolDef
from aster.contracts.turn import NO_OPTIONS, TurnOptions


class OnBusy(StrEnum):
    """What to do when the task's turn is still running."""

    REJECT = "reject"
    QUEUE = "queue"
    STEER = "steer"
    INTERRUPT = "interrupt"


class Follows(Contract):
    """Where in its task a turn goes on: after the first `messages` messages of a turn (None: all of them)."""

    turn_id: str | None
    messages: int | None = None


class Order(Contract):
    """One message for one task, with everything the client said about how to run it.

    It goes on after the newest turn, unless it says what it `follows`. `brought` are messages before it that the task
    does not have yet; an id for the turn that will hold them is `brought_turn_id`. `made` are calls and results after
    it that the turn begins with; `call` is the one call that a turn with a `method` is. `turn_id` is the id that its
    turn is to have, where that must not begin a second time. `fired` tells of the time of a schedule, or the item of a
    project, that it is begun for. `instructions`, `tools`,
    `own_tools`, `options`, `echo`, `place`, `budget` and `woken` are those of `TurnRequest`.
    """

    task_id: str
    message: str
    turn_id: str | None = None
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
    follows: Follows | None = None
    brought: tuple[Message, ...] = ()
    brought_turn_id: str | None = None
    made: tuple[Message, ...] = ()
    instructions: str = ""
    tools: tuple[ToolDef, ...] = ()
    own_tools: bool = True
    options: TurnOptions = NO_OPTIONS
    echo: dict[str, Any] = {}
    place: str = ""
    method: str = ""
    call: ToolCall | None = None
    agent: str | None = None
    profile: Profile | None = None
    parent: Parent | None = None
    budget: tuple[BudgetCase, ...] = ()
    woken: int = 0
    fired: ScheduleFired | ProjectUpdate | None = None
    advance: AdvanceOf | None = None


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

    `operator`: who answers runs the engine, and may allow what a user may not. With an "always", `scope` is how far
    it reaches and `expires_in_seconds` how long it holds. `request` is what the client wants otherwise from here on,
    `places` are the fingerprints under which it finds the turn again.
    """

    answer: str
    request_id: str | None = None
    task_id: str | None = None
    feedback: str | None = None
    content_blocks: tuple[MediaBlock, ...] = ()
    resolved_by: str | None = None
    operator: bool = False
    scope: GrantScope | None = None
    expires_in_seconds: int | None = None
    request: dict[str, Any] | None = None
    places: tuple[str, ...] = ()


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
