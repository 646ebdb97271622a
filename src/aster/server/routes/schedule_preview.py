"""When a schedule would be due, told before it is made: what is typed is checked as it will be, and nothing is kept."""

from fastapi import APIRouter, Response
from pydantic import BaseModel, Field

from aster.engine_core.schedules import desk
from aster.infra.clock import iso_ms
from aster.server.bodies import warnings
from aster.server.errors import refusals
from aster.server.media import Text
from aster.server.routes.schedules import BODY
from aster.server.schedule_parts import ScheduleBody
from aster.server.visit import KEYED, Serving, Visiting
from aster.work.schedules.desk import PROMPT_CHARS

router = APIRouter(prefix="/schedules", tags=["schedules"], dependencies=KEYED)


class SchedulePreviewBody(ScheduleBody):
    """A schedule as far as it is thought out: one of `cron`, `every_seconds`, `at` and `watch`."""

    prompt: Text = Field("-", min_length=1, max_length=PROMPT_CHARS, description="Plays no part here.")


class SchedulePreviewAnswer(BaseModel):
    coming: list[str] = Field(description="The next few times, before `jitter`; a watch has none.")
    time_zone: str | None = Field(description="Whose clocks `cron` means.")


@router.post(
    "/preview",
    summary="See when a schedule would be due",
    response_model=SchedulePreviewAnswer,
    responses=refusals(*BODY),
)
async def preview_schedule(
    body: SchedulePreviewBody, engine: Serving, visit: Visiting, response: Response
) -> SchedulePreviewAnswer:
    """Refused as making it would be when its times make no sense."""
    spec = body.spec(engine)
    times = desk(engine.services).preview(visit.user_id, spec)
    response.headers.update(warnings(body))
    return SchedulePreviewAnswer(
        coming=[iso_ms(at) for at in times], time_zone=getattr(spec.trigger, "time_zone", None)
    )
