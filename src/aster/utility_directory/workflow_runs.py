"""What the tool that runs workflows sees of them. Whose authority their agents have is settled by the engine, never by
the call."""

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from aster.contracts.tools import ToolOutcome
from aster.utility_directory.workflow_steps import Workflow

RunWorkflows: TypeAlias = Callable[[Workflow, dict[str, object], str | None], Awaitable[ToolOutcome]]
"""Runs a workflow with arguments, or goes on with a run of it; raises `EngineError` when that may not be."""
