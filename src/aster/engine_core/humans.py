"""People: finding the request an answer is meant for, and writing the answer down. The first valid answer wins."""

from collections.abc import Iterable

from aster.brain.grants import GrantRow
from aster.brain.records import HitlRecord, ThreadKey
from aster.brain.unit import Conflict, Unanswered
from aster.contracts.budgets import BudgetCase
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.events import HitlResolved
from aster.contracts.model import decode
from aster.contracts.permissions import ALWAYS, GrantOffer, GrantScope
from aster.engine_core import door_places
from aster.engine_core.agents import allowance, showing
from aster.engine_core.budget import Day, Line
from aster.engine_core.connectors import elicitation, login
from aster.engine_core.orders import HitlReply
from aster.engine_core.permissions import MAIN_AGENT, check_room
from aster.engine_core.services import Services
from aster.engine_core.teams import protocols
from aster.infra.clock import iso_ms, now_ms
from aster.infra.ids import new_id

_YES = frozenset({"yes", "y", "allow", "approve", "approved", "true"})
_NO = frozenset({"no", "n", "deny", "reject", "rejected", "false"})
_REACH: dict[str, GrantScope] = {"task": "task", "agent": "agent", "everywhere": "everywhere"}


async def answer(services: Services, user_id: str, reply: HitlReply) -> list[HitlRecord]:
    """Resolve a request; returns it as it was, and after it others that the answer settles too."""
    request = await _find(services, user_id, reply)
    scope = _scope(request, reply)
    approved = True if scope else _approved(request, reply.answer)
    grant = await _grant(services, user_id, request, reply, scope) if scope else None
    if grant is not None:
        check_room(await services.brain.grants(user_id))
    if request.kind == "budget" and approved and not reply.operator:
        _check_allowed(request, services.budgets.today())
    resolved = HitlResolved(
        request_id=request.request_id,
        answer=reply.answer,
        approved=approved,
        feedback=reply.feedback,
        content=reply.content_blocks,
        resolved_by=reply.resolved_by,
        scope=scope,
        grant_id=grant.grant_id if grant else None,
        expires_at=iso_ms(grant.expires_at) if grant and grant.expires_at is not None else None,
        request=reply.request,
    )
    key, rows = ThreadKey(user_id, request.task_id), door_places.replied(reply, request.turn_id)
    if grant is not None:
        rows.append(grant)
    guard = Unanswered(request.request_id)
    deed, beside = None, ()
    if request.kind == protocols.KIND:
        deed, beside = await protocols.reviewed(services, request, approved is True, reply.feedback)
    try:
        await services.brain.append(
            key, request.turn_id, [resolved], rows=rows, guard=guard, deed=deed, beside=beside
        )
    except Conflict:
        raise _nothing_pending(reply) from None
    except EngineError as error:
        if deed is None or error.code is not ErrorCode.TEAM_CONFLICT:
            raise
        resolved = HitlResolved(request_id=request.request_id, answer=protocols.VOID, feedback=error.message)
        await services.brain.append(key, request.turn_id, [resolved], guard=guard)
    await showing.answered(services.brain, request, resolved)
    services.raven.hitl_resolved(request.kind, (now_ms() - request.created_at) / 1000)
    if request.kind != "budget" or not approved:
        return [request]
    home = await _home(services, key)
    return [request, *[other async for other in allowance.share(services.brain, home, request, resolved)]]


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


def _scope(request: HitlRecord, reply: HitlReply) -> GrantScope | None:
    """How far an "always" reaches: as it says itself, or as `scope` says, or as little as possible."""
    word, _, reach = reply.answer.strip().lower().partition(" ")
    if request.kind != "permission" or word != "always":
        for name, given in (("scope", reply.scope), ("expires_in_seconds", reply.expires_in_seconds)):
            if given is not None:
                raise _unfit(request, f"always (or leave `{name}` out)")
        return None
    said = _REACH.get(reach.removeprefix("this ").strip(" ()")) if reach else reply.scope or "task"
    if said is None or (reply.scope is not None and reply.scope != said):
        raise _unfit(request, ", ".join(ALWAYS))
    if request.offer is None:
        raise _unfit(request, "yes or no (there is no rule that fits this call alone)")
    return said


