"""Human events: what the engine asks a person, and what the person said."""

from typing import Any, Literal, TypeAlias

from aster.contracts.blocks import MediaBlock
from aster.contracts.events.base import Event

HitlKind: TypeAlias = Literal["permission", "question", "in_doubt", "budget"]


class HitlRequest(Event, tag="hitl_request"):
    """The turn needs a person; it goes on when `/hitl/respond` names this request (or the task).

    A question of kind `budget` belongs to no call; its `input` says where the budget stands (`BudgetCase`).
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


class PermissionPrompt(Event, tag="permission_prompt"):
    """Why a call is not simply run: what it would do and which rule asks."""

    request_id: str
    tool: str
    tool_call_id: str
    input: dict[str, Any]
    reason: str
    effects: tuple[str, ...] = ()


class HitlResolved(Event, tag="hitl_resolved"):
    request_id: str
    answer: str
    approved: bool | None = None
    feedback: str | None = None
    content: tuple[MediaBlock, ...] = ()
    resolved_by: str | None = None
