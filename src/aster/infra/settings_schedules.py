"""The settings about schedules: how many there may be, and whether models may make them."""

from pydantic import BaseModel, Field

from aster.infra.settings_flag import Flag


class ScheduleSettings(BaseModel):
    """What is done at a time of its own."""

    schedules_per_user: int = Field(
        50, ge=0, description="Most schedules that a user may have active or paused at a time; 0 is none."
    )
    schedule_catch_up_seconds: int = Field(
        3600,
        ge=0,
        description="How old a time that nobody was there for may be to be made up for, unless the schedule says"
        " otherwise (docs/work/schedules.md).",
    )
    schedule_tools: Flag = Field(
        True, description="Let models make, list and cancel schedules for the person they work for."
    )
