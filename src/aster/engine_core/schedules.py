"""Schedules among turns: what may be kept of them, what a model may do with them, and what one says.

A turn that a schedule begins has nobody beside it, and no more authority than a message of its user: whatever needs a
person is refused or waits, as the operator has set. What a watch runs is decided on like a call of a model, and kept
only if nobody would have to be asked.
"""

from msgspec.structs import replace

from aster.brain.records import ThreadKey
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.schedules import Occurrence, Schedule, ScheduleSpec, WatchTrigger
from aster.contracts.tools import ToolCall
from aster.engine_core.admission import check_task
from aster.engine_core.casting import check_model
from aster.engine_core.orders import Order
from aster.engine_core.permissions import moded
from aster.engine_core.services import Services
from aster.engine_core.turn import Turn
from aster.infra.clock import iso_ms
from aster.infra.settings import NO_CLOCK, Settings
from aster.utility_directory.scheduling import SchedulesOffered
from aster.work.schedules.desk import Desk


class Gate:
    """What of a schedule may be kept."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def checked(self, user_id: str, spec: ScheduleSpec) -> ScheduleSpec:
        services = self._services
        check_task(spec.task_id or "")
        check_model(services.settings, spec.model)
        await services.agents.cast(user_id, moded(services.settings, order_of(spec, "", spec.prompt)))
        if isinstance(spec.trigger, WatchTrigger):
            await permitted(services, user_id, spec, spec.trigger)
        return replace(spec, prompt=services.secrets.clean(spec.prompt, "person"))


class Offered:
    """Schedules as a model may have them in a turn: for the task of the person it works for, with the authority of that
    turn and no more."""

    def __init__(self, services: Services, turn: Turn) -> None:
        self._desk = desk(services)
        self._turn = turn
        self.time_zone = usual_zone(services.settings)
        self.catch_up_seconds = services.settings.schedule_catch_up_seconds

    async def create(self, spec: ScheduleSpec, schedule_id: str) -> Schedule:
        request = self._turn.state.request
        if request.woken:
            message = "A turn that began by itself makes no schedules: only one that a person has asked for does."
            raise EngineError(ErrorCode.PERMISSION_DENIED, message)
        if request.parent is not None:
            message = "A sub-agent makes no schedules: tell the agent you work for what is wanted."
            raise EngineError(ErrorCode.PERMISSION_DENIED, message)
        agent = None if request.agent is None else request.agent.name
        spec = replace(spec, model=request.model, agent=agent, permission_mode=request.permission_mode)
        await self._turn.flush()
        return await self._desk.create(self._turn.key.user_id, spec, schedule_id)

    async def schedules(self, limit: int) -> list[Schedule]:
        user_id = self._turn.key.user_id
        active = await self._desk.schedules(user_id, limit=limit, status="active")
        return [*active, *await self._desk.schedules(user_id, limit=limit, status="paused")]

    async def cancel(self, schedule_id: str) -> Schedule:
        return await self._desk.cancel(self._turn.key.user_id, schedule_id)


def offered(services: Services, turn: Turn) -> SchedulesOffered:
    return Offered(services, turn)


def desk(services: Services) -> Desk:
    """Where schedules are made and stopped."""
    return Desk(services.brain, services.settings, services.now, Gate(services))


def words(schedule: Schedule, occurrence: Occurrence) -> str:
    """What the model is told: which schedule it is, when it was due, and what was to be said."""
    spec = schedule.spec
    name = spec.name or schedule.schedule_id
    when = "came true" if isinstance(spec.trigger, WatchTrigger) else "due"
    asked = ", run by hand" if occurrence.by_hand else ""
    return f"[Scheduled: {name}, {when} {iso_ms(occurrence.due_at)}{asked}]\n{spec.prompt}"


async def permitted(services: Services, user_id: str, spec: ScheduleSpec, trigger: WatchTrigger) -> None:
    """Refuse a check that somebody would have to be asked about if a model wanted to make it."""
    call = (
        ToolCall(id="watch", name="bash", input={"command": trigger.command})
        if trigger.command is not None
        else ToolCall(id="watch", name="web_fetch", input={"url": trigger.url})
    )
    mode = moded(services.settings, order_of(spec, "", "")).permission_mode or "default"
    weighed = await services.permissions.test(ThreadKey(user_id, spec.task_id or ""), call, mode)
    if weighed.decision.behavior != "allow":
        raise EngineError(
            ErrorCode.PERMISSION_DENIED,
            f"The check may not run by itself: {weighed.decision.reason}",
            {"fields": [{"field": "watch", "problem": weighed.decision.reason}]},
        )


def order_of(spec: ScheduleSpec, task_id: str, message: str) -> Order:
    return Order(
        task_id=task_id,
        message=message,
        model=spec.model,
        agent=spec.agent,
        permission_mode=spec.permission_mode,
        unattended=True,
        woken=1,
    )


def usual_zone(settings: Settings) -> str:
    """Whose clocks are meant when none are named."""
    return "UTC" if settings.time_zone == NO_CLOCK else settings.time_zone