async def _grant(
    services: Services, user_id: str, request: HitlRecord, reply: HitlReply, scope: GrantScope
) -> GrantRow:
    turn = await services.brain.turn(user_id, request.turn_id)
    home = await _home(services, ThreadKey(user_id, request.task_id))
    offered = decode(request.offer or b"{}", GrantOffer)
    now, seconds = now_ms(), reply.expires_in_seconds
    return GrantRow(
        grant_id=new_id("grant"),
        user_id=user_id,
        tool=offered.tool,
        pattern=offered.pattern,
        pin=offered.pin,
        behavior="allow",
        scope=scope,
        task_id=home.task_id if scope == "task" else "",
        agent=(turn.agent if turn is not None else MAIN_AGENT) if scope == "agent" else "",
        request_id=request.request_id,
        created_by=reply.resolved_by or user_id,
        created_at=now,
        expires_at=None if seconds is None else now + seconds * 1000,
    )


async def _home(services: Services, key: ThreadKey) -> ThreadKey:
    """The task whose grants and budgets hold: of a sub-agent's, the one it all began in."""
    thread = await services.brain.thread(key)
    return key if thread is None or thread.home_task_id is None else ThreadKey(key.user_id, thread.home_task_id)


def _approved(request: HitlRecord, text: str) -> bool | None:
    """Check an answer against what was asked; None where approval is not the question."""
    word = text.strip().lower()
    if request.kind in ("permission", "budget", "team", protocols.KIND):
        if word in _YES or word in _NO:
            return word in _YES
        raise _unfit(request, "yes, no or always" if request.offer else "yes or no")
    if request.kind == login.KIND:
        approved = login.approved(text)
        if approved is None:
            raise _unfit(request, f"{login.DONE} (when you have logged in) or no")
        return approved
    if request.kind == elicitation.KIND:
        wanted = elicitation.unfit(request, text)
        if wanted is not None:
            raise _unfit(request, wanted)
        return None
    options = decode(request.options, list[str]) if request.options else []
    if request.kind == "in_doubt" and text not in options:
        raise _unfit(request, " or ".join(options))
    return None


def _check_allowed(request: HitlRecord, day: Day) -> None:
    """Whether a user's own yes is enough: not to go beyond what the operator set, except within a turn."""
    case = _case(request)
    own = case.rung == "ask" or case.owner == "user" or case.scope == "turn"
    if not own and case.day in (None, day.name):
        raise EngineError(
            ErrorCode.PERMISSION_DENIED,
            "Only the operator can let work go beyond this budget, or raise it with PUT /usage/budgets."
            " Answer no to end the turn here.",
            {"request_id": request.request_id, "scope": case.scope, "limit_usd": case.limit_usd},
        )


async def reconsider(services: Services, requests: Iterable[HitlRecord]) -> list[HitlRecord]:
    """Close the questions about a budget that has been raised or lifted since, or is a new day's by now and has
    room; returns those that were closed."""
    closed: list[HitlRecord] = []
    for request in requests:
        if request.kind != "budget":
            continue
        key, case = ThreadKey(request.user_id, request.task_id), _case(request)
        home = await _home(services, key)
        line = services.budgets.line(home, case.scope, case.owner)
        answer = "raised"
        if line is not None and line.limit <= case.limit_usd:
            if not await _begun_anew(services, home, case, line):
                continue
            answer = "new_day"
        resolved = HitlResolved(request_id=request.request_id, answer=answer)
        try:
            await services.brain.append(key, request.turn_id, [resolved], guard=Unanswered(request.request_id))
        except Conflict:
            continue
        await showing.answered(services.brain, request, resolved)
        services.raven.hitl_resolved(request.kind, (now_ms() - request.created_at) / 1000)
        closed.append(request)
    return closed


async def _begun_anew(services: Services, key: ThreadKey, case: BudgetCase, line: Line) -> bool:
    """Whether a day has begun since in which the call that was held back may be paid for."""
    day = services.budgets.today()
    if case.day is None or case.day >= day.name:
        return False
    spent = await services.brain.spent(key, day.start_ms)
    return spent.user + case.estimate_usd <= line.limit


def _case(request: HitlRecord) -> BudgetCase:
    return decode(request.input or b"{}", BudgetCase)


def _unfit(request: HitlRecord, wanted: str) -> EngineError:
    return EngineError(
        ErrorCode.INVALID_REQUEST,
        f"Answer {wanted}; put anything else into `feedback`.",
        {"fields": [{"field": "answer", "problem": f"expected {wanted}"}], "request_id": request.request_id},
    )
