"""What a turn works with: the parts of the engine, given once, never looked up."""

from collections.abc import Callable
from dataclasses import dataclass, field

from aster.brain.protocol import Brain
from aster.engine_core.agents.offspring import Offspring
from aster.engine_core.agents.roster import Roster
from aster.engine_core.budget import Budgets
from aster.engine_core.connectors.toolset import Connectors
from aster.engine_core.context.foundations import Foundations
from aster.engine_core.context.prompt import Prompts
from aster.engine_core.context.root_notes import RootNotes
from aster.engine_core.door_places import Recent
from aster.engine_core.history import History
from aster.engine_core.hooks.hooks import Hooks
from aster.engine_core.journal import Journal
from aster.engine_core.permissions import Permissions
from aster.engine_core.teams.teams import Teams
from aster.engine_core.verifying.waiting import Waiting
from aster.herald.pools import Pools
from aster.infra.clock import now_ms
from aster.infra.secrets import Secrets
from aster.infra.settings import Settings
from aster.media.desk import MediaDesk
from aster.memory.bus import MemoryBus
from aster.memory.memory import Memory
from aster.raven.raven import Raven
from aster.sandbox.backend import Sandbox
from aster.sandbox.workspaces import Workspaces
from aster.skills.shelf import Shelf
from aster.utility_directory.background import Background
from aster.utility_directory.tool import ToolLimits
from aster.utility_directory.tool_runtime import ToolRuntime
from aster.work.graph.graph import WorkGraph
from aster.work.projects.projects import Projects
from aster.work.uses import Uses
from aster.work.worktrees.trees import Worktrees


@dataclass(frozen=True, slots=True)
class Services:
    settings: Settings
    brain: Brain
    herald: Pools
    tools: ToolRuntime
    sandbox: Sandbox
    workspaces: Workspaces
    root_notes: RootNotes
    limits: ToolLimits
    raven: Raven
    history: History
    budgets: Budgets
    secrets: Secrets
    permissions: Permissions
    hooks: Hooks
    background: Background
    memory: Memory
    bus: MemoryBus
    journal: Journal
    media: MediaDesk
    prompts: Prompts
    skills: Shelf
    connectors: Connectors
    agents: Roster
    uses: Uses
    work: WorkGraph
    worktrees: Worktrees
    projects: Projects
    now: Callable[[], int] = now_ms
    corrections: Waiting = field(default_factory=Waiting)
    foundations: Foundations = field(default_factory=Foundations)
    places: Recent = field(default_factory=Recent)
    offspring: Offspring = field(default_factory=Offspring)
    teams: Teams = field(default_factory=Teams)
