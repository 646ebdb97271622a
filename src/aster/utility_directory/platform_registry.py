"""The tools an engine has, by name. Adding a tool is adding its object here; nothing else knows the list."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.tools import ToolDef
from aster.infra.settings import Settings
from aster.memory.embeddings.embedder import Embedder
from aster.skills.shelf import Shelf
from aster.utility_directory.agent_output import AgentOutput
from aster.utility_directory.ask_user import AskUser
from aster.utility_directory.bash import Bash
from aster.utility_directory.bash_kill import BashKill
from aster.utility_directory.bash_output import BashOutput
from aster.utility_directory.compact import Compact
from aster.utility_directory.compose_skill import ComposeSkill
from aster.utility_directory.create_skill import CreateSkill
from aster.utility_directory.edit_file import EditFile
from aster.utility_directory.file_search import FileSearch
from aster.utility_directory.find import Find
from aster.utility_directory.flag_uncertainty import FlagUncertainty
from aster.utility_directory.glob import Glob
from aster.utility_directory.grep import Grep
from aster.utility_directory.ingested_read import IngestedRead
from aster.utility_directory.ingested_search import IngestedSearch
from aster.utility_directory.load_skill import LoadSkill
from aster.utility_directory.manage_projects import ManageProjects
from aster.utility_directory.memory_forget import MemoryForgetTool
from aster.utility_directory.memory_search import MemorySearchTool
from aster.utility_directory.memory_write import MemoryWriteTool
from aster.utility_directory.open_tools import OPENED, OpenTools
from aster.utility_directory.places import BOARD, PROJECTS
from aster.utility_directory.read_file import ReadFile
from aster.utility_directory.request_plan import RequestPlan
from aster.utility_directory.request_shutdown import RequestShutdown
from aster.utility_directory.review_plan import ReviewPlan
from aster.utility_directory.run_skill import RunSkill
from aster.utility_directory.schedule_cancel import ScheduleCancel
from aster.utility_directory.schedule_create import ScheduleCreate
from aster.utility_directory.schedule_list import ScheduleList
from aster.utility_directory.schema import Validate, compiled
from aster.utility_directory.spawn_agent import SpawnAgent
from aster.utility_directory.spawn_team import SpawnTeam
from aster.utility_directory.submit_plan import SubmitPlan
from aster.utility_directory.task_claim import TaskClaim
from aster.utility_directory.task_complete import TaskComplete
from aster.utility_directory.task_create import TaskCreate
from aster.utility_directory.task_get import TaskGet
from aster.utility_directory.task_list import TaskList
from aster.utility_directory.task_release import TaskRelease
from aster.utility_directory.task_update import TaskUpdate
from aster.utility_directory.team_list import TeamList
from aster.utility_directory.team_message import TeamMessageTool
from aster.utility_directory.todo_write import TodoWrite
from aster.utility_directory.tool import Tool
from aster.utility_directory.update_plan import UpdatePlan
from aster.utility_directory.use_skill import UseSkill
from aster.utility_directory.web_fetch import WebFetch
from aster.utility_directory.web_search import WebSearch
from aster.utility_directory.working_memory_write import WorkingMemoryWrite
from aster.utility_directory.worktree_create import WorktreeCreate
from aster.utility_directory.write_file import WriteFile


@dataclass(frozen=True, slots=True)
class Registered:
    """A tool with its compiled schema."""

    tool: Tool
    validate: Validate


class Registry:
    """Tools in the order they were added, which is the order the model sees."""

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self._tools: dict[str, Registered] = {}
        self._hidden: set[str] = set()
        self._told: dict[frozenset[str], tuple[ToolDef, ...]] = {}
        for tool in tools:
            self.add(tool)

    def add(self, tool: Tool, *, known: bool = False) -> None:
        """Add a tool. One not `known` to be sound is checked now, so that it stops the start and not a call."""
        name = tool.definition.name
        if name in self._tools:
            raise EngineError(ErrorCode.CONFIGURATION_INVALID, f"There are two tools named {name!r}; rename one.")
        schema = tool.checked_schema or tool.definition.input_schema
        self._tools[name] = Registered(tool, compiled(name, schema, at_once=not known))
        self._told.clear()

    def get(self, name: str) -> Registered | None:
        return self._tools.get(name)

    def extended(self, tools: Iterable[Tool], hidden: Iterable[Tool] = ()) -> "Registry":
        """These tools and those behind them, as a registry of its own. `hidden` ones can be called; no model is told of
        them."""
        registry = Registry()
        registry._tools.update(self._tools)
        for tool in tools:
            registry.add(tool)
        for tool in hidden:
            registry.add(tool, known=True)
            registry._hidden.add(tool.definition.name)
        return registry

    def replaced(self, tool: Tool) -> "Registry":
        """The same with this tool in the place of the one of its name."""
        name = tool.definition.name
        registry = Registry()
        registry._tools.update(self._tools)
        registry._tools[name] = Registered(tool, compiled(name, tool.definition.input_schema, at_once=False))
        return registry

    @property
    def tools(self) -> tuple[Tool, ...]:
        return tuple(registered.tool for registered in self._tools.values())

    @property
    def names(self) -> tuple[str, ...]:
        """Those that models are always told of."""
        tools = self._tools.items()
        return tuple(name for name, one in tools if name not in self._hidden and not one.tool.places)

    @property
    def definitions(self) -> tuple[ToolDef, ...]:
        """What every model is told of them."""
        return self.told(frozenset())

    def told(self, places: frozenset[str]) -> tuple[ToolDef, ...]:
        """What a model is told of them where it is: the same object while the tools are the same, so that it is
        counted once."""
        found = self._told.get(places)
        if found is None:
            besides = (name for name, one in self._tools.items() if one.tool.places & places)
            found = tuple(self._tools[name].tool.definition for name in (*self.names, *besides))
            self._told[places] = found
        return found


def platform_tools(
    settings: Settings | None = None, vectors: Embedder | str | None = None, shelf: Shelf | None = None
) -> Registry:
    """The tools every engine has; `vectors` is who makes them for all of the engine, or why nobody does; `shelf` has
    the skills."""
    registry = Registry()
    files = (ReadFile(), WriteFile(), EditFile(), Glob(), Grep(), Find())
    web = (WebFetch(settings), WebSearch(settings))
    notes = (TodoWrite(), UpdatePlan(), FlagUncertainty(), Compact())
    remembering = (MemoryWriteTool(), MemorySearchTool(), MemoryForgetTool(), WorkingMemoryWrite())
    memory = remembering if settings is None or settings.memory_enabled else ()
    search = (FileSearch(settings, vectors), *web)
    ingested = (
        (IngestedSearch(), IngestedRead()) if settings is not None and settings.content_ingestion_enabled else ()
    )
    acquired = (
        (CreateSkill(shelf), ComposeSkill(shelf), UseSkill(shelf))
        if settings is None or settings.acquired_skills
        else ()
    )
    skills = (LoadSkill(shelf), RunSkill(shelf), *acquired)
    agents = (SpawnAgent(), AgentOutput()) if settings is None or settings.subagent_depth else ()
    scheduled = settings is None or settings.schedule_tools
    times = (ScheduleCreate(), ScheduleList(), ScheduleCancel()) if scheduled else ()
    own = (Bash(), BashOutput(), BashKill(), *files, AskUser())
    placed = (*_board(settings), *_team(settings), *_projects(settings))
    usual = (*own, *search, *notes, *memory, *ingested, *skills, *agents, *times)
    for tool in (*usual, *_opening(settings, placed), *placed):
        registry.add(tool, known=True)
    return registry


def _opening(settings: Settings | None, placed: Sequence[Tool]) -> tuple[Tool, ...]:
    """The tool that brings others, if there are some that are not offered by themselves."""
    if settings is None:
        return ()
    offers = {"work": settings.work_tools, "team": settings.team_tools, "projects": settings.project_tools}
    kinds = {
        kind: tuple(tool.definition.name for tool in placed if tool.places.intersection(OPENED[kind]))
        for kind, offer in offers.items()
        if offer == "auto"
    }
    return (OpenTools(kinds),) if kinds else ()


def _projects(settings: Settings | None) -> tuple[Tool, ...]:
    """The tool of projects, as the operator wants it offered."""
    offer, tool = "on" if settings is None else settings.project_tools, ManageProjects()
    if offer == "auto":
        tool.places = frozenset((PROJECTS,))
    return () if offer == "off" else (tool,)


def _team(settings: Settings | None) -> tuple[Tool, ...]:
    """The tools of teams, which models are told of by their place in one."""
    if settings is not None and settings.team_tools == "off":
        return ()
    return (
        SpawnTeam(),
        TeamMessageTool(),
        TeamList(),
        SubmitPlan(),
        ReviewPlan(),
        RequestPlan(),
        RequestShutdown(),
    )


def _board(settings: Settings | None) -> tuple[Tool, ...]:
    """The tools of the work graph, as the operator wants them offered."""
    offer = "on" if settings is None else settings.work_tools
    tools: tuple[Tool, ...] = (
        *(TaskCreate(), TaskList(), TaskGet(), TaskUpdate()),
        *(TaskClaim(), TaskComplete(), TaskRelease()),
    )
    for tool in tools if offer == "auto" else ():
        tool.places = frozenset((BOARD,))
    return () if offer == "off" else (*tools, WorktreeCreate())
