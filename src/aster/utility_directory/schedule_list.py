"""The schedules of the person a model works for, as far as they are not over."""

from typing import Final

from aster.contracts.schedules import CronTrigger, IntervalTrigger, OnceTrigger, Schedule
from aster.contracts.tools import Effect, ToolDef, ToolOutcome
from aster.infra.clock import iso_ms
from aster.utility_directory.tool import Input, Tool, ToolContext, input_schema

MOST: Final = 200
_WORDS: Final = 80


class ScheduleList(Tool):
    definition = ToolDef(
        name="schedule_list",
        description="List the person's schedules that are not over: id, when each is due, the next time, and what for.",
        input_schema=input_schema(()),
    )

    def effect(self, given: Input) -> Effect:
        return Effect.PURE

    def concurrent(self, given: Input) -> bool:
        return True

    async def run(self, given: Input, context: ToolContext) -> ToolOutcome:
        if context.schedules is None:
            return ToolOutcome.error("Error: there are no schedules here.", reason="no_schedules")
        found = await context.schedules.schedules(MOST)
        return ToolOutcome.text("\n".join(map(line, found)) or "(no schedules)", {"count": len(found)})


def line(schedule: Schedule) -> str:
    spec = schedule.spec
    match spec.trigger:
        case CronTrigger(cron=cron, time_zone=zone):
            when = f"{cron} ({zone})"
        case IntervalTrigger(seconds=seconds):
            when = f"every {seconds} s"
        case OnceTrigger():
            when = "once"
        case watch:
            when = f"watches {watch.command or watch.url} every {watch.seconds} s"
    following = schedule.status if schedule.next_at is None else f"next {iso_ms(schedule.next_at)}"
    what = " ".join((spec.name or spec.prompt).split())[:_WORDS]
    return f"{schedule.schedule_id}: {when}, {following}: {what}"
