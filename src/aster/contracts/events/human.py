"""Human events: what the engine asks a person, and what the person said."""

from typing import Any, Literal, TypeAlias

from aster.contracts.blocks import MediaBlock
from aster.contracts.events.base import Event
from aster.contracts.permissions import GrantOffer, GrantScope, PermissionMode

HitlKind: TypeAlias = Literal[
    "permission",
    "question",
    "in_doubt",
    "budget",
    "client_tool",
    "elicitation",
    "login",
    "team",
    "plan_approval",
]


class HitlRequest(Event, tag="hitl_request"):
    """The turn needs a person; it goes on when `/hitl/respond` names this request (or the task).

    A question of kind `budget` belongs to no call; its `input` says where the budget stands (`BudgetCase`). One of
    kind `client_tool` is a call that the client runs; the answer is its result. `offer`
    is what an "always" to a permission would store; `about` are the uncertainties an answer would settle. One of kind
    `elicitation` is a connected server's question in the middle of a call: `input` says what it wants to know, `state`
    is what the server needs back with the answer. One of kind `login` names the page where a person logs in
    (`input.url`); finishing the login answers it. A permission with a `pin` is for the tool, or the code, as it was.
    One of kind `plan_approval` is a member's plan (`input.plan`), which waits for a yes or a no.
    """

    request_id: str
    kind: HitlKind
    question: str
    tool: str | None = None
    tool_call_id: str | None = None
    input: dict[str, Any] | None = None
    options: tuple[str, ...] = ()
    reason: str | None = None
    created_at: str = ""
    offer: GrantOffer | None = None
    about: tuple[str, ...] = ()
    state: dict[str, Any] | None = None
    pin: str | None = None


class PermissionPrompt(Event, tag="permission_prompt"):
    """Why a call is not simply run: what it would do and which rule asks."""

    request_id: str
    tool: str
    tool_call_id: str
    input: dict[str, Any]
    reason: str
    effects: tuple[str, ...] = ()
    decided_by: str = ""
    offer: GrantOffer | None = None


class HitlResolved(Event, tag="hitl_resolved"):
    """What a person said; with an "always", how far it reaches, until when, and the grant that was stored. `up_to_usd`
    is what a yes to another question about the same budget allows, which settles this one too. `request` is what the
    client that answered wants otherwise from here on: those fields of the turn's `TurnRequest`."""

    request_id: str
    answer: str
    approved: bool | None = None
    feedback: str | None = None
    content: tuple[MediaBlock, ...] = ()
    resolved_by: str | None = None
    scope: GrantScope | None = None
    grant_id: str | None = None
    expires_at: str | None = None
    up_to_usd: float | None = None
    request: dict[str, Any] | None = None


class PermissionSuggestion(Event, tag="permission_suggestion"):
    """So many calls in a row were refused that another way of working is worth a thought."""

    denials: int
    mode: PermissionMode
    message: str
