"""The operator's and the user's word on what may run: modes and rules over the built-in judgement.

A denial wins over everything, in every mode; what no rule or mode settles is left to the judgement. A rule for
`bash` can only ever allow a single plain command, so that nothing rides along behind it.
"""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any, Literal, TypeAlias

from aster.contracts.model import Contract
from aster.contracts.tools import Effect
from aster.sandbox.bash_analysis import Script, parse
from aster.sandbox.permissions import ALLOW, Behavior, Decision

Mode: TypeAlias = Literal["default", "plan", "auto", "bypass"]


class Rule(Contract):
    """`tool` and `content` are shell patterns; the content is a command, or else a path."""

    behavior: Behavior
    tool: str = "*"
    content: str = "*"


class Policy(Contract):
    """In `plan` only looking is allowed, in `auto` everything but looking asks, `bypass` never asks."""

    mode: Mode = "default"
    rules: tuple[Rule, ...] = ()


def govern(
    policy: Policy, tool: str, arguments: Mapping[str, Any], effect: Effect, judgement: Decision
) -> Decision:
    """The judgement under the policy: deny, then mode, then ask rules, allow rules, and the judgement itself."""
    matching = {rule.behavior for rule in policy.rules if _matches(rule, tool, arguments)}
    if "deny" in matching:
        return Decision(behavior="deny", reason=f"A rule of this engine forbids this use of {tool}.")
    if judgement.behavior == "deny":
        return judgement
    if policy.mode == "plan" and effect is not Effect.PURE:
        return Decision(behavior="deny", reason="In plan mode nothing may be changed; only look, then propose.")
    if "ask" in matching:
        return Decision(behavior="ask", reason=f"A rule asks before this use of {tool}.", effects=judgement.effects)
    if "allow" in matching or policy.mode == "bypass":
        return ALLOW
    if policy.mode == "auto" and effect is not Effect.PURE and judgement.behavior == "allow":
        return Decision(behavior="ask", reason=f"In auto mode {tool} asks before it changes anything.")
    return judgement


def _matches(rule: Rule, tool: str, arguments: Mapping[str, Any]) -> bool:
    if not fnmatchcase(tool, rule.tool):
        return False
    if rule.content == "*" and (tool != "bash" or rule.behavior != "allow"):
        return True
    if tool != "bash":
        return fnmatchcase(str(arguments.get("path", "")), rule.content)
    command = str(arguments.get("command", ""))
    if rule.content == command:
        return True
    script = parse(command)
    spoken = [" ".join(word.text for word in simple.words) for simple in script.commands]
    if rule.behavior == "allow":
        return _plain(script) and all(fnmatchcase(line, rule.content) for line in spoken)
    return fnmatchcase(command, rule.content) or any(fnmatchcase(line, rule.content) for line in spoken)


def _plain(script: Script) -> bool:
    """One command with literal words and nothing around it."""
    return (
        script.understood
        and len(script.commands) == 1
        and not (script.redirects or script.assignments or script.functions or script.substitutions)
        and not script.background
        and all(word.literal for word in script.commands[0].words)
    )
