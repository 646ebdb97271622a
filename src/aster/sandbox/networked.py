"""A sandbox whose commands have a way out: each gets a proxy of its own for as long as it runs, is told where it
was refused, and leaves a record of where it went."""

from collections.abc import Sequence
from dataclasses import replace

from aster.sandbox.backend import EGRESS_PORT, Command, Completed, OnOutput, Sandbox
from aster.sandbox.egress import Note
from aster.sandbox.egress_ledger import EgressLimits, Visit
from aster.sandbox.egress_proxy import EgressProxy
from aster.sandbox.egress_rules import EgressRules
from aster.sandbox.reach import Reach

_PROXY = f"http://127.0.0.1:{EGRESS_PORT}"
_NAMES = ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
_INSIDE = "localhost,127.0.0.1,::1"
ENVIRONMENT = (*((name, _PROXY) for name in _NAMES), ("no_proxy", _INSIDE), ("NO_PROXY", _INSIDE))
_SHOWN = 10


class Networked:
    """A sandbox whose commands find a proxy on their loopback."""

    def __init__(
        self, sandbox: Sandbox, rules: EgressRules, reach: Reach, note: Note, limits: EgressLimits | None = None
    ) -> None:
        self.report = sandbox.report
        self.identity = sandbox.identity
        self.files = sandbox.files
        self.scratch = sandbox.scratch
        self.carries_egress = sandbox.carries_egress
        self._sandbox = sandbox
        self._rules = rules
        self._reach = reach
        self._note = note
        self._limits = limits or EgressLimits()

    async def run(self, command: Command, on_output: OnOutput | None = None) -> Completed:
        """Whoever listens hears of a refusal when it happens; what the command came to says so again."""

        def tell(visit: Visit) -> None:
            if on_output is not None:
                on_output(f"{_line(visit)}\n", "stderr")

        proxy = EgressProxy(self._rules, self._reach, self._limits, tell)
        given = (*ENVIRONMENT, *command.environment)
        try:
            done = await self._sandbox.run(replace(command, egress=proxy.attach, environment=given), on_output)
        finally:
            await proxy.close()
            self._observe(proxy.visits)
        return _told(done, [visit for visit in proxy.visits if visit.refused])

    @property
    def inner(self) -> Sandbox:
        """The sandbox without the way out."""
        return self._sandbox

    def close(self) -> None:
        self._sandbox.close()

    def _observe(self, visits: Sequence[Visit]) -> None:
        if not visits:
            return
        refused = sum(visit.refused is not None for visit in visits)
        self._note(
            "egress",
            "warning" if refused else "info",
            f"a command asked for {len(visits)} destinations, {refused} were refused",
            destinations=[
                {
                    "host": visit.host,
                    "port": visit.port,
                    "requests": visit.requests,
                    "sent": visit.sent,
                    "received": visit.received,
                    "refused": visit.refused,
                }
                for visit in visits[:50]
            ],
        )


def _line(visit: Visit) -> str:
    return f"[network: {visit.host}:{visit.port} was refused: {visit.refused}]"


def _told(done: Completed, refused: Sequence[Visit]) -> Completed:
    """What the model has to know: programs rarely say why a connection failed."""
    if not refused:
        return done
    lines = [_line(visit) for visit in refused[:_SHOWN]]
    if len(refused) > _SHOWN:
        lines.append(f"[network: {len(refused) - _SHOWN} more destinations were refused]")
    return replace(
        done, stderr="\n".join([*([done.stderr.rstrip("\n")] if done.stderr.strip() else []), *lines]) + "\n"
    )
