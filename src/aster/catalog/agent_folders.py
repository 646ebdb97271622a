"""Agents on the disk: `agents/<name>/agent.json` with `system-prompt.md` beside it, the stock ones and the operator's.

An operator's agent takes the place of a stock one of the same name. A catalog with one folder that is wrong is refused
with everything that is wrong in it; it must lie where no tool can write, and nothing in it may lead out of it.
"""

import os
import re
from collections.abc import Iterator
from importlib.resources import as_file, files
from pathlib import Path
from typing import Final, Literal, NamedTuple, TypeAlias

import msgspec

from aster.catalog.catalog import contents, reachable
from aster.catalog.declaration import Wrong
from aster.contracts.agents import Agent
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.model import Contract
from aster.contracts.permissions import PermissionMode
from aster.infra.settings import Settings

NAME: Final = re.compile(r"[a-z][a-z0-9_-]{0,63}")
RESERVED: Final = frozenset(("main", "general"))
DESCRIPTION_CHARS: Final = 1000
PROMPT_CHARS: Final = 32_000
MOST_AGENTS: Final = 100
MOST_PATTERNS: Final = 200

Source: TypeAlias = Literal["stock", "catalog", "user"]


class Kept(NamedTuple):
    """An agent, and where it comes from."""

    agent: Agent
    source: Source


class Declared(Contract, forbid_unknown_fields=True):
    """What stands in an `agent.json`."""

    name: str
    description: str
    model: str | None = None
    tools: tuple[str, ...] | None = None
    disallowed_tools: tuple[str, ...] = ()
    permission_mode: PermissionMode | None = None
    max_turns: int | None = None
    skills: tuple[str, ...] = ()
    system_prompt_path: str = "system-prompt.md"


def read(settings: Settings) -> dict[str, Kept]:
    """All agents of the catalog by name; refused when something in the operator's part is wrong."""
    with as_file(files("aster.catalog") / "stock") as stock:
        found, problems = _folders(Path(stock), "stock")
    assert not problems, problems
    if settings.catalog_dir is not None:
        root = Path(os.path.realpath(settings.catalog_dir))
        own, problems = _folders(root, "catalog")
        if own and reachable(root, settings):
            problems = {str(root): "it lies where tools can write; move it out of ALLOWED_ROOTS"}
        if problems:
            listed = "; ".join(f"{name}: {problem}" for name, problem in sorted(problems.items()))
            raise EngineError(ErrorCode.CONFIGURATION_INVALID, f"CATALOG_DIR: {listed}.", {"problems": problems})
        found |= own
    return found


def _folders(root: Path, source: Source) -> tuple[dict[str, Kept], dict[str, str]]:
    found: dict[str, Kept] = {}
    problems: dict[str, str] = {}
    folders = sorted(path for path in (root / "agents").glob("[!._]*") if path.is_dir())
    if len(folders) > MOST_AGENTS:
        return {}, {"agents": f"there are {len(folders)} agents, and at most {MOST_AGENTS} are read"}
    for folder in folders:
        try:
            agent = _agent(folder, root)
        except Wrong as wrong:
            problems[f"agents/{folder.name}"] = str(wrong)
        else:
            found[agent.name] = Kept(agent, source)
    return found, problems


def _agent(folder: Path, root: Path) -> Agent:
    try:
        declared = msgspec.json.decode(contents(folder / "agent.json", root), type=Declared)
        prompt = contents(folder / declared.system_prompt_path, root).decode("utf-8").strip()
    except UnicodeDecodeError:
        raise Wrong("its prompt is not UTF-8 text") from None
    except msgspec.DecodeError as error:
        raise Wrong(f"agent.json: {error}") from None
    if declared.name != folder.name:
        raise Wrong(f"it declares the agent {declared.name!r}; give the folder that name")
    agent = Agent(
        name=declared.name,
        description=declared.description,
        system_prompt=prompt,
        model=declared.model,
        tools=declared.tools,
        disallowed_tools=declared.disallowed_tools,
        permission_mode=declared.permission_mode,
        max_turns=declared.max_turns,
        skills=declared.skills,
    )
    for field, problem in unfit(agent):
        raise Wrong(f"`{field}` {problem}")
    return agent


def unfit(agent: Agent) -> Iterator[tuple[str, str]]:
    """What is wrong with an agent, field by field."""
    if NAME.fullmatch(agent.name) is None or agent.name in RESERVED:
        yield "name", "has to be 1 to 64 lowercase letters, digits, `_` or `-`, and not main or general"
    if not agent.description.strip() or len(agent.description) > DESCRIPTION_CHARS:
        yield "description", f"has to say what the agent is for, in at most {DESCRIPTION_CHARS} characters"
    if not agent.system_prompt.strip() or len(agent.system_prompt) > PROMPT_CHARS:
        yield "system_prompt", f"has to be 1 to {PROMPT_CHARS} characters"
    if agent.max_turns is not None and agent.max_turns < 1:
        yield "max_turns", "has to be at least 1"
    for field, names in (("tools", agent.tools or ()), ("disallowed_tools", agent.disallowed_tools)):
        if len(names) > MOST_PATTERNS or any(not name.strip() or len(name) > 128 for name in names):
            yield field, f"has to be at most {MOST_PATTERNS} names of tools, or patterns such as github.*"
    if len(agent.skills) > MOST_PATTERNS or any(NAME.fullmatch(name) is None for name in agent.skills):
        yield "skills", "has to be a list of names of skills"
