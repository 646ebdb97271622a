"""Trials: a lesson or heuristic has to show that it helps before it is remembered. Recorded turns are replayed with it
and without it, and it is promoted on a measured gain or retired on a loss.

Everything is done in small steps that can be taken up again: a replay has an id made of the trial, the turn and the
arm, so that it is never run twice; both arms of a turn are kept before the next; the verdict is one commit with what
it writes to memory.
"""

import asyncio
import logging
from collections.abc import Sequence
from hashlib import sha256
from typing import Final

from msgspec.structs import replace

from aster.brain.memory_kinds import KINDS
from aster.brain.records import ThreadKey
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.learning import Arm, ChangeItem, Changeset, Trial, TrialRun
from aster.contracts.replay import ReplayReport, ReplayWish
from aster.engine_core.replaying import recorded
from aster.engine_core.replaying.answering import MAX_USD
from aster.engine_core.verifying.checks import disputes
from aster.engine_core.verifying.evidence import Case, exhibits
from aster.learning_centre import judging
from aster.learning_centre.sampling import Sample, sample, samples, stirred
from aster.learning_centre.verdicts import PATIENCE_MS, Verdict, decided, pairs, summed
from aster.learning_centre.workbench import Workbench
from aster.memory.drafts import Draft

log = logging.getLogger("aster.learning.trials")

NAME: Final = "trials"
_KINDS: Final = {"lesson": "lesson", "fact": "heuristic"}
"""What is tried, as it is called where its words are left out: a thread is not forgotten with a memory."""
ROUNDS: Final = 3
"""How many times the usual number of turns one trial may take in all."""
SPARE: Final = 10
"""Turns beyond those that are wanted, in the place of such as tell nothing."""
SHOWN_CHARS: Final = 4000
_UNFIT: Final = frozenset(
    (ErrorCode.TASK_NOT_FOUND, ErrorCode.NOT_FOUND, ErrorCode.INVALID_REQUEST, ErrorCode.TASK_BUSY)
)
"""Why a turn cannot be replayed: it is gone, or there is something in it that nobody has any more."""
_NO_VERDICT: Final = frozenset(
    str(code)
    for code in (
        *(
            ErrorCode.LLM_RATE_LIMITED,
            ErrorCode.LLM_PROVIDER_ERROR,
            ErrorCode.LLM_TIMEOUT,
            ErrorCode.BUDGET_EXCEEDED,
        ),
        *(ErrorCode.STORAGE_UNAVAILABLE, ErrorCode.TURN_CRASHED, ErrorCode.INTERNAL),
    )
)
"""Errors that say nothing about what the model was told."""


class Trials:
    name = NAME
    rounds = 1
    idle_seconds = 600.0
    cooldown_seconds = 1800.0

    async def users(self, bench: Workbench) -> Sequence[str]:
        return list(dict.fromkeys(trial.user_id for trial in await bench.store.open_trials()))

    async def due(self, bench: Workbench, user_id: str) -> bool:
        """When a trial is new or was cut off, when there are new turns to try one on, or when its time is over."""
        trials = await _open(bench, user_id)
        late = bench.now() - PATIENCE_MS
        if any(trial.status != "undecided" or trial.created_at <= late for trial in trials):
            return True
        looked = int(await bench.store.state(user_id, NAME) or 0)
        return bool(trials) and await stirred(bench.services.brain, user_id, looked)

    async def run(self, bench: Workbench, user_id: str) -> Changeset | None:
        """Take every open trial of a person further; the newest promotion, if there was one. A trial that fails does
        not keep the others from going on."""
        began = bench.now()
        promoted: Changeset | None = None
        failed: EngineError | None = None
        for trial in await _open(bench, user_id):
            await bench.stand_back()
            try:
                promoted = await _tried(bench, trial) or promoted
            except EngineError as error:
                failed = failed or error
        if failed is not None:
            raise failed
        await bench.store.keep_state(user_id, NAME, str(began), bench.now())
        return promoted


async def _open(bench: Workbench, user_id: str) -> list[Trial]:
    return [trial for trial in await bench.store.open_trials(user_id) if trial.kind in _KINDS]


