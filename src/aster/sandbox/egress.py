"""Network for commands, where the operator allows some: each command gets a way out of its own and an entry in the
records of where it went. Without EGRESS_ALLOW none of this exists and a sandbox has no network at all.
"""

from typing import Any, Protocol

from aster.infra.secrets import Secrets
from aster.infra.settings import Settings
from aster.raven.observation import Level
from aster.sandbox.backend import Sandbox
from aster.sandbox.egress_rules import EgressRules
from aster.sandbox.reach import Reach


class Note(Protocol):
    """Where an observation goes (`Raven.note`)."""

    def __call__(self, kind: str, level: Level, message: str, /, **data: Any) -> None: ...


def with_egress(sandbox: Sandbox, settings: Settings, note: Note, secrets: Secrets) -> Sandbox:
    """The same sandbox, whose commands reach what EGRESS_ALLOW lists; wrong settings stop the start."""
    rules = EgressRules.of(settings)
    for injection in rules.injections:
        for value in injection.values:
            secrets.register(value.decode("latin-1"), "EGRESS_SECRETS")
    if not rules.allowed:
        return sandbox
    if not sandbox.carries_egress:
        text = (
            f"EGRESS_ALLOW has no effect: the sandbox in force ({sandbox.report.backend}) cannot limit a network."
        )
        note("egress", "warning", text)
        return sandbox
    from aster.sandbox.networked import Networked

    reach = Reach(private=settings.fetch_allowed_private, blocked=settings.fetch_blocked_hosts)
    return Networked(sandbox, rules, reach, note)
