"""The words of permission: how careful a turn is, what may happen to a call, and how far a grant reaches."""

from typing import Literal, TypeAlias

from aster.contracts.model import Contract

PermissionMode: TypeAlias = Literal["default", "plan", "auto", "bypass"]
"""`plan` only lets a turn look, `auto` asks before every change, `bypass` never asks (denials still hold)."""

Behavior: TypeAlias = Literal["allow", "ask", "deny"]

GrantScope: TypeAlias = Literal["task", "agent", "everywhere"]


ALWAYS = ("always task", "always agent", "always everywhere")
"""The answers to a permission that also answer for the calls to come, from the narrowest to the widest."""


class GrantOffer(Contract):
    """What an "always" would store: a call of this tool whose content fits the pattern is not asked about again.

    `pin` is a hash of how the tool describes itself: the grant is void once that changes."""

    tool: str
    pattern: str
    pin: str | None = None
