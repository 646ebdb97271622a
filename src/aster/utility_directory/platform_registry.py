"""The tools an engine has, by name. Adding a tool is adding its object here; nothing else knows the list."""

from collections.abc import Iterable
from dataclasses import dataclass

from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.tools import ToolDef
from aster.infra.settings import Settings
from aster.memory.embeddings.embedder import Embedder
from aster.utility_directory.ask_user import AskUser
from aster.utility_directory.bash import Bash
from aster.utility_directory.bash_kill import BashKill
from aster.utility_directory.bash_output import BashOutput
from aster.utility_directory.edit_file import EditFile
from aster.utility_directory.file_search import FileSearch
from aster.utility_directory.find import Find
from aster.utility_directory.flag_uncertainty import FlagUncertainty
from aster.utility_directory.glob import Glob
from aster.utility_directory.grep import Grep
from aster.utility_directory.memory_forget import MemoryForgetTool
from aster.utility_directory.memory_search import MemorySearchTool
from aster.utility_directory.memory_write import MemoryWriteTool
from aster.utility_directory.read_file import ReadFile
from aster.utility_directory.schema import Validate, compiled
from aster.utility_directory.todo_write import TodoWrite
from aster.utility_directory.tool import Tool
from aster.utility_directory.web_fetch import WebFetch
from aster.utility_directory.web_search import WebSearch
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
        for tool in tools:
            self.add(tool)

    def add(self, tool: Tool, *, known: bool = False) -> None:
        """Add a tool. One not `known` to be sound is checked now, so that it stops the start and not a call."""
        name = tool.definition.name
        if name in self._tools:
            raise EngineError(ErrorCode.CONFIGURATION_INVALID, f"There are two tools named {name!r}; rename one.")
        self._tools[name] = Registered(tool, compiled(name, tool.definition.input_schema, at_once=not known))

    def get(self, name: str) -> Registered | None:
        return self._tools.get(name)

    def extended(self, tools: Iterable[Tool]) -> "Registry":
        """These tools and those behind them, as a registry of its own."""
        registry = Registry()
        registry._tools.update(self._tools)
        for tool in tools:
            registry.add(tool)
        return registry

    @property
    def tools(self) -> tuple[Tool, ...]:
        return tuple(registered.tool for registered in self._tools.values())

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._tools)

    @property
    def definitions(self) -> tuple[ToolDef, ...]:
        return tuple(registered.tool.definition for registered in self._tools.values())


def platform_tools(settings: Settings | None = None, vectors: Embedder | str | None = None) -> Registry:
    """The tools every engine has; `vectors` is who makes them for all of the engine, or why nobody does."""
    registry = Registry()
    files = (ReadFile(), WriteFile(), EditFile(), Glob(), Grep(), Find())
    web = (WebFetch(settings), WebSearch(settings))
    notes = (TodoWrite(), FlagUncertainty())
    remembering = (MemoryWriteTool(), MemorySearchTool(), MemoryForgetTool())
    memory = remembering if settings is None or settings.memory_enabled else ()
    search = (FileSearch(settings, vectors), *web)
    for tool in (Bash(), BashOutput(), BashKill(), *files, AskUser(), *search, *notes, *memory):
        registry.add(tool, known=True)
    return registry
