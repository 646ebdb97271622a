"""What a call needs before it may run: nothing, a person's word, or it may not run at all.

The judgement comes from the call alone; the operator's policy (`policy.py`) is laid over it, denial first.
"""

from collections.abc import Mapping
from typing import Any

from aster.contracts.model import Contract
from aster.contracts.permissions import Behavior
from aster.sandbox.bash_hazards import hazards
from aster.sandbox.paths import PathRefused, Workspace


class Decision(Contract):
    """The behavior, why, what the call would do as far as it is worth asking about, and what decided: `judgement`,
    `mode:…`, `rule:…` or `grant:…`. `every_time` says that no grant spares the question. A tool that others describe
    has a `pin`, a hash of its description: only a grant with the same pin speaks for it."""

    behavior: Behavior
    reason: str = ""
    effects: tuple[str, ...] = ()
    decided_by: str = "judgement"
    grant_id: str | None = None
    every_time: bool = False
    pin: str | None = None


ALLOW = Decision(behavior="allow")

_PATH_TOOLS = frozenset(("read_file", "write_file", "edit_file", "glob", "grep", "find"))


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
