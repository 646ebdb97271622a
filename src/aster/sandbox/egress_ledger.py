"""Where one command went, how much it moved, and where it was not let: checked against the rules and kept count of
in one place, so that no way out of a sandbox is off the record."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from aster.sandbox.egress_rules import EgressRules
from aster.sandbox.reach import Reach, Refused

_VISITS = 200


@dataclass(frozen=True, slots=True)
class EgressLimits:
    """What one command may use."""

    connections: int = 64
    bytes: int = 1 << 30
    head_seconds: float = 15.0
    connect_seconds: float = 15.0


@dataclass(slots=True)
class Visit:
    """One destination and what came of it."""

    host: str
    port: int
    refused: str | None = None
    requests: int = 0
    sent: int = 0
    received: int = 0


OnRefusal: TypeAlias = Callable[[Visit], None]
"""Called with each destination that is refused, the first time it is."""


class OutOfBytes(Exception):
    """The command has moved all it may."""


class Ledger:
    """Lets through what the rules allow, and remembers everything that was asked for."""

    def __init__(
        self, rules: EgressRules, reach: Reach, limits: EgressLimits, on_refusal: OnRefusal | None = None
    ) -> None:
        self.rules = rules
        self.reach = reach
        self.limits = limits
        self._on_refusal = on_refusal
        self._visits: dict[tuple[str, int, str | None], Visit] = {}
        self._bytes = 0

    @property
    def visits(self) -> tuple[Visit, ...]:
        return tuple(self._visits.values())

    def name(self, host: str, port: int) -> str:
        """The host in its one spelling; refused if it has none or is blocked."""
        try:
            return self.reach.check_host(host, port)
        except Refused as refused:
            self._record(refused.destination[:200], port, refused.why)
            raise

    def enter(self, name: str, port: int) -> Visit:
        """A destination that is on the list."""
        if not self.rules.permit(name, port):
            raise self.refuse(Visit(name, port), "commands may only reach the hosts in EGRESS_ALLOW")
        return self._record(name, port, None)

    def refuse(self, visit: Visit, why: str) -> Refused:
        self._record(visit.host, visit.port, why)
        return Refused(f"{visit.host}:{visit.port}", why)

    def count(self, visit: Visit, *, sent: int = 0, received: int = 0) -> None:
        self._bytes += sent + received
        if self._bytes > self.limits.bytes:
            self._record(visit.host, visit.port, f"the command has moved more than {self.limits.bytes:,} bytes")
            raise OutOfBytes
        visit.sent += sent
        visit.received += received

    def _record(self, host: str, port: int, refused: str | None) -> Visit:
        key = (host, port, refused)
        known = self._visits.get(key)
        visit = known or Visit(host, port, refused)
        visit.requests += 1
        if known is None and len(self._visits) < _VISITS:
            self._visits[key] = visit
            if refused is not None and self._on_refusal is not None:
                self._on_refusal(visit)
        return visit
