"""The protocols of teams among turns: what a call may ask and answer, how a turn ends that was asked to stop, and how a
person answers what a member waits for.

A member that is asked to stop ends its turn between two rounds of tools, in the commit that says that it has agreed;
one that waits for a person is stopped where it waits. A plan that a turn waits with is answered with that turn's
question, in one commit.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeAlias

from aster.brain.records import HitlRecord, ThreadKey
from aster.brain.team_requests import AnswerRequest, AtRest, RequestDeed, RequestOrder, answerable, refused
from aster.brain.teams import Seat
from aster.brain.unit import Deed
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.model import decode
from aster.contracts.team_requests import ResponseType, TeamAnswer, TeamRequest
from aster.contracts.teams import PERSON, Mail
from aster.engine_core.orders import HitlReply
from aster.engine_core.services import Services
from aster.engine_core.signals import Ended
from aster.engine_core.turn import Turn
from aster.work.teams.protocols import ProtocolDesk

KIND: Final = "plan_approval"
"""What a person is asked who reviews a plan."""
VOID: Final = "void"
"""What is answered to a plan that means nothing any more, whatever a person said."""
SHUTDOWN: Final = "shutdown"
"""Why a turn ends whose member was asked to stop."""

Respond: TypeAlias = Callable[[str, HitlReply], Awaitable[object]]


def offered(turn: Turn, services: Services, call_key: str) -> ProtocolDesk | None:
    """The protocols as a call has them; None where there is no team."""
    seat = turn.seat
    if seat is None:
        return None
    user_id, team_id = turn.key.user_id, seat.team.team_id

    async def do(order: RequestOrder) -> TeamRequest | None:
        deed = services.brain.team_requests.deed(order)
        await turn.flush()
        await turn.change(deed, beside=await services.brain.teams.threads(user_id, team_id))
        services.teams.rouse(user_id, team_id)
        return deed.request

    return ProtocolDesk(
        user_id=user_id,
        team_id=team_id,
        name=seat.name,
        task_id=turn.key.task_id,
        do=do,
        clean=lambda text: services.secrets.clean(text, "model"),
        reviewer=services.settings.team_plan_reviewer,
        call_key=call_key,
    )


def person(services: Services, user_id: str, team_id: str) -> ProtocolDesk:
    """The protocols as a person has them."""

    async def do(order: RequestOrder) -> TeamRequest | None:
        threads = await services.brain.teams.threads(user_id, team_id)
        if not threads:
            raise no_team(team_id)
        made = await services.brain.team_requests.do(order, threads[0], threads[1:])
        services.teams.rouse(user_id, team_id)
        return made

    return ProtocolDesk(
        user_id=user_id,
        team_id=team_id,
        name=PERSON,
        task_id="",
        do=do,
        clean=lambda text: services.secrets.clean(text, "person"),
    )


async def stop_waiting(services: Services, key: ThreadKey) -> None:
    """A member that was asked to stop does not wait for a person any more; for those who work for it, it does."""
    if await services.brain.pending_requests(*key):
        await services.offspring.stop(key, SHUTDOWN)


def register(services: Services) -> None:
    """Have the runtime deal with what it need not tell a model."""

    async def asked_to_stop(seat: Seat, mail: Mail, turn: Turn | None) -> bool:
        """A turn ends between two rounds, and its end answers; a member without one agrees at once."""
        del mail
        if turn is not None:
            raise Ended(SHUTDOWN)
        user_id = seat.team.user_id
        order = AtRest(user_id=user_id, task_id=seat.task_id, idle=True)
        lead, *others = await services.brain.teams.threads(user_id, seat.team.team_id)
        await services.brain.team_requests.do(order, lead, others)
        return True

    services.teams.protocols["shutdown_request"] = asked_to_stop


def at_rest(turn: Turn, services: Services, *, completed: bool) -> RequestDeed:
    """What the end of a member's turn means to what it was asked, before it means anything else."""
    order = AtRest(user_id=turn.key.user_id, task_id=turn.key.task_id, completed=completed)
    return services.brain.team_requests.deed(order)


async def answer(
    services: Services,
    respond: Respond,
    key: tuple[str, str, str],
    kind: ResponseType,
    approve: bool,
    feedback: str | None,
    member: str,
) -> TeamRequest:
    """A person's answer to the request `key` (whose, in which team, which one). Where a turn waits with it, that turn's
    question is answered."""
    user_id, team_id, request_id = key
    desk = person(services, user_id, team_id)
    found = await services.brain.team_requests.request(user_id, team_id, request_id)
    said = TeamAnswer(request_id=request_id, type=kind, responder=PERSON, approve=approve, recipient=member)
    reason, waiting = answerable(found, said), await services.brain.request(user_id, request_id)
    waits = waiting is not None and waiting.status == "pending" and reason in (None, "already_settled")
    if waits:
        answer = "yes" if approve else "no"
        reply = HitlReply(request_id=request_id, answer=answer, feedback=feedback, resolved_by=user_id)
        await respond(user_id, reply)
    if reason is not None:
        raise refused(reason, found, request=request_id, responder=PERSON, recipient=member)
    if not waits:
        return await desk.answer(request_id, kind, approve, feedback, recipient=member)
    after = await services.brain.team_requests.request(user_id, team_id, request_id)
    if after is None:
        raise refused("unknown_request", request=request_id)
    return after


async def reviewed(
    services: Services, request: HitlRecord, approved: bool, feedback: str | None
) -> tuple[Deed, Sequence[ThreadKey]]:
    """What a person's yes or no to a plan changes, for the commit of the answer; told on these threads."""
    team_id = str(decode(request.input or b"{}", dict[str, object])["team_id"])
    answer = TeamAnswer(
        request_id=request.request_id,
        type="plan_approval_response",
        responder=PERSON,
        approve=approved,
        feedback=feedback,
    )
    order = AnswerRequest(user_id=request.user_id, team_id=team_id, answer=answer, asked=True)
    threads = await services.brain.teams.threads(request.user_id, team_id)
    return services.brain.team_requests.deed(order), threads


def no_team(team_id: str) -> EngineError:
    return EngineError(ErrorCode.NOT_FOUND, f"There is no team {team_id[:80]!r}.")


def no_request(request_id: str) -> EngineError:
    return refused("unknown_request", request=request_id[:80])
