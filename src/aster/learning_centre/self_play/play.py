"""Self-play as a piece of learning: by itself when nobody has written for an hour and the last challenge is long enough
ago, or for as many challenges as a person asks for. Off unless the operator has said otherwise."""

from collections.abc import Sequence
from typing import Final

from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.learning import Changeset
from aster.infra.settings import Settings
from aster.learning_centre.self_play.challenge import Cluster
from aster.learning_centre.self_play.cycle import NAME, Cycle, frontier_of, spent_usd
from aster.learning_centre.self_play.frontier import LEAST_COOLDOWN
from aster.learning_centre.workbench import Workbench
from aster.sandbox.backend import SandboxReport

IDLE_SECONDS: Final = 3600.0
MOST_CYCLES: Final = 50


def objection(settings: Settings, sandbox: SandboxReport) -> str | None:
    """Why there is no self-play here; None where there may be."""
    if not settings.self_play:
        return "Self-play is off. Start the engine with SELF_PLAY=true."
    if not sandbox.ok or sandbox.backend == "off":
        return "Self-play runs code that nobody has looked at, and needs a sandbox: set SANDBOX=auto."
    if settings.learning == "off":
        return "Learning is off. Start the engine with LEARNING=auto or on."
    return None


def check(settings: Settings, sandbox: SandboxReport) -> None:
    """Refuse where there is no self-play."""
    why = objection(settings, sandbox)
    if why is not None:
        raise EngineError(ErrorCode.INVALID_REQUEST, why)


class SelfPlay:
    """By itself; one challenge at a time."""

    name = NAME
    rounds = 1
    idle_seconds = IDLE_SECONDS
    cooldown_seconds = LEAST_COOLDOWN

    async def users(self, bench: Workbench) -> Sequence[str]:
        """Those who have waited longest first: all of them share the day's money."""
        if objection(bench.settings, bench.services.sandbox.report) is not None:
            return ()
        known = [user_id for user_id, _ in await bench.services.brain.memory.users()]
        last = {user_id: (await frontier_of(bench, user_id)).last_at for user_id in known}
        return sorted(known, key=lambda user_id: (last[user_id], user_id))

    async def due(self, bench: Workbench, user_id: str) -> bool:
        if objection(bench.settings, bench.services.sandbox.report) is not None:
            return False
        now = bench.now()
        if now - (await bench.store.active_at(now) or 0) <= IDLE_SECONDS * 1000:
            return False
        frontier = await frontier_of(bench, user_id)
        rested = now - frontier.last_at >= frontier.cooldown * 1000
        return rested and await spent_usd(bench) < bench.settings.self_play_budget_usd

    async def run(self, bench: Workbench, user_id: str) -> Changeset | None:
        return await Cycle(bench, user_id, bench.now()).run()


class AskedFor(SelfPlay):
    """As many challenges as a person asks for, in one cluster if they name it; whatever was written before `began` is
    no reason to stop."""

    cooldown_seconds = 0.0

    def __init__(self, began: int, cycles: int, cluster: Cluster | None) -> None:
        self.rounds = cycles
        self._began = began
        self._cluster: Cluster | None = cluster

    async def due(self, bench: Workbench, user_id: str) -> bool:
        return objection(bench.settings, bench.services.sandbox.report) is None

    async def run(self, bench: Workbench, user_id: str) -> Changeset | None:
        return await Cycle(bench, user_id, self._began, self._cluster).run()
