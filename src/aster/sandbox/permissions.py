"""What a call needs before it may run: nothing, a person's word, or it may not run at all.

The judgement comes from the call alone; the operator's policy (`policy.py`) is laid over it, denial first.
"""

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from aster.contracts.model import Contract
from aster.sandbox.bash_hazards import hazards
from aster.sandbox.paths import PathRefused, Workspace

Behavior: TypeAlias = Literal["allow", "ask", "deny"]


class Decision(Contract):
    """The behavior, why, and what the call would do as far as it is worth asking about."""

    behavior: Behavior
    reason: str = ""
    effects: tuple[str, ...] = ()


ALLOW = Decision(behavior="allow")

_PATH_TOOLS = frozenset(("read_file", "write_file", "edit_file", "glob", "grep"))


def decide(tool: str, arguments: Mapping[str, Any], workspace: Workspace) -> Decision:
    """The judgement on a platform tool's call, with valid arguments."""
    if tool in _PATH_TOOLS:
        return decide_path(arguments.get("path"), workspace)
    if tool == "bash":
        return decide_bash(str(arguments["command"]), workspace)
    return ALLOW


def decide_path(given: object, workspace: Workspace) -> Decision:
    """A path outside the workspace is never a question: the file tools cannot go there."""
    try:
        if isinstance(given, str):
            workspace.resolve(given)
    except PathRefused as refusal:
        return Decision(behavior="deny", reason=str(refusal))
    return ALLOW


def decide_bash(command: str, workspace: Workspace) -> Decision:
    found = hazards(command, workspace)
    if not found:
        return ALLOW
    reason = f"The command may destroy something: {'; '.join(found)}."
    return Decision(behavior="ask", reason=reason, effects=tuple(found))
