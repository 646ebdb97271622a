"""What may be said of a schedule over HTTP: a new one, or what is to be another in one there is."""

from datetime import UTC, datetime
from typing import Annotated, Any, Self

from msgspec.structs import replace
from pydantic import Field, StrictBool, StrictInt, model_validator
from pydantic_core import PydanticCustomError

from aster.contracts.permissions import PermissionMode
from aster.contracts.schedules import (
    CatchUp,
    CronTrigger,
    IntervalTrigger,
    OnceTrigger,
    ScheduleSpec,
    Trigger,
    WatchTrigger,
)
from aster.engine_core.engine import Engine
from aster.engine_core.schedules import usual_zone
from aster.server.bodies import LARGEST, OtherId, TaskId
from aster.server.media import Part, Text
from aster.work.schedules.cron import MOST_CHARS
from aster.work.schedules.desk import (
    LONGEST_SECONDS,
    MOST_CATCH_UP,
    NAME_CHARS,
    PROMPT_CHARS,
    SHORTEST_SECONDS,
    wrong,
)

Seconds = Annotated[StrictInt, Field(ge=SHORTEST_SECONDS, le=LONGEST_SECONDS)]
_COMMAND_CHARS = 10_000
_WHEN = ("cron", "every_seconds", "at", "watch")


class WatchPart(Part):
    """What is waited for: one of `command` and `url`. It fires when it was not so before and is so now."""

    command: Text | None = Field(
        None,
        min_length=1,
        max_length=_COMMAND_CHARS,
        description="A shell command, run in the sandbox in the workspace of `task_id`; true when it ends with 0. It"
        " has to be one that runs without anybody being asked.",
    )
    url: Text | None = Field(
        None, min_length=1, max_length=8000, description="A public address; true when it answers."
    )
    status: StrictInt | None = Field(None, ge=100, le=599, description="With this status; else without an error.")
    every_seconds: Seconds = Field(60, description="How often to look.")


class TimesPart(Part):
    """When a schedule is due, and what can be said of it besides."""

    cron: Text | None = Field(
        None,
        min_length=1,
        max_length=MOST_CHARS,
        description="Minute, hour, day of month, month, day of week; or `@daily` and the like. When both kinds of day"
        " are restricted, either is enough.",
    )
    time_zone: Text | None = Field(
        None, max_length=64, description="Whose clocks `cron` means, such as `Europe/Berlin`; left out, TIME_ZONE."
    )
    every_seconds: Seconds | None = Field(None, description="Every so many seconds.")
    at: datetime | None = Field(None, description="Once, at this moment (ISO 8601; without an offset it is UTC).")
    watch: WatchPart | None = None
    model: OtherId | None = Field(None, description="One of `LLM_ALLOWED_MODELS`; left out, the usual one.")
    agent: OtherId | None = Field(None, description="Who answers, by name; left out, the usual agent.")
    permission_mode: PermissionMode | None = Field(None, description="As in `POST /execute`.")
    catch_up_seconds: StrictInt | None = Field(
        None, ge=0, le=MOST_CATCH_UP, description="If they are at most so old; left out, SCHEDULE_CATCH_UP_SECONDS."
    )
    expires_at: datetime | None = Field(None, description="It is not due after this.")
    max_runs: StrictInt | None = Field(None, ge=1, le=LARGEST, description="It ends after so many runs.")

    @property
    def _ways(self) -> list[str]:
        """In which ways it is said when it is due."""
        return [name for name in _WHEN if getattr(self, name) is not None]

    def _trigger(self, zone: str) -> Trigger:
        if self.cron is not None:
            return CronTrigger(cron=self.cron, time_zone=self.time_zone or zone)
        if self.every_seconds is not None:
            return IntervalTrigger(seconds=self.every_seconds)
        if self.at is not None:
            return OnceTrigger(at=_ms(self.at))
        assert self.watch is not None
        watch = self.watch
        return WatchTrigger(seconds=watch.every_seconds, command=watch.command, url=watch.url, status=watch.status)


