"""Network for commands, where the operator allows some: each command gets a way out of its own and an entry in the
records of where it went. Without EGRESS_ALLOW none of this exists and a sandbox has no network at all.
"""

from typing import Any, Protocol

from aster.contracts.errors import EngineError, ErrorCode
from aster.infra.secrets import Secrets
from aster.infra.settings import Settings
from aster.raven.observation import Level
from aster.sandbox.backend import Sandbox
from aster.sandbox.egress_rules import EgressRules
from aster.sandbox.reach import Reach


class Note(Protocol):
    """Where an observation goes (`Raven.note`)."""

    def __call__(self, kind: str, level: Level, message: str, /, **data: Any) -> None: ...


def unlimited(sandbox: Sandbox, settings: Settings) -> str | None:
    """Why EGRESS_ALLOW cannot hold in this sandbox, and what to do; where no command runs at all, it holds."""
    if not settings.egress_allow or sandbox.carries_egress or not sandbox.report.ok:
        return None
    if settings.sandbox == "off":
        why = "with SANDBOX=off commands reach every network, whatever it says"
    else:
        why = f"the isolation in force ({sandbox.report.backend}) cannot give a command a network with limits"
    return f"EGRESS_ALLOW is set, but {why}. Set SANDBOX=auto, bubblewrap or landlock, or leave EGRESS_ALLOW empty."


def without_egress(sandbox: Sandbox) -> Sandbox:
    """The same sandbox, whose commands reach no network whatever EGRESS_ALLOW lists."""
    from aster.sandbox.networked import Networked

    return sandbox.inner if isinstance(sandbox, Networked) else sandbox


def with_egress(sandbox: Sandbox, settings: Settings, note: Note, secrets: Secrets) -> Sandbox:
    """The same sandbox, whose commands reach what EGRESS_ALLOW lists; wrong settings stop the start."""
    rules = EgressRules.of(settings)
    for injection in rules.injections:
        for value in injection.values:
            secrets.register(value.decode("latin-1"), "EGRESS_SECRETS")
    if not rules.allowed:
        return sandbox
    problem = unlimited(sandbox, settings)
    if problem is not None:
        sandbox.close()
        raise EngineError(ErrorCode.CONFIGURATION_INVALID, problem)
    if not sandbox.carries_egress:
        return sandbox
    from aster.sandbox.networked import Networked

    reach = Reach(private=settings.fetch_allowed_private, blocked=settings.fetch_blocked_hosts)
    return Networked(sandbox, rules, reach, note)
