"""Work events: what outlives a turn — agents, background work, schedules, teams, worktrees, goals."""

from typing import Any, Literal

from aster.contracts.budgets import BudgetCase
from aster.contracts.events.base import Event
from aster.contracts.tools import Artifact


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
    `summary` the end of what it said, which is whole in its artifact."""

    runtime_task_id: str
    work: Literal["bash", "agent"]
    status: Literal["running", "completed", "failed", "killed", "stalled", "lost", "timeout"]
    description: str | None = None
    summary: str | None = None
    exit_code: int | None = None
    tool_call_id: str | None = None
    artifacts: tuple[Artifact, ...] = ()


class ScheduleFired(Event, tag="schedule_fired"):
    schedule_id: str
    occurrence: str
    status: Literal["due", "delivered", "acknowledged", "missed", "skipped", "deferred"]
    prompt: str | None = None


class TeamMessage(Event, tag="team_message"):
    message_id: str
    sender: str
    recipient: str
    message_type: str
    content: str
    metadata: dict[str, Any] | None = None


class WorktreeEvent(Event, tag="worktree_event"):
    name: str
    action: Literal["created", "entered", "kept", "removed", "failed"]
    path: str | None = None
    branch: str | None = None
    work_task_id: str | None = None
    reason: str | None = None


class GoalStatus(Event, tag="goal_status"):
    goal: str
    status: Literal["active", "achieved", "failed", "blocked", "limit", "error", "cleared", "deferred"]
    reason: str | None = None
