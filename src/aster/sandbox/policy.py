"""The operator's and the user's word on what may run: modes, rules and grants over the built-in judgement.

A denial wins over everything, in every mode; what no rule, grant or mode settles is left to the judgement. What the
judgement found dangerous in a call is only ever allowed by a rule that says that in particular.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from aster.contracts.model import Contract
from aster.contracts.permissions import PermissionMode
from aster.contracts.team_requests import GateStatus
from aster.contracts.tools import Effect
from aster.sandbox.paths import Workspace
from aster.sandbox.permissions import Decision
from aster.sandbox.rules import Rule, matches, subject


class Policy(Contract):
    """In `plan` only looking is allowed, in `auto` everything but looking asks, `bypass` never asks. `unattended`
    turns every question into a denial: nobody would answer it. With a `plan` that is not approved only looking is
    allowed either, whatever the mode and the rules say."""

    mode: PermissionMode = "default"
    rules: tuple[Rule, ...] = ()
    unattended: bool = False
    plan: GateStatus | None = None

    @property
    def waits_for_plan(self) -> bool:
        return self.plan is not None and self.plan != "approved"


def govern(
    policy: Policy,
    tool: str,
    arguments: Mapping[str, Any],
    effect: Effect,
    judgement: Decision,
    workspace: Workspace | None = None,
) -> Decision:
    """The judgement under the policy, and under the fact that there may be nobody to ask."""
    decision = _governed(policy, tool, arguments, effect, judgement, workspace)
    if decision.behavior == "ask" and policy.unattended:
        reason = f"A person would have to be asked, and nobody is there. {decision.reason}"
        return msgspec.structs.replace(decision, behavior="deny", reason=reason, decided_by="unattended")
    return decision


def _governed(
    policy: Policy,
    tool: str,
    arguments: Mapping[str, Any],
    effect: Effect,
    judgement: Decision,
    workspace: Workspace | None,
) -> Decision:
    """The judgement under the policy: deny, then mode, then what asks every time, grants, rules, the judgement."""
    call = subject(tool, arguments, workspace) if policy.rules else None
    matching = [rule for rule in policy.rules if call is not None and matches(rule, call)]
    denial = _first(matching, "deny")
    if denial is not None:
        return _said(denial, f"{_whose(denial)} forbids this use of {tool}.", judgement)
    if judgement.behavior == "deny":
        return judgement
    if policy.mode == "plan" and effect is not Effect.PURE:
        reason = "In plan mode nothing may be changed; only look, then propose."
        return Decision(behavior="deny", reason=reason, decided_by="mode:plan")
    asking = _first(matching, "ask")
    allowing = [rule for rule in matching if _allows(rule, judgement)]
    granted = next((rule for rule in allowing if rule.source == "grant"), None)
    if asking is not None and not _spared(matching, granted):
        return _said(asking, f"{_whose(asking)} asks before this use of {tool}.", judgement)
    if granted is not None or allowing:
        return _said(granted or allowing[0], "", judgement)
    ruled = judgement.decided_by.startswith(("rule:", "grant:"))
    if policy.mode == "bypass" and not ruled:
        return Decision(behavior="allow", effects=judgement.effects, decided_by="mode:bypass")
    if policy.mode == "auto" and effect is not Effect.PURE and judgement.behavior == "allow":
        reason = f"In auto mode {tool} asks before it changes anything."
        return msgspec.structs.replace(judgement, behavior="ask", reason=reason, decided_by="mode:auto")
    return judgement


def _first(matching: list[Rule], behavior: str) -> Rule | None:
    """The most binding rule of a kind: one that asks every time comes before one that a grant can spare."""
    found = [rule for rule in matching if rule.behavior == behavior]
    return min(found, key=lambda rule: not rule.every_time, default=None)


def _allows(rule: Rule, judgement: Decision) -> bool:
    """A question that is asked every time is not one that a rule could answer, nor is a tool that has changed since the
    one that was granted."""
    safe = judgement.behavior == "allow" or rule.specific
    meant = rule.source == "operator" or rule.pin == judgement.pin
    return rule.behavior == "allow" and safe and meant and not judgement.every_time


def _spared(matching: list[Rule], granted: Rule | None) -> bool:
    """Whether the question was answered for good: not one of every time, nor one that the person wants asked."""
    asking = [rule for rule in matching if rule.behavior == "ask"]
    return granted is not None and not any(rule.every_time or rule.source == "grant" for rule in asking)


def _whose(rule: Rule) -> str:
    return "A rule of this engine" if rule.source == "operator" else "A rule of yours"


def _said(rule: Rule, sentence: str, judgement: Decision) -> Decision:
    """What a rule decides; the effects that were found are told all the same."""
    reason = f"{sentence} {rule.reason}".strip() if sentence else ""
    if rule.behavior == "ask" and judgement.behavior == "ask":
        reason = f"{reason} {judgement.reason}"
    return msgspec.structs.replace(
        judgement,
        behavior=rule.behavior,
        reason=reason,
        decided_by=f"{rule.source}:{rule.id}" if rule.source == "grant" else f"rule:{rule.id}",
        grant_id=rule.id if rule.source == "grant" else None,
        every_time=rule.every_time or (rule.behavior == "ask" and rule.source == "grant"),
    )
