"""The frontier: how far somebody's agent has come in each cluster, and where the next challenge is worth most.

It is a value: what has happened makes the next one of it, and it is kept whole. What is mastered or teaches nothing new
is left alone but for a look now and then.
"""

from random import Random
from typing import Final

from msgspec.structs import replace

from aster.contracts.model import Contract
from aster.learning_centre.self_play.challenge import CLUSTERS, TIERS, Cluster, Tier

WINDOW: Final = 20
"""Challenges that are not set again so soon."""
RECENT: Final = 10
EXPLORED: Final = 0.2
BRITTLE_RUNS: Final = 3
MASTERED_RUNS: Final = 5
MASTERED_DELTA: Final = 0.05
SATURATED_RUNS: Final = 3
SATURATED_DELTA: Final = 0.001
WINS_PER_TIER: Final = 3
COOLDOWN: Final = 3600.0
LEAST_COOLDOWN: Final = 600.0
MOST_COOLDOWN: Final = 7200.0


class Run(Contract):
    """A challenge that was met. `length` is that of the solution, in thousandths of the one that came with it, `delta`
    how much shorter it was than the best before."""

    challenge: str
    cluster: Cluster
    tier: Tier
    title: str
    at: int
    passed: bool
    attempts: int
    delta: float = 0.0
    length: int = 0
    tool_errors: int = 0
    score: float = 0.0
    cost_usd: float = 0.0
    changeset_id: str = ""
    task_id: str = ""
    first_seq: int = 0
    last_seq: int = 0

    @property
    def at_once(self) -> bool:
        return self.passed and self.attempts == 1


class Standing(Contract):
    """How it stands in one cluster: `wins` are those at the first try, `best` the shortest solution."""

    runs: int = 0
    wins: int = 0
    best: int | None = None
    recent: tuple[Run, ...] = ()

    @property
    def tier(self) -> Tier:
        return TIERS[min(self.wins // WINS_PER_TIER, len(TIERS) - 1)]

    @property
    def brittle(self) -> int:
        """How shaky it is: by what failed and what took several tries lately."""
        last = self.recent[-BRITTLE_RUNS:]
        return sum(2 * (not run.passed) + 2 * (run.attempts >= 3) + (run.attempts == 2) for run in last)

    @property
    def mastered(self) -> bool:
        last = self.recent[-MASTERED_RUNS:]
        won = len(last) == MASTERED_RUNS and all(run.at_once for run in last)
        return won and any(run.delta > MASTERED_DELTA for run in last)

    @property
    def saturated(self) -> bool:
        """Won at once again and again, and nothing got better by it."""
        last = self.recent[-SATURATED_RUNS:]
        return len(last) == SATURATED_RUNS and all(run.at_once and run.delta <= SATURATED_DELTA for run in last)


class Frontier(Contract):
    """`met` are the newest challenges, the oldest first; `cooldown` are the seconds until the next is due."""

    clusters: dict[Cluster, Standing] = {}
    met: tuple[str, ...] = ()
    runs: tuple[Run, ...] = ()
    count: int = 0
    cooldown: float = COOLDOWN
    last_at: int = 0

    def of(self, cluster: Cluster) -> Standing:
        return self.clusters.get(cluster, Standing())

    def chosen(self, chance: Random) -> Cluster:
        """Where the next challenge is worth most; now and then anywhere."""
        if chance.random() < EXPLORED:
            return chance.choice(CLUSTERS)
        open_: list[Cluster] = [
            each for each in CLUSTERS if not (self.of(each).mastered or self.of(each).saturated)
        ]
        return max(open_ or CLUSTERS, key=self._worth)

    def _worth(self, cluster: Cluster) -> tuple[int, int, int]:
        standing = self.of(cluster)
        return standing.brittle, -standing.runs, -CLUSTERS.index(cluster)

    def compressed(self, cluster: Cluster, length: int, *, passed: bool) -> float:
        """How much shorter a solution is than the best before; -1 when there is none."""
        if not passed:
            return -1.0
        best = self.of(cluster).best
        return 0.0 if not best else (best - length) / best

    def noted(self, run: Run) -> "Frontier":
        """The frontier after a challenge."""
        before = self.of(run.cluster)
        best = before.best
        if run.passed:
            best = run.length if best is None else min(best, run.length)
        after = Standing(
            runs=before.runs + 1,
            wins=before.wins + run.at_once,
            best=best,
            recent=(*before.recent, run)[-RECENT:],
        )
        return replace(
            self,
            clusters={**self.clusters, run.cluster: after},
            met=(*self.met, run.challenge)[-WINDOW:],
            runs=(*self.runs, run)[-WINDOW:],
            count=self.count + 1,
            cooldown=rested(self.cooldown, run),
            last_at=run.at,
        )


def rested(cooldown: float, run: Run) -> float:
    """How long to wait after a challenge: less where it gets on, longer where it fails."""
    factor = 1.0
    if not run.passed:
        factor = 2.0
    elif run.delta > SATURATED_DELTA:
        factor = 0.5
    elif run.at_once:
        factor = 0.75
    return min(MOST_COOLDOWN, max(LEAST_COOLDOWN, cooldown * factor))


def scored(*, passed: bool, delta: float, tool_errors: int) -> float:
    """What a challenge came to."""
    return (1.0 + 0.4 * delta if passed else 0.0) - 0.1 * tool_errors