class ScheduleBody(TimesPart):
    """A schedule: a prompt, and one of `cron`, `every_seconds`, `at` and `watch`."""

    prompt: Text = Field(min_length=1, max_length=PROMPT_CHARS, description="What is said when it is due.")
    name: Text = Field("", max_length=NAME_CHARS, description="What people call it.")
    task_id: TaskId | None = Field(None, description="The task it is said to; left out, every run has its own.")
    catch_up: CatchUp = Field(
        "latest",
        description="Which of the times that no engine was there for are made up for: the `latest`, `all`, or `none`.",
    )
    jitter: StrictBool = Field(
        False,
        description="Put its times off by up to a tenth of the period, 15 minutes at most; always by the same.",
    )
    durable: StrictBool = Field(True, description="False: it ends with the engine process that it was made on.")

    @model_validator(mode="after")
    def _due_in_one_way(self) -> Self:
        given = self._ways
        if len(given) != 1:
            problem = f"excludes {given[1]}" if given else f"is missing (or {', '.join(_WHEN[1:])})"
            raise PydanticCustomError("when", problem, {"field": given[0] if given else "cron"})  # type: ignore[arg-type]
        return self

    def spec(self, engine: Engine) -> ScheduleSpec:
        usual = engine.settings.schedule_catch_up_seconds
        return ScheduleSpec(
            trigger=self._trigger(usual_zone(engine.settings)),
            prompt=self.prompt,
            name=self.name,
            task_id=self.task_id,
            model=self.model,
            agent=self.agent,
            permission_mode=self.permission_mode,
            catch_up=self.catch_up,
            catch_up_seconds=usual if self.catch_up_seconds is None else self.catch_up_seconds,
            jitter=self.jitter,
            expires_at=None if self.expires_at is None else _ms(self.expires_at),
            max_runs=self.max_runs,
            durable=self.durable,
        )


class ScheduleEditBody(TimesPart):
    """What is to be another; what is left out stays. One of `cron`, `every_seconds`, `at` and `watch` takes the place
    of whichever there was; `time_zone` alone moves a `cron`. Null takes away `model`, `agent`, `permission_mode`,
    `expires_at` and `max_runs`."""

    prompt: Text | None = Field(
        None, min_length=1, max_length=PROMPT_CHARS, description="What is said from now on."
    )
    name: Text | None = Field(None, max_length=NAME_CHARS)
    catch_up: CatchUp | None = None
    jitter: StrictBool | None = None
    version: StrictInt | None = Field(None, ge=1, description="Change it only if it is still at this version.")

    @model_validator(mode="after")
    def _due_in_one_way(self) -> Self:
        given = self._ways
        if len(given) > 1:
            raise PydanticCustomError("when", f"excludes {given[1]}", {"field": given[0]})  # type: ignore[arg-type]
        return self

    def changed(self, spec: ScheduleSpec, engine: Engine) -> ScheduleSpec:
        """The schedule as it is to be."""
        kept = ("prompt", "name", "catch_up", "catch_up_seconds", "jitter")
        given: dict[str, Any] = {name: value for name in kept if (value := getattr(self, name)) is not None}
        taken = {"model", "agent", "permission_mode", "max_runs"} & self.model_fields_set
        given |= {name: getattr(self, name) for name in taken}
        if "expires_at" in self.model_fields_set:
            given["expires_at"] = None if self.expires_at is None else _ms(self.expires_at)
        before = spec.trigger
        if self._ways:
            zone = before.time_zone if isinstance(before, CronTrigger) else usual_zone(engine.settings)
            given["trigger"] = self._trigger(zone)
        elif self.time_zone is not None:
            if not isinstance(before, CronTrigger):
                raise wrong("time_zone", "is for `cron` alone")
            given["trigger"] = replace(before, time_zone=self.time_zone)
        return replace(spec, **given)


def _ms(moment: datetime) -> int:
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)
