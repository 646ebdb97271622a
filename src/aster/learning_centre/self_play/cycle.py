"""A cycle of self-play: a challenge that passed every check, up to three attempts of a solver that is shut in, what it
came to, and a lesson on trial if it failed first and was solved then.

A cycle that is cut off has not happened: the frontier is kept at its end, with the changeset that tells of it.
"""

from random import Random
from typing import Final, NamedTuple

from aster.brain.records import UsageSlice
from aster.contracts.learning import SELF_PLAY_TASK, Changeset
from aster.contracts.model import decode, encode
from aster.engine_core.budget import Day
from aster.infra.ids import new_id
from aster.learning_centre.self_play import checking, generating, lessons, quality
from aster.learning_centre.self_play.challenge import TIERS, Challenge, Cluster
from aster.learning_centre.self_play.frontier import Frontier, Run, scored
from aster.learning_centre.self_play.solving import Attempt, Solver
from aster.learning_centre.self_play.templates import shipped
from aster.learning_centre.workbench import Deferred, Workbench

ATTEMPTS: Final = 3
FRONTIER: Final = "self_play:frontier"
STOPPED: Final = "self_play:stopped"
NAME: Final = "self_play"
AGAIN: Final = "The check did not let it pass:\n{said}\n\nMend {solution} and try again."


class Tried(NamedTuple):
    """What the attempts at a challenge came to. `failed` is the first that did, and why; `passed` the one that did."""

    attempts: list[Attempt]
    failed: tuple[str, str] | None
    passed: str | None
    unsound: str = ""


async def frontier_of(bench: Workbench, user_id: str) -> Frontier:
    kept = await bench.store.state(user_id, FRONTIER)
    return Frontier() if kept is None else decode(kept, Frontier)


async def spent_usd(bench: Workbench) -> float:
    """What self-play has cost today, for everybody."""
    since = Day.at(bench.now()).start_ms
    _, total = await bench.services.brain.usage(
        UsageSlice(user_id=None, task_id=SELF_PLAY_TASK, since=since), "task", 1
    )
    return total.cost_usd or 0.0


