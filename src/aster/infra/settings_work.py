"""The settings about work that outlives a turn."""

from typing import Literal

from pydantic import BaseModel, Field


class WorkSettings(BaseModel):
    """The work graph."""

    work_tools: Literal["auto", "on", "off"] = Field(
        "auto",
        description="Who is offered the `task_*` tools: `auto` models of users who have work on a board, `on`"
        " everybody, `off` nobody (docs/work/graph.md).",
    )
    work_items_max: int = Field(
        20_000, ge=1, description="Most items a user may have open (pending or in progress) on all boards together."
    )
