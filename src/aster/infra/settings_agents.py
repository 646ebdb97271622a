"""The settings about agents: how far work is handed on, and what they may make of it for later."""

from pydantic import Field

from aster.infra.settings_flag import Flag
from aster.infra.settings_schedules import ScheduleSettings


class AgentSettings(ScheduleSettings):
    """Sub-agents, skills and schedules."""

    subagent_max_turns: int = Field(30, ge=1, description="Most model calls of one sub-agent.")
    subagent_depth: int = Field(
        2, ge=0, le=5, description="How often work may be handed on from agent to agent; 0 is not at all."
    )
    subagents_per_turn: int = Field(
        20, ge=1, description="Most sub-agents that one message of a person may lead to, at every depth together."
    )
    subagent_wakes: int = Field(
        5,
        ge=0,
        description="How many turns in a row the ends of agents and commands in the background may start by"
        " themselves, without a person's word in between; 0 is none.",
    )
    acquired_skills: Flag = Field(
        True,
        description="Let models make skills of their own: code that passed its test, and calls of tools that a person"
        " has approved (docs/skills.md).",
    )
    workspace_skills: Flag = Field(
        False,
        description="Offer models the skills in `.aster/skills` and `skills` of ALLOWED_ROOTS; whoever owns those files"
        " wrote them.",
    )
