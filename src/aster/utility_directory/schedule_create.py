"""Making a schedule: something that is to be said to a task later, or again and again."""

from datetime import UTC, datetime
from typing import Any, Final

from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.schedules import (
    CronTrigger,
    IntervalTrigger,
    OnceTrigger,
    ScheduleSpec,
    Trigger,
    WatchTrigger,
)
from aster.contracts.tools import Effect, ToolDef, ToolOutcome
from aster.infra.clock import iso_ms
from aster.infra.ids import derived_id
from aster.utility_directory.scheduling import SchedulesOffered
from aster.utility_directory.tool import Input, Tool, ToolContext, input_schema

WATCH_SECONDS: Final = 60
_WHEN: Final = ("cron", "every_seconds", "at", "watch_command", "watch_url")


class ScheduleCreate(Tool):
    untrusted_output = False
    definition = ToolDef(
        name="schedule_create",
        description=(
            "Have a prompt run later, at set times, or when something becomes true. Give exactly one of cron, at,"
            " watch_command, watch_url, or every_seconds alone. Nobody is there when it runs: what needs a"
            " person's permission is refused then. Only when the person wants it."
        ),
        input_schema=input_schema(
            ("prompt",),
            prompt={"type": "string", "minLength": 1, "description": "What to do then, understandable by itself."},
            name={"type": "string", "maxLength": 100, "description": "What the person calls it."},
            cron={
                "type": "string",
                "description": "Five fields or @daily and the like, by the clocks of time_zone.",
            },
            time_zone={"type": "string", "description": "Such as Europe/Berlin."},
            every_seconds={"type": "integer", "minimum": 10, "description": "With a watch: how often to look."},
            at={"type": "string", "description": "Once: ISO 8601, such as 2026-04-27T09:00:00+02:00."},
            watch_command={"type": "string", "description": "Fires when this shell command begins to exit with 0."},
            watch_url={
                "type": "string",
                "description": "Fires when this address begins to answer without an error.",
            },
            new_task={"type": "boolean", "description": "True: each run in a task of its own, not in this one."},
            max_runs={"type": "integer", "minimum": 1, "description": "End it after so many runs."},
        ),
    )

    def effect(self, given: Input) -> Effect:
        return Effect.IDEMPOTENT

    async def run(self, given: Input, context: ToolContext) -> ToolOutcome:
        offered = context.schedules
        if offered is None:
            return ToolOutcome.error("Error: there are no schedules here.", reason="no_schedules")
        try:
            spec = ScheduleSpec(
                trigger=trigger_of(given, offered),
                prompt=given["prompt"],
                name=given.get("name") or "",
                task_id=None if given.get("new_task") else context.task_id,
                catch_up_seconds=offered.catch_up_seconds,
                max_runs=given.get("max_runs"),
            )
            made = await offered.create(spec, derived_id("schedule", context.idempotency_key))
        except EngineError as error:
            return ToolOutcome.error(f"Error: {error.message}", reason=error.code.lower())
        watched = isinstance(made.spec.trigger, WatchTrigger)
        first = "It is looked at from now on." if watched else f"First due {iso_ms(made.next_at or 0)}."
        return ToolOutcome.text(f"Made {made.schedule_id}. {first}", {"id": made.schedule_id})


def trigger_of(given: dict[str, Any], offered: SchedulesOffered) -> Trigger:
    """When it is due, as the call says."""
    named = [name for name in _WHEN if given.get(name) is not None]
    watched = next((name for name in named if name.startswith("watch_")), None)
    if watched is not None:
        named = [name for name in named if name != "every_seconds"]
    if len(named) != 1:
        raise EngineError(ErrorCode.INVALID_REQUEST, f"Give exactly one of {', '.join(_WHEN)}.")
    every = given.get("every_seconds")
    match named[0]:
        case "cron":
            return CronTrigger(cron=given["cron"], time_zone=given.get("time_zone") or offered.time_zone)
        case "every_seconds":
            return IntervalTrigger(seconds=given["every_seconds"])
        case "at":
            return OnceTrigger(at=_moment(given["at"]))
        case _:
            return WatchTrigger(
                seconds=every or WATCH_SECONDS, command=given.get("watch_command"), url=given.get("watch_url")
            )


def _moment(text: str) -> int:
    try:
        at = datetime.fromisoformat(text)
        return int((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() * 1000)
    except (ValueError, OverflowError):
        message = f"`at` is not a time such as 2026-04-27T09:00:00+02:00: {text[:40]!r}."
        raise EngineError(ErrorCode.INVALID_REQUEST, message) from None
