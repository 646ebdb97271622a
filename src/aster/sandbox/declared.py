"""What may run when a tool of the catalog is called: the platform's call that it stands for is judged as if the
model had made it, and rules about the declared tool itself are laid over that.

So a declaration alone never opens what the policy closes; a rule that names the declared tool may.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Final

import msgspec

from aster.contracts.model import encode
from aster.contracts.tools import Effect
from aster.sandbox.capture import cut
from aster.sandbox.paths import Workspace
from aster.sandbox.permissions import Decision
from aster.sandbox.policy import Policy, govern

_SHOWN: Final = 1000

_replace = msgspec.structs.replace


@dataclass(frozen=True, slots=True)
class Told:
    """A call as the model made it; `every_time` when the declaration wants a person asked before each."""

    tool: str
    input: Mapping[str, Any]
    every_time: bool


def govern_declared(
    policy: Policy,
    tool: str,
    arguments: Mapping[str, Any],
    effect: Effect,
    judgement: Decision,
    workspace: Workspace,
    told: Told,
) -> Decision:
    """The decision on a platform's call that a declared tool was called for."""
    meant = govern(_replace(policy, unattended=False), tool, arguments, effect, judgement, workspace)
    own = tuple(rule for rule in policy.rules if not fnmatchcase(tool, rule.tool))
    weighed = meant
    if told.every_time and meant.behavior != "deny":
        asks = f"This tool asks every time. {meant.reason if meant.behavior == 'ask' else ''}".strip()
        weighed = _replace(meant, behavior="ask", reason=asks, every_time=True, decided_by="catalog")
    decision = govern(_replace(policy, rules=own), told.tool, told.input, effect, weighed, workspace)
    if decision.behavior == "ask" and not decision.every_time and meant.grant_id is not None:
        return meant
    if decision.behavior != "ask":
        return decision
    return _replace(decision, reason=f"{decision.reason} {_shown(tool, arguments)}".strip())


def _shown(tool: str, arguments: Mapping[str, Any]) -> str:
    if tool == "bash":
        return f"It runs: {cut(str(arguments['command']), _SHOWN)}"
    return f"It calls {tool} with {cut(encode(dict(arguments)).decode(), _SHOWN)}"
