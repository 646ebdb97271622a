"""The catalog on the disk: `CATALOG_DIR/tools/<name>.json` and `workflows/<name>.json`, read whole or not at all.

A catalog with one file that is wrong is refused with everything that is wrong in it, and what was in force stays.
It is the operator's: it must lie where no tool can write, and nothing in it may lead out of it.
"""

import os
import stat
from pathlib import Path
from typing import Final

from aster.catalog import workflow_files
from aster.catalog.declaration import Wrong, declared
from aster.contracts.errors import EngineError, ErrorCode
from aster.herald.tool_names import wire_name
from aster.infra.settings import Settings
from aster.utility_directory.platform_registry import Registry
from aster.utility_directory.run_workflow import RunWorkflow
from aster.utility_directory.tool import Tool
from aster.utility_directory.workflow_steps import Workflow

MOST_TOOLS: Final = 200
MOST_BYTES: Final = 64_000


class Catalog:
    """The declared tools over those of the platform."""

    def __init__(self, settings: Settings, platform: Registry) -> None:
        self._settings = settings
        self._platform = platform

    def load(self) -> Registry:
        """All tools there are now, the platform's first; refused when something in the catalog is wrong."""
        directory = self._settings.catalog_dir
        if directory is None:
            return self._platform
        tools, problems = self._read(Path(os.path.realpath(directory)))
        if problems:
            listed = "; ".join(f"{name}: {problem}" for name, problem in sorted(problems.items()))
            raise EngineError(ErrorCode.CONFIGURATION_INVALID, f"CATALOG_DIR: {listed}.", {"problems": problems})
        return self._platform.extended(tools)

    def _read(self, root: Path) -> tuple[list[Tool], dict[str, str]]:
        if not root.is_dir():
            return [], {str(root): "there is no such directory"}
        if reachable(root, self._settings):
            return [], {str(root): "it lies where tools can write; move it out of ALLOWED_ROOTS"}
        place = root / "tools"
        files = sorted(place.glob("[!.]*.json")) if place.is_dir() else []
        if len(files) > MOST_TOOLS:
            return [], {"tools": f"there are {len(files)} files, and at most {MOST_TOOLS} are read"}
        tools: dict[str, Tool] = {}
        problems: dict[str, str] = {}
        for file in files:
            try:
                tool = declared(contents(file, root), file.stem, self._platform)
                self._unlike(tool, tools)
                tools[tool.definition.name] = tool
            except Wrong as wrong:
                problems[f"tools/{file.name}"] = str(wrong)
        workflows = self._workflows(root, problems)
        return [*tools.values(), *workflows], problems

    def _workflows(self, root: Path, problems: dict[str, str]) -> list[Tool]:
        """The tool that runs the catalog's workflows, if it has any and there may be agents for them."""
        files, most = workflow_files.files(root), workflow_files.MOST_WORKFLOWS
        if len(files) > most:
            problems["workflows"] = f"there are {len(files)} files, and at most {most} are read"
            return []
        found: dict[str, Workflow] = {}
        for file in files:
            try:
                found[file.stem] = workflow_files.declared(contents(file, root), file.stem)
            except Wrong as wrong:
                problems[f"workflows/{file.name}"] = str(wrong)
        for name, problem in workflow_files.check_nested(found).items():
            problems.setdefault(f"workflows/{name}.json", problem)
        return [RunWorkflow(found)] if found and self._settings.subagent_depth else []

    def _unlike(self, tool: Tool, others: dict[str, Tool]) -> None:
        """A model must be able to tell tools apart where names have no dots."""
        name = tool.definition.name
        for other in (*self._platform.names, *others):
            if wire_name(name) == wire_name(other):
                raise Wrong(f"there is a tool named {other!r} already; choose another name")


def contents(file: Path, root: Path) -> bytes:
    """What is in a file of the catalog; a link may only lead to another place in the catalog."""
    real = Path(os.path.realpath(file))
    if not real.is_relative_to(root):
        raise Wrong("it leads out of the catalog")
    try:
        opened = os.open(real, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise Wrong(f"it cannot be read ({error.strerror})") from None
    try:
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            raise Wrong("it is not a file")
        data = os.read(opened, MOST_BYTES + 1)
    finally:
        os.close(opened)
    if len(data) > MOST_BYTES:
        raise Wrong(f"it is larger than {MOST_BYTES:,} bytes")
    return data


def reachable(root: Path, settings: Settings) -> bool:
    """Whether tools could write there."""
    places = [Path(os.path.realpath(place)) for place in settings.roots]
    places.append(Path(os.path.realpath(settings.data_dir)) / "workspaces")
    return any(root.is_relative_to(place) or place.is_relative_to(root) for place in places)