async def _tried(bench: Workbench, trial: Trial) -> Changeset | None:
    """Replay what a trial still lacks and settle it; its promotion, if it is promoted."""
    found = await bench.store.trial(trial.user_id, trial.trial_id)
    if found is None:
        return None
    trial = found
    try:
        line(bench, trial)
    except EngineError as error:
        return await _settled(bench, trial, Verdict("retired", f"it cannot be remembered: {error.message}"))
    if trial.status == "waiting":
        await bench.store.settle_trial(replace(trial, status="running", runs=()), None, now=bench.now())
    begun, fresh, room = await _lacking(bench, trial)
    for one in begun:
        trial = replace(trial, runs=await _compared(bench, trial, one))
    target = len(pairs(trial)) + room
    for one in fresh:
        if len(pairs(trial)) >= target:
            break
        trial = replace(trial, runs=await _compared(bench, trial, one))
    trial = summed(trial)
    verdict = decided(trial, bench.now())
    return await _settled(bench, trial, verdict)


async def _lacking(bench: Workbench, trial: Trial) -> tuple[list[Sample], list[Sample], int]:
    """Turns that were begun; others, some more than are wanted because not every turn can be replayed; and how many of
    those are wanted."""
    brain, most = bench.services.brain, bench.settings.lc_trial_turns
    whole = {with_.turn_id for _, with_ in pairs(trial)}
    half = {run.turn_id: run.task_id for run in trial.runs if run.turn_id not in whole}
    again = [await sample(brain, trial, task_id, turn_id) for turn_id, task_id in half.items()]
    begun = [one for one in again if one is not None]
    room = most * (ROUNDS if trial.status == "undecided" else 1) - len(whole) - len(begun)
    room = min(most, max(0, room))
    fresh = await samples(brain, trial, room + SPARE, {*whole, *half}) if room else []
    return begun, fresh, room


async def _compared(bench: Workbench, trial: Trial, one: Sample) -> tuple[TrialRun, ...]:
    """Both arms of a turn, kept; the runs of the trial then. A turn that cannot be replayed tells nothing."""
    await bench.stand_back()
    try:
        without, with_ = [await _replayed(bench, trial, one, arm) for arm in ("without", "with")]
    except EngineError as error:
        if error.code not in _UNFIT:
            raise
        log.info("a turn cannot be replayed for a trial: %s", error.message)
        return trial.runs
    reports = (without, with_)
    if any(map(_untelling, reports)):
        return trial.runs
    found = [await _checked(bench, trial.user_id, one, report) for report in reports]
    scores = [judging.score(checks) for checks in found]
    paid = 0.0
    if abs(scores[1] - scores[0]) < judging.TIE:
        better, paid = await _judged(bench, trial, one, without, with_)
        found = [{**found[0], "judge": 1.0 - better}, {**found[1], "judge": better}]
    arms: tuple[Arm, Arm] = ("without", "with")
    runs = [
        TrialRun(
            trial_id=trial.trial_id,
            turn_id=one.turn_id,
            arm=arm,
            task_id=one.task_id,
            replay_task_id=report.replay_task_id,
            score=judging.score(checks),
            checks=checks,
            answer=report.replayed.answer[:SHOWN_CHARS],
            cost_usd=report.replayed.cost_usd + (paid if arm == "with" else 0.0),
            at=bench.now(),
        )
        for arm, report, checks in zip(arms, reports, found, strict=True)
    ]
    for run in runs:
        await bench.store.keep_run(trial.user_id, run)
    kept = await bench.store.trial(trial.user_id, trial.trial_id)
    return trial.runs if kept is None else kept.runs


async def _replayed(bench: Workbench, trial: Trial, one: Sample, arm: Arm) -> ReplayReport:
    """One arm of a turn; once more in a night in which it could not be answered."""
    report = await _run(bench, trial, one, arm, replay_id(trial, one.turn_id, arm))
    if _untelling(report):
        report = await _run(bench, trial, one, arm, replay_id(trial, one.turn_id, arm, bench.night))
    return report


async def _run(bench: Workbench, trial: Trial, one: Sample, arm: Arm, name: str) -> ReplayReport:
    await bench.stand_back()
    wish = ReplayWish(
        task_id=one.task_id,
        turn_id=one.turn_id,
        extra=(line(bench, trial),) if arm == "with" else (),
        background=True,
        max_usd=await bench.purse(trial.user_id),
    )
    report = await bench.engine.replays.run(trial.user_id, wish, name)
    await bench.spend(trial.user_id, name, report.replayed.cost_usd)
    return report


