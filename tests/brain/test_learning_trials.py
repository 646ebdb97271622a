"""Trials: begun with their changeset, run once for each turn and arm, settled once."""

from typing import Any

from msgspec.structs import replace

from aster.brain.protocol import Brain
from aster.contracts.learning import Arm, Trial, TrialRun
from aster.memory.drafts import Draft
from tests.brain.learned import NOW, Drawn, applied, exported

LESSON: dict[str, Any] = {"trigger": "sending mail", "correct_pattern": "ask first"}


def run(trial_id: str, turn_id: str = "turn-1", arm: Arm = "with", score: float = 1.0) -> TrialRun:
    return TrialRun(
        trial_id=trial_id, turn_id=turn_id, arm=arm, task_id="task-1", replay_task_id="r", score=score, at=NOW
    )


def promotion(name: str = "p1") -> Drawn:
    return Drawn(name, kind="trial").write(Draft("lesson", {**LESSON, "verified": True}))


async def begun(brain: Brain, name: str = "c1") -> Trial:
    drawn = Drawn(name).add("trial", kind="lesson", fields=LESSON, quote="never just send it", task_id="task-1")
    done = await applied(brain, drawn)
    trial = await brain.learning.trial("ada", done.items[0].record_id)
    assert trial is not None
    return trial


async def test_a_lesson_is_tried_before_it_is_remembered(brain: Brain) -> None:
    trial = await begun(brain)
    assert (trial.status, trial.fields, trial.quote, trial.changeset_id, trial.place) == (
        *("waiting", LESSON, "never just send it"),
        *("c1", 1),
    )
    assert await exported(brain) == b"[]"
    assert await brain.learning.open_trials() == [trial]
    assert await brain.learning.learned_as("ada", trial.trial_id) is not None


async def test_a_run_is_kept_once(brain: Brain) -> None:
    trial = await begun(brain)
    for one in (run(trial.trial_id), run(trial.trial_id, score=0.0), run(trial.trial_id, arm="without")):
        await brain.learning.keep_run("ada", one)
    await brain.learning.keep_run("bob", run(trial.trial_id, "turn-2"))
    await brain.learning.keep_run("ada", run("nothing"))
    found = await brain.learning.trial("ada", trial.trial_id)
    assert found is not None
    assert [(one.arm, one.score) for one in found.runs] == [("with", 1.0), ("without", 1.0)]
    assert await brain.learning.settle_trial(replace(found, status="retired", reason="worse"), None, now=NOW)
    await brain.learning.keep_run("ada", run(trial.trial_id, "turn-3"))
    after = await brain.learning.trial("ada", trial.trial_id)
    assert after is not None
    assert len(after.runs) == 2, "it is over"


async def test_a_promotion_is_remembered_with_the_verdict(brain: Brain) -> None:
    trial = await begun(brain)
    assert await brain.learning.settle_trial(replace(trial, status="undecided", turns=2), None, now=NOW)
    assert [one.status for one in await brain.learning.open_trials()] == ["undecided"]
    made = promotion()
    won = replace(trial, status="promoted", gain=0.4, decided_at=NOW)
    assert await brain.learning.settle_trial(won, made.changeset, now=NOW, rows=made.rows)
    again = promotion("p2")
    assert not await brain.learning.settle_trial(won, again.changeset, now=NOW, rows=again.rows)
    assert await brain.learning.open_trials() == []
    [lesson] = await brain.memory.since("ada", 0, 9)
    [kept] = await brain.learning.trials("ada", limit=9, status="promoted")
    assert (kept.record_id, kept.gain, lesson.fields["verified"]) == (lesson.id, 0.4, 1)
    assert await brain.learning.changeset("ada", "p2") is None
    origin = await brain.learning.decide("ada", "c1", "revert", by="ada", now=NOW)
    assert origin is not None
    assert (origin.items[0].status, "proved itself" in origin.items[0].reason) == ("kept", True)
    assert await brain.learning.decide("ada", "p1", "revert", by="ada", now=NOW) is not None
    [kept] = await brain.learning.trials("ada", limit=9)
    assert (kept.status, kept.record_id, await exported(brain)) == ("retired", "", b"[]")


async def test_a_promotion_that_memory_does_not_take_is_none(brain: Brain) -> None:
    trial = await begun(brain)
    made = Drawn("p1", kind="trial").write(Draft("lesson", LESSON, derived_from=("fact-gone",)))
    won = replace(trial, status="promoted")
    assert await brain.learning.settle_trial(won, made.changeset, now=NOW, rows=made.rows)
    [kept] = await brain.learning.trials("ada", limit=9)
    assert (kept.status, kept.record_id, bool(kept.reason)) == ("retired", "", True)


async def test_a_trial_that_is_taken_back_is_over(brain: Brain) -> None:
    trial = await begun(brain)
    await brain.learning.decide("ada", "c1", "revert", by="ada", now=NOW)
    made = promotion()
    won = replace(trial, status="promoted")
    assert not await brain.learning.settle_trial(won, made.changeset, now=NOW, rows=made.rows)
    assert (await brain.learning.trials("ada", limit=9))[0].reason == "It was taken back."
    assert await exported(brain) == b"[]"


async def test_trials_are_listed_newest_first(brain: Brain) -> None:
    first, second = await begun(brain, "c1"), await begun(brain, "c2")
    listed = await brain.learning.trials("ada", limit=9)
    assert [one.trial_id for one in listed] == [second.trial_id, first.trial_id]
    older = await brain.learning.trials("ada", limit=9, before=listed[0].number)
    assert [one.trial_id for one in older] == [first.trial_id]
