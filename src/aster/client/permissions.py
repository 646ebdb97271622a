"""Permissions over the wire: what decides on calls, the grants one gives and takes back, and trying calls."""

from typing import Any
from urllib.parse import quote

from aster.client.wire import Wire
from aster.contracts.model import Contract
from aster.contracts.permissions import Behavior, GrantOffer, GrantScope, PermissionMode


class RuleRecord(Contract):
    """A rule of the operator."""

    id: str
    behavior: Behavior
    tool: str
    pattern: str
    reason: str = ""
    every_time: bool = False


class GrantRecord(Contract):
    grant_id: str
    behavior: Behavior
    tool: str
    pattern: str
    scope: GrantScope
    task_id: str | None = None
    agent: str | None = None
    request_id: str | None = None
    created_by: str = ""
    created_at: str = ""
    expires_at: str | None = None
    uses: int = 0
    last_used_at: str | None = None


class InForce(Contract):
    """The mode of turns that do not say, the operator's rules, and one's own grants."""

    mode: PermissionMode
    bypass_allowed: bool
    unattended_policy: str
    rules: tuple[RuleRecord, ...]
    grants: tuple[GrantRecord, ...]


class Decided(Contract):
    """What would happen with a call."""

    behavior: Behavior
    reason: str
    effects: tuple[str, ...] = ()
    decided_by: str = ""
    offer: GrantOffer | None = None


class PastCall(Contract):
    task_id: str
    seq: int
    tool: str
    input: dict[str, Any]
    then: str


class Example(Contract):
    call: PastCall
    now: Behavior
    proposed: Behavior


class Backtest(Contract):
    """What a rule would have meant for the calls that are recorded."""

    calls: int
    matched: int
    changed: int
    would: dict[str, int]
    then: dict[str, int]
    would_allow_denied: int
    would_deny_approved: int
    examples: tuple[Example, ...]
    complete: bool


class Revoked(Contract):
    status: str
    grant_id: str


class PermissionsClient:
    """The part of a client that is about permissions."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    async def list(self) -> InForce:
        return await self._wire.ask(InForce, "GET", "/permissions")

    async def grant(
        self,
        tool: str,
        pattern: str = "*",
        *,
        behavior: Behavior = "allow",
        scope: GrantScope = "everywhere",
        task_id: str | None = None,
        agent: str | None = None,
        expires_in_seconds: int | None = None,
    ) -> GrantRecord:
        """Store a grant; it holds from the next call on."""
        said = {
            "tool": tool,
            "pattern": pattern,
            "behavior": behavior,
            "scope": scope,
            "task_id": task_id,
            "agent": agent,
            "expires_in_seconds": expires_in_seconds,
        }
        return await self._wire.ask(GrantRecord, "POST", "/permissions", body=_given(said))

    async def revoke(self, grant_id: str) -> Revoked:
        return await self._wire.ask(Revoked, "DELETE", f"/permissions/{quote(grant_id, safe='')}")

    async def test(
        self, tool: str, given: dict[str, Any], *, task_id: str | None = None, mode: PermissionMode | None = None
    ) -> Decided:
        """What would happen with a call; nothing is run."""
        said = {"tool": tool, "input": given, "task_id": task_id, "mode": mode}
        return await self._wire.ask(Decided, "POST", "/permissions/test", body=_given(said))

    async def backtest(self, tool: str, pattern: str, behavior: Behavior) -> Backtest:
        body = {"tool": tool, "pattern": pattern, "behavior": behavior}
        return await self._wire.ask(Backtest, "POST", "/permissions/backtest", body=body)


def _given(said: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in said.items() if value is not None}
