"""People: finding the request an answer is meant for, and writing the answer down. The first valid answer wins."""

from collections.abc import Iterable

from aster.brain.records import HitlRecord, ThreadKey
from aster.brain.unit import Conflict, Unanswered
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.events import HitlResolved
from aster.contracts.model import decode
from aster.contracts.turn import BudgetCase
from aster.engine_core.budget import Day
from aster.engine_core.orders import HitlReply
from aster.engine_core.services import Services
from aster.infra.clock import now_ms

_YES = frozenset({"yes", "y", "allow", "approve", "approved", "true"})
_NO = frozenset({"no", "n", "deny", "reject", "rejected", "false"})


async def answer(services: Services, user_id: str, reply: HitlReply) -> HitlRecord:
    """Resolve a request; returns it as it was."""
    request = await _find(services, user_id, reply)
    approved = _approved(request, reply.answer)
    if request.kind == "budget" and approved and not reply.operator:
        _check_allowed(request)
    resolved = HitlResolved(
        request_id=request.request_id,
        answer=reply.answer,
        approved=approved,
        feedback=reply.feedback,
        content=reply.content_blocks,
        resolved_by=reply.resolved_by,
    )
    key = ThreadKey(user_id, request.task_id)
    try:
        await services.brain.append(key, request.turn_id, [resolved], guard=Unanswered(request.request_id))
    except Conflict:
        raise _nothing_pending(reply) from None
    services.raven.hitl_resolved(request.kind, (now_ms() - request.created_at) / 1000)
    return request


async def _find(services: Services, user_id: str, reply: HitlReply) -> HitlRecord:
    if reply.request_id is not None:
        found = await services.brain.request(user_id, reply.request_id)
        if found is None or found.status != "pending":
            raise _nothing_pending(reply)
        if reply.task_id is not None and reply.task_id != found.task_id:
            raise _nothing_pending(reply)
        return found
    pending = await services.brain.pending_requests(user_id, reply.task_id) if reply.task_id else []
    if not pending:
        raise _nothing_pending(reply)
    return pending[0]


def _nothing_pending(reply: HitlReply) -> EngineError:
    return EngineError(
        ErrorCode.HITL_NOT_PENDING,
        "Nothing waits for an answer there; it may have been answered already. GET /hitl/pending lists what waits.",
        {"request_id": reply.request_id, "task_id": reply.task_id},
    )


def _approved(request: HitlRecord, text: str) -> bool | None:
    """Check an answer against what was asked; None where approval is not the question."""
    word = text.strip().lower()
    if request.kind in ("permission", "budget"):
        if word in _YES or word in _NO:
            return word in _YES
        raise _unfit(request, "yes or no")
    options = decode(request.options, list[str]) if request.options else []
    if request.kind == "in_doubt" and text not in options:
        raise _unfit(request, " or ".join(options))
    return None


def _check_allowed(request: HitlRecord) -> None:
    """Whether a user's own yes is enough: not to go beyond what the operator set, except within a turn."""
    case = _case(request)
    own = case.rung == "ask" or case.owner == "user" or case.scope == "turn"
    if not own and case.day in (None, Day.now().name):
        raise EngineError(
            ErrorCode.PERMISSION_DENIED,
            "Only the operator can let work go beyond this budget, or raise it with PUT /usage/budgets."
            " Answer no to end the turn here.",
            {"request_id": request.request_id, "scope": case.scope, "limit_usd": case.limit_usd},
        )


async def reconsider(services: Services, requests: Iterable[HitlRecord]) -> list[HitlRecord]:
    """Close the questions about a budget that has been raised or lifted since; returns those that were closed."""
    closed: list[HitlRecord] = []
    for request in requests:
        if request.kind != "budget":
            continue
        key, case = ThreadKey(request.user_id, request.task_id), _case(request)
        line = services.budgets.line(key, case.scope, case.owner)
        if line is not None and line.limit <= case.limit_usd:
            continue
        raised = HitlResolved(request_id=request.request_id, answer="raised")
        try:
            await services.brain.append(key, request.turn_id, [raised], guard=Unanswered(request.request_id))
        except Conflict:
            continue
        services.raven.hitl_resolved(request.kind, (now_ms() - request.created_at) / 1000)
        closed.append(request)
    return closed


def _case(request: HitlRecord) -> BudgetCase:
    return decode(request.input or b"{}", BudgetCase)


def _unfit(request: HitlRecord, wanted: str) -> EngineError:
    return EngineError(
        ErrorCode.INVALID_REQUEST,
        f"Answer {wanted}; put anything else into `feedback`.",
        {"fields": [{"field": "answer", "problem": f"expected {wanted}"}], "request_id": request.request_id},
    )