def replay_id(trial: Trial, turn_id: str, arm: Arm, again: str = "") -> str:
    """The same for the same arm of the same turn, so that it is replayed once."""
    said = "\x1f".join((trial.user_id, trial.trial_id, turn_id, arm, again))
    return f"trial-{sha256(said.encode('utf-8', 'surrogatepass')).hexdigest()[:24]}"


def _untelling(report: ReplayReport) -> bool:
    """Whether a replay ended for a reason that has nothing to do with what the model was told."""
    return report.replayed.error in _NO_VERDICT or report.replayed.stop_reason == MAX_USD


def line(bench: Workbench, trial: Trial) -> str:
    """The item as memory would show it."""
    draft = Draft(KINDS[trial.kind].name, trial.fields)  # type: ignore[index]
    return bench.memory.row(trial.user_id, draft, bench.now()).text


async def _checked(bench: Workbench, user_id: str, one: Sample, report: ReplayReport) -> dict[str, float]:
    arm = report.replayed
    played = await recorded.load(bench.services.brain, ThreadKey(user_id, report.replay_task_id), arm.turn_id)
    seen = exhibits(played.state)
    case = Case(arm.answer, seen, one.question, tuple(played.state.messages[:-1]))
    disputed = bool(seen) and bool(await asyncio.to_thread(disputes, case))
    return judging.checks(arm, report.recorded, one, disputed=disputed)


async def _judged(
    bench: Workbench, trial: Trial, one: Sample, without: ReplayReport, with_: ReplayReport
) -> tuple[float, float]:
    """Whether the answer with the item is better. What was said before a crash holds."""
    for run in trial.runs:
        if run.turn_id == one.turn_id and "judge" in run.checks:
            said = run.checks["judge"]
            return (said if run.arm == "with" else 1.0 - said), 0.0
    return await judging.preferred(bench, trial.user_id, one, with_.replayed.answer, without.replayed.answer)


async def _settled(bench: Workbench, trial: Trial, verdict: Verdict) -> Changeset | None:
    over = verdict.status in ("promoted", "retired")
    settled = replace(
        trial, status=verdict.status, reason=verdict.reason, decided_at=bench.now() if over else None, runs=()
    )
    promotion: Changeset | None = None
    rows = {}
    if verdict.status == "promoted":
        promotion, rows = bench.rows(await _promotion(bench, settled))
        refused = next((item.reason for item in promotion.items if item.status == "refused"), None)
        if refused is not None:
            settled = replace(settled, status="retired", reason=f"it helps, but cannot be remembered: {refused}")
            promotion, rows = None, {}
    if not await bench.store.settle_trial(settled, promotion, now=bench.now(), rows=rows):
        return None
    if promotion is not None:
        bench.memory.learned(trial.user_id)
    if over:
        bench.engine.raven.tried(settled.status)
        await bench.note(
            trial.user_id,
            NAME,
            "decided",
            f"A {_KINDS[trial.kind]} was {settled.status}: {settled.reason}.",
            trial_id=trial.trial_id,
            status=settled.status,
            changeset_id=promotion.changeset_id if promotion is not None else None,
            cost_usd=settled.cost_usd,
        )
    return None if promotion is None else await bench.store.changeset(trial.user_id, promotion.changeset_id)


async def _promotion(bench: Workbench, trial: Trial) -> Changeset:
    origin = await bench.store.changeset(trial.user_id, trial.changeset_id)
    proposed = next((item for item in origin.items if item.place == trial.place), None) if origin else None
    sources = await bench.memory.found(trial.user_id, proposed.derived_from if proposed is not None else ())
    verified = {"verified": True} if trial.kind == "lesson" else {}
    item = ChangeItem(
        place=0,
        action="write",
        kind=trial.kind,
        fields={**trial.fields, **verified},
        derived_from=tuple(row.id for row in sources),
        task_id=trial.task_id,
        first_seq=trial.first_seq,
        last_seq=trial.last_seq,
        quote=trial.quote,
        confidence=round(min(0.95, 0.6 + trial.gain), 4),
    )
    return Changeset(
        changeset_id=f"promotion-{trial.trial_id}",
        user_id=trial.user_id,
        kind="trial",
        status="applied",
        title=f"Promoted 1 {_KINDS[trial.kind]}",
        created_at=bench.now(),
        night=bench.night,
        items=(item,),
        cost_usd=trial.cost_usd,
        note=trial.reason,
    )
