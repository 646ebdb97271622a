"""Work events: what outlives a turn — agents, background work, the work graph, schedules, teams, worktrees, goals."""

from typing import Any, Literal

from aster.contracts.budgets import BudgetCase
from aster.contracts.events.base import Event
from aster.contracts.projects import ProjectAction, ProjectStatus
from aster.contracts.teams import TeamAction
from aster.contracts.tools import Artifact
from aster.contracts.work import WorkAction, WorkStatus
from aster.contracts.worktrees import WorktreeAction


class SubagentLifecycle(Event, tag="subagent_lifecycle"):
    """A sub-agent begins or has ended. What it does is on the thread of `child_task_id`; `tool_call_id` is the call it
    was begun for, `result` what it said at its end, `cost_usd` what it and its own sub-agents cost,
    `granted` what a person has allowed it to spend beyond the budgets, which are those of whoever it worked for."""

    child_turn_id: str
    agent: str
    phase: Literal["started", "completed", "errored", "cancelled"]
    description: str | None = None
    result: str | None = None
    child_task_id: str = ""
    tool_call_id: str | None = None
    background: bool = False
    stop_reason: str | None = None
    model_calls: int = 0
    cost_usd: float | None = None
    granted: tuple[BudgetCase, ...] = ()


class BackgroundTask(Event, tag="background_task"):
    """Work that outlives its turn begins (`running`) or has ended; `tool_call_id` is the call that began it,
    `summary` the end of what it said, which is whole in its artifact. In between it may be `stalled`: it is silent
    and the last it said is a question; when it goes on after all it is `running`, and `resumed`."""

    runtime_task_id: str
    work: Literal["bash", "agent"]
    status: Literal["running", "completed", "failed", "killed", "stalled", "lost", "timeout"]
    description: str | None = None
    summary: str | None = None
    exit_code: int | None = None
    tool_call_id: str | None = None
    artifacts: tuple[Artifact, ...] = ()
    resumed: bool = False


class WorkUpdate(Event, tag="work_update"):
    """An item of the work graph has changed, and stands so now. `by` is who changed it (`person` when it was one, over
    HTTP; `overrode` when that was the owner's to do), `unblocked` the items that became ready by it, `change_id` the
    change in the item's history."""

    item_id: str
    action: WorkAction
    subject: str
    status: WorkStatus
    change_id: str = ""
    board: str = "main"
    version: int = 1
    by: str = ""
    person: bool = False
    overrode: bool = False
    owner: str | None = None
    role: str | None = None
    priority: int = 0
    worktree: str | None = None
    blocked_by: tuple[str, ...] = ()
    unblocked: tuple[str, ...] = ()
    reason: str | None = None


class ScheduleFired(Event, tag="schedule_fired"):
    """A time of a schedule that was due, and what becomes of it: `occurrence` is that time, `reason` says why it was
    not simply done. With `missed`, `count` of them are meant."""

    schedule_id: str
    occurrence: str
    status: Literal["due", "delivered", "acknowledged", "missed", "skipped", "deferred", "failed"]
    prompt: str | None = None
    reason: str | None = None
    count: int = 1


class TeamMessage(Event, tag="team_message"):
    """Mail in a team, on the threads of both. `sender` and `recipient` are names within the team (`lead`, `person` and
    `engine` among them); `mail_seq` numbers what the recipient gets."""

    message_id: str
    sender: str
    recipient: str
    message_type: str
    content: str
    metadata: dict[str, Any] | None = None
    team_id: str = ""
    mail_seq: int = 0


class TeamUpdate(Event, tag="team_update"):
    """A team was made or stopped, or one of its members is another than before; told on the thread of the task that
    leads. `member_task_id` is the member's own task, `member_turn_id` the turn that began or ended, `item_id` the work
    it is at."""

    team_id: str
    team: str
    action: TeamAction
    member: str = ""
    role: str = ""
    agent: str = ""
    member_task_id: str = ""
    member_turn_id: str = ""
    item_id: str | None = None
    reason: str | None = None
    cost_usd: float | None = None


class WorktreeEvent(Event, tag="worktree_event"):
    """Something has become of a worktree: it was made for the item `work_task_id`, or could not be (`failed`), whoever
    claimed that works there from here on (`entered`), a person wants it to stay (`kept`), or it is gone (`removed`)."""

    name: str
    action: WorktreeAction
    path: str | None = None
    branch: str | None = None
    work_task_id: str | None = None
    reason: str | None = None
    worktree_id: str = ""


class GoalStatus(Event, tag="goal_status"):
    """The goal of a task was set (`active`) or cleared, or a turn was about to end and it was looked at: it is
    `achieved` or `failed` for good, or the turn goes on (`blocked`), or ends with the goal as it was. `blocks` is how
    often this turn was sent on."""

    goal: str
    status: Literal["active", "achieved", "failed", "blocked", "limit", "error", "cleared", "deferred"]
    reason: str | None = None
    goal_id: str = ""
    blocks: int = 0


class WorkflowUpdate(Event, tag="workflow_update"):
    """A run of a workflow moves on. `call_key` is the call of an agent in its journal, `child_task_id` where that
    agent works; `agents` were begun since the run was taken up, `cached` calls were not made again."""

    run_id: str
    workflow: str
    action: Literal[
        "started",
        "resumed",
        "phase",
        "log",
        "agent_started",
        "agent_completed",
        "agent_failed",
        "agent_cached",
        "completed",
        "failed",
        "cancelled",
    ]
    phase: str = ""
    label: str = ""
    call_key: str = ""
    child_task_id: str = ""
    message: str = ""
    attempt: int = 1
    agents: int = 0
    cached: int = 0
    cost_usd: float = 0.0


class ProjectUpdate(Event, tag="project_update"):
    """Something has happened in a project that this task works for; with `suggested`, the task has grown to where one
    may be worth it (there is none then, and none is made). `by` is who did it, `message` what there is to say."""

    action: ProjectAction
    project_id: str = ""
    title: str = ""
    status: ProjectStatus | None = None
    item_id: str = ""
    advance_id: str = ""
    by: str = ""
    message: str = ""
