"""Schedules: what is to be said to a task, and when; and every time that was due, with what became of it."""

from typing import Literal, TypeAlias

from aster.contracts.model import Contract
from aster.contracts.permissions import PermissionMode

ScheduleStatus: TypeAlias = Literal["active", "paused", "ended", "cancelled"]
OccurrenceStatus: TypeAlias = Literal["due", "deferred", "delivered", "acknowledged", "missed", "skipped", "failed"]
CatchUp: TypeAlias = Literal["latest", "all", "none"]


class CronTrigger(Contract, tag_field="kind", tag="cron"):
    """At the times of a cron expression, by the clocks of a time zone."""

    cron: str
    time_zone: str = "UTC"


class IntervalTrigger(Contract, tag_field="kind", tag="interval"):
    """Every so many seconds, counted from when it was made."""

    seconds: int


class OnceTrigger(Contract, tag_field="kind", tag="once"):
    """At one moment (milliseconds since the epoch)."""

    at: int


class WatchTrigger(Contract, tag_field="kind", tag="watch"):
    """When a check that was false comes out true: a command that ends with 0, or an address that answers with this
    status (any that is no error, when none is named). It is looked at every so many seconds."""

    seconds: int
    command: str | None = None
    url: str | None = None
    status: int | None = None


Trigger: TypeAlias = CronTrigger | IntervalTrigger | OnceTrigger | WatchTrigger


class ScheduleSpec(Contract):
    """What a schedule is, as somebody wrote it down. Without a task every run gets one of its own. `catch_up` says
    which of the times that nobody was there for are made up for, if they are at most `catch_up_seconds` old. `revision`
    grows with every change that somebody makes."""

    trigger: Trigger
    prompt: str
    name: str = ""
    task_id: str | None = None
    model: str | None = None
    agent: str | None = None
    permission_mode: PermissionMode | None = None
    catch_up: CatchUp = "latest"
    catch_up_seconds: int = 3600
    jitter: bool = False
    expires_at: int | None = None
    max_runs: int | None = None
    durable: bool = True
    revision: int = 1


class Schedule(Contract):
    """A schedule as it stands. `next_at` is when it is due next, or a watch is looked at next; `held` is what a watch
    saw last, `holder` the process that a schedule ends with, `problem` why it does not do what it should."""

    schedule_id: str
    user_id: str
    spec: ScheduleSpec
    status: ScheduleStatus
    next_at: int | None
    created_at: int
    updated_at: int
    number: int = 0
    runs: int = 0
    version: int = 0
    held: bool = False
    holder: str = ""
    problem: str = ""


class Occurrence(Contract):
    """A time that was due. One that was missed may stand for `count` of them, up to `until_at`; `look_at` is when it is
    looked at next, `attempt` counts turns that ended before their first answer, `after_turn_id` is what the turn
    followed."""

    schedule_id: str
    user_id: str
    due_at: int
    status: OccurrenceStatus
    look_at: int
    created_at: int
    task_id: str = ""
    turn_id: str = ""
    after_turn_id: str | None = None
    by_hand: bool = False
    count: int = 1
    until_at: int | None = None
    attempt: int = 0
    delivered_at: int | None = None
    settled_at: int | None = None
    reason: str = ""
