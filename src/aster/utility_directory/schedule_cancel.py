"""Cancelling a schedule, with what waits of it."""

from aster.contracts.errors import EngineError
from aster.contracts.tools import Effect, ToolDef, ToolOutcome
from aster.utility_directory.tool import Input, Tool, ToolContext, input_schema


class ScheduleCancel(Tool):
    untrusted_output = False
    definition = ToolDef(
        name="schedule_cancel",
        description="Cancel one of the person's schedules for good, with what waits of it. Only when they want it.",
        input_schema=input_schema(
            ("id",), id={"type": "string", "maxLength": 128, "description": "The id that schedule_list shows."}
        ),
    )

    def effect(self, given: Input) -> Effect:
        return Effect.IDEMPOTENT

    async def run(self, given: Input, context: ToolContext) -> ToolOutcome:
        if context.schedules is None:
            return ToolOutcome.error("Error: there are no schedules here.", reason="no_schedules")
        try:
            gone = await context.schedules.cancel(given["id"])
        except EngineError as error:
            return ToolOutcome.error(f"Error: {error.message}", reason=error.code.lower())
        return ToolOutcome.text(f"Cancelled {gone.schedule_id}.", {"id": gone.schedule_id})
