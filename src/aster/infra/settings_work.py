"""The settings about work that outlives a turn."""

from typing import Literal

from pydantic import BaseModel, Field


class WorkSettings(BaseModel):
    """The work graph."""

    work_tools: Literal["auto", "on", "off"] = Field(
        "auto",
        description="Who is offered the `task_*` tools: `auto` models of users who have work on a board, and those that"
        " bring them with `open_tools`, `on` everybody's, `off` nobody's (docs/work/graph.md).",
    )
    work_items_max: int = Field(
        20_000, ge=1, description="Most items a user may have open (pending or in progress) on all boards together."
    )
    worktrees_max: int = Field(
        100,
        ge=0,
        description="Most git worktrees a user may have at once; 0: none are made (docs/work/worktrees.md).",
    )
    team_tools: Literal["auto", "on", "off"] = Field(
        "auto",
        description="Whose models may propose a team (`spawn_team`): `auto` those of users who have work on a board,"
        " and those that bring it with `open_tools`, `on` everybody's, `off` nobody's; who leads or is in a team has"
        " the other tools of teams (docs/work/teams.md).",
    )
    team_members: int = Field(8, ge=1, le=50, description="Most members of a team that have not stopped.")
    team_turns: int = Field(
        25,
        ge=1,
        description="Most turns of a member without a person's word to it in between; then it waits for one.",
    )
    team_wakes: int = Field(
        25,
        ge=0,
        description="Most turns in a row that mail of its team starts in a task that leads, without a person's word in"
        " between; 0 is none.",
    )
    team_budget_usd: float = Field(
        0.0,
        ge=0,
        description="What the members of a team may spend together if the team has no budget of its own; 0: only the"
        " budgets of the task that leads hold.",
    )
    team_mail_per_minute: int = Field(
        60, ge=1, description="Most messages of one sender in a team within a minute."
    )
    team_mail_unread: int = Field(
        200,
        ge=1,
        description="Most messages that may wait for one recipient in a team; beyond, writing is refused.",
    )
    team_plan_reviewer: Literal["person", "lead"] = Field(
        "person",
        description="Who says yes or no to the plan of a team's member that was asked for one: a `person`, over HTTP"
        " or in the inbox, or the agent that leads the team (`lead`) (docs/work/team-plans.md).",
    )
    project_tools: Literal["auto", "on", "off"] = Field(
        "auto",
        description="Who is offered `manage_projects`: `auto` models of users who have a project, and those that bring"
        " it with `open_tools`, `on` everybody's, `off` nobody's; with `off` no project is suggested either"
        " (docs/work/projects.md).",
    )
    projects_per_user: int = Field(100, ge=1, description="Most projects of a user that are not archived.")
    project_steps: int = Field(
        50, ge=0, description="Most items that a project begins by itself, if it has no limit of its own."
    )
    project_seconds: float = Field(
        7200.0, ge=0, description="Most seconds that turns of a project run, if it has no limit of its own."
    )
    project_tool_calls: int = Field(
        1000, ge=0, description="Most tool calls of a project's turns, if it has no limit of its own."
    )
    work_history_max: int = Field(
        500, ge=10, description="Changes kept of each work item; the one that made it is always kept."
    )
    bash_stall_seconds: float = Field(
        45.0,
        ge=0,
        description="A background command that is silent so long after a question is told of as `stalled`; it is never"
        " ended for that. 0 looks for none.",
    )
