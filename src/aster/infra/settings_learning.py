"""The settings about learning: whether the engine learns from what happened, when, and for how much money."""

from typing import Literal

from pydantic import BaseModel, Field

from aster.infra.settings_flag import Flag


class LearningSettings(BaseModel):
    """The learning centre."""

    learning: Literal["auto", "on", "off"] = Field(
        "auto",
        description="Whether the engine learns from ended turns and feedback: `on` by itself; `auto` by itself where"
        " LLM_POOL_WORKER or LIGHT_MODEL is set, else when it is asked to; `off` not at all, and nothing is kept for"
        " it (docs/learning.md).",
    )
    lc_batch_interval_hours: float = Field(
        24.0,
        ge=0,
        description="After how many hours the engine learns from what has happened; 0 is only when idle.",
    )
    lc_idle_seconds: float = Field(
        120.0,
        ge=0,
        description="After how long without a message from anybody it learns from what has happened meanwhile.",
    )
    lc_review: Flag = Field(
        False, description="Propose what was learned, and change memory only when a person accepts it."
    )
    lc_budget_usd: float | None = Field(
        1.0,
        ge=0,
        description="Most that learning may cost for each user and day, in USD; 0 is nothing, empty is no limit.",
    )
    lc_trial_turns: int = Field(
        5,
        ge=3,
        le=50,
        description="On how many recorded turns a lesson or heuristic is tried, with it and without it, before it is"
        " remembered or dropped (docs/learning-trials.md).",
    )
    self_play: Flag = Field(
        False,
        description="Let the agent set itself challenges when nobody has written for an hour, or when it is asked to,"
        " shut in without network and without anything of users'; what it learns goes on trial (docs/self-play.md).",
    )
    self_play_budget_usd: float = Field(
        0.5, gt=0, description="Most that self-play may cost each day, for everybody together, in USD."
    )
