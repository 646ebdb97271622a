"""What else could do the job when a tool cannot: advice for the model, given with the failure.

A chain is data; only tools the engine has are named, and never the one that is out of order for the same reason.
"""

from collections.abc import Collection

from aster.contracts.tools import OutcomeClass, ToolOutcome

_CHAINS: dict[str, tuple[str, ...]] = {
    "web_search": ("web_fetch", "file_search", "ask_user"),
    "web_fetch": ("web_search", "ask_user"),
    "file_search": ("grep", "glob"),
    "bash": ("read_file", "write_file", "edit_file", "glob", "grep"),
    "find": ("glob", "grep"),
    "grep": ("file_search", "read_file"),
    "glob": ("find",),
}
_BEYOND_REPAIR = frozenset((OutcomeClass.RETRYABLE, OutcomeClass.FATAL))
_A_DECISION = frozenset(("permission_denied", "hook_blocked", "path_refused", "in_doubt"))


def suggestion(tool: str, outcome: ToolOutcome, available: Collection[str]) -> str | None:
    """One sentence on what to use instead, when calling the tool again will not help."""
    if outcome.ok or outcome.failure not in _BEYOND_REPAIR or outcome.reason in _A_DECISION:
        return None
    others = [name for name in _CHAINS.get(tool, ()) if name in available]
    return f"[{tool} is not usable now. What may do instead: {', '.join(others)}.]" if others else None