class Cycle:
    """Made for one; whoever writes a message after `began` stops it."""

    def __init__(self, bench: Workbench, user_id: str, began: int, cluster: Cluster | None = None) -> None:
        self._bench = bench
        self._user_id = user_id
        self._began = began
        self._wanted: Cluster | None = cluster
        self._cost = 0.0

    async def run(self) -> Changeset | None:
        frontier = await frontier_of(self._bench, self._user_id)
        chance = Random(f"{self._user_id} {frontier.count}")  # noqa: S311 - where to look next is no secret
        cluster: Cluster = self._wanted or frontier.chosen(chance)
        await self.watch()
        challenge = await self._challenge(frontier, cluster, chance)
        if challenge is None:
            return await self._kept((), f"There is no new challenge in {cluster}", "None passed the checks.")
        text = f"A challenge in {cluster} ({challenge.tier}): {challenge.title}"
        await self._bench.note(self._user_id, NAME, "started", text)
        solver = Solver(self._bench.engine, self._user_id, challenge, self.watch)
        try:
            await solver.open()
            tried = await self._tried(solver, challenge)
        finally:
            await solver.close()
        if tried.unsound:
            return await self._kept((), f"{challenge.title}: given up", tried.unsound)
        return await self._learned(frontier, challenge, tried)

    async def watch(self) -> None:
        """Whether it may go on: raises `Deferred` when somebody writes, when it was told to stop, or when the day's
        money is used up."""
        store, now = self._bench.store, self._bench.now()
        if (await store.active_at(now) or 0) > self._began:
            raise Deferred("somebody is talking to the engine")
        if int(await store.state(self._user_id, STOPPED) or 0) >= self._began:
            raise Deferred("it was told to stop")
        if self._bench.engine.draining:
            raise Deferred("the engine is going away")

    async def _purse(self) -> float:
        limit = self._bench.settings.self_play_budget_usd
        left = limit - await spent_usd(self._bench)
        if left <= 0:
            raise Deferred(f"the {limit:g} USD for self-play today are used up")
        return left

    async def _challenge(self, frontier: Frontier, cluster: Cluster, chance: Random) -> Challenge | None:
        """One that was not met lately: of its tier from those that come with the engine, else one that a model thinks
        up, else an easier one."""
        tier = frontier.of(cluster).tier
        own = [one for one in shipped() if one.cluster == cluster and one.digest not in frontier.met]
        chance.shuffle(own)
        easier = sorted(own, key=lambda one: -TIERS.index(one.tier))
        fitting = [one for one in own if one.tier == tier]
        for one in fitting:
            if await self._sound(one) is None:
                return one
        found = await self._generated(frontier, cluster)
        if found is not None:
            return found
        for one in easier:
            if TIERS.index(one.tier) < TIERS.index(tier) and await self._sound(one) is None:
                return one
        return None

    async def _generated(self, frontier: Frontier, cluster: Cluster) -> Challenge | None:
        tier, problem = frontier.of(cluster).tier, ""
        titles = [run.title for run in frontier.runs if run.cluster == cluster]
        for _ in range(generating.TRIES):
            await self._purse()
            asked = await self._bench.ask(
                self._user_id,
                generating.INSTRUCTIONS,
                {"cluster": cluster, "tier": tier, "titles": titles, "problem": problem},
                generating.MOST_TOKENS,
                SELF_PLAY_TASK,
            )
            self._cost += asked.cost_usd
            found = generating.read(asked.data, cluster, tier)
            problem = "it could not be read" if found is None else await self._sound(found) or ""
            if found is not None and found.digest in frontier.met:
                problem = "it was set before"
            if found is not None and not problem:
                return found
        return None

    async def _sound(self, challenge: Challenge) -> str | None:
        """Why a challenge is not set; None when nothing speaks against it."""
        await self.watch()
        wrong = next(quality.problems(challenge), None)
        return wrong or await checking.fault(self._bench.services, challenge)

    async def _tried(self, solver: Solver, challenge: Challenge) -> Tried:
        attempts: list[Attempt] = []
        failed: tuple[str, str] | None = None
        message = challenge.told
        for _ in range(ATTEMPTS):
            attempts.append(await solver.attempt(message, await self._purse()))
            self._cost += attempts[-1].cost_usd
            solution = await solver.solution()
            checked = checking.Checked("refused", f"There is no {challenge.solution}.")
            if solution is not None:
                checked = await checking.check(self._bench.services, challenge, solution)
            if checked.verdict == "passed":
                return Tried(attempts, failed, solution or "")
            if checked.verdict == "crashed":
                return Tried(attempts, failed, None, f"Its validator failed by itself: {checked.said[-300:]}")
            failed = failed or (solution or "", checked.said)
            message = AGAIN.format(said=checked.said, solution=challenge.solution)
        return Tried(attempts, failed, None)

    async def _learned(self, frontier: Frontier, challenge: Challenge, tried: Tried) -> Changeset | None:
        passed, attempts = tried.passed is not None, tried.attempts
        items = await self._lesson(challenge, tried)
        length = round(1000 * len(tried.passed or "") / max(1, len(challenge.reference)))
        delta = frontier.compressed(challenge.cluster, length, passed=passed)
        errors = sum(attempt.tool_errors for attempt in attempts)
        run = Run(
            challenge=challenge.digest,
            cluster=challenge.cluster,
            tier=challenge.tier,
            title=challenge.title,
            at=self._bench.now(),
            passed=passed,
            attempts=len(attempts),
            delta=round(delta, 4),
            length=length,
            tool_errors=errors,
            score=round(scored(passed=passed, delta=delta, tool_errors=errors), 4),
            cost_usd=self._cost,
            changeset_id=new_id("self-play"),
            task_id=SELF_PLAY_TASK,
            first_seq=attempts[0].first_seq,
            last_seq=attempts[-1].last_seq,
        )
        how = f"solved at try {run.attempts}" if passed else f"not solved in {run.attempts} tries"
        title = f"{challenge.title}: {how}, {run.score:.2f}"
        kept = await self._kept(items, title, "", run.changeset_id)
        known = encode(frontier.noted(run)).decode()
        await self._bench.store.keep_state(self._user_id, FRONTIER, known, run.at)
        return kept

    async def _lesson(self, challenge: Challenge, tried: Tried) -> tuple[lessons.ChangeItem, ...]:
        if tried.failed is None or tried.passed is None:
            return ()
        await self._purse()
        shown = lessons.material(challenge, *tried.failed, tried.passed)
        asked = await self._bench.ask(self._user_id, lessons.INSTRUCTIONS, shown, task_id=SELF_PLAY_TASK)
        self._cost += asked.cost_usd
        before = await self._bench.store.trials(self._user_id, limit=500)
        triggers = [str(trial.fields.get("trigger", "")) for trial in before]
        found = lessons.item(asked.data, challenge, tried.attempts, self._bench.memory, self._user_id, triggers)
        return () if found is None else (found,)

    async def _kept(
        self, items: tuple[lessons.ChangeItem, ...], title: str, note: str, name: str = ""
    ) -> Changeset | None:
        return await self._bench.commit(
            Changeset(
                changeset_id=name or new_id("self-play"),
                user_id=self._user_id,
                kind="self_play",
                status="proposed",
                title=title,
                created_at=self._bench.now(),
                night=self._bench.night,
                items=items,
                cost_usd=self._cost,
                note=note,
            )
        )
