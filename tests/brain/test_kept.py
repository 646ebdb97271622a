"""What is kept beside a thread: artifacts, files as they were, plans, doubts, corrections, places, work behind it."""

from aster.brain.background import (
    BackgroundEndRow,
    BackgroundPartRow,
    BackgroundReadRow,
    BackgroundRow,
    BackgroundToldRow,
)
from aster.brain.corrections import CorrectionRecord, CorrectionRow, CorrectionToldRow
from aster.brain.doors import DoorPlace, DoorPlaceRow
from aster.brain.protocol import Brain
from aster.brain.records import (
    ArtifactRow,
    FileAfterRow,
    FileUndoneRow,
    FileVersionRow,
    Row,
    ThreadKey,
)
from aster.contracts.events import PlanUpdate, Uncertainty
from tests.brain.thread import KEY, begin, made

OTHER = ThreadKey("bob", "task-1")


async def keep(brain: Brain, *rows: Row, key: ThreadKey = KEY) -> None:
    await brain.append(key, None, [], rows=rows)


async def test_artifacts_are_whole(brain: Brain) -> None:
    await begin(brain)
    data = bytes(range(256)) * 1000
    await keep(
        brain, *(made(ArtifactRow, f"a{n}", "turn-1", "c1", "out", "text/plain", 9, "sha", data, n) for n in (1, 2))
    )
    assert [each.artifact_id for each in await brain.artifacts(KEY)] == ["a2", "a1"]
    assert await brain.artifacts(OTHER) == []
    found = await brain.artifact("ada", "a1")
    assert found is not None
    assert found[1] == data
    assert await brain.artifact("bob", "a1") is None


async def test_changes_of_files_are_taken_back_newest_turn_first(brain: Brain) -> None:
    await begin(brain)
    for number in (1, 2, 3):
        turn_id = "turn-1" if number < 3 else "turn-2"
        row = made(FileVersionRow, f"k{number}", turn_id, "c", f"f{number}", number > 1, 0o644, b"\x00old", 7)
        await keep(brain, row)
    await keep(brain, made(FileAfterRow, "k1", "after"))
    assert [each.call_key for each in await brain.file_versions(KEY, None)] == ["k3"]
    first, second = await brain.file_versions(KEY, "turn-1")
    assert (first.path, bool(first.existed), first.data, first.sha256_after) == ("f1", False, b"\x00old", "after")
    assert (second.path, bool(second.existed)) == ("f2", True)
    await keep(brain, made(FileUndoneRow, "k3", 9))
    assert [each.call_key for each in await brain.file_versions(KEY, None)] == ["k1", "k2"]
    assert await brain.file_versions(OTHER, None) == []


async def test_the_newest_plan_is_the_plan(brain: Brain) -> None:
    await begin(brain)
    assert await brain.plan(KEY) is None
    for goal in ("first", "second"):
        await brain.append(KEY, "turn-1", [PlanUpdate(goal=goal, steps=())])
    plan = await brain.plan(KEY)
    assert plan is not None
    assert plan.seq == 4
    assert b"second" in plan.body
    assert await brain.plan(OTHER) is None


async def test_doubts_stay_until_they_are_settled_and_recurring_ones_are_counted(brain: Brain) -> None:
    for task in ("task-1", "task-2"):
        key = ThreadKey("ada", task)
        await begin(brain, key, f"{task}-turn", f"{task}-msg")
        doubt = Uncertainty(item_id=f"{task}-d", item="unknown", text="Which Colour?", impact=3, confidence=0.5)
        await brain.append(key, f"{task}-turn", [doubt])
    [item] = await brain.uncertainties(KEY)
    assert (item.item_id, item.impact, item.confidence, item.resolved) == ("task-1-d", 3, 0.5, False)
    found = await brain.doubt(KEY, "task-1-d")
    assert found is not None
    assert found.text == "Which Colour?"
    assert await brain.doubt(OTHER, "task-1-d") is None
    [often] = await brain.recurring_unknowns("ada", 5)
    assert (often.text, often.times, often.tasks, often.impact) == ("Which Colour?", 2, 2, 3)
    settled = Uncertainty(
        item_id="task-1-d", item="unknown", text="Which Colour?", impact=3, resolved=True, note="blue"
    )
    await brain.append(KEY, "task-1-turn", [settled])
    [item] = await brain.uncertainties(KEY)
    assert (item.resolved, item.note) == (True, "blue")
    assert await brain.recurring_unknowns("ada", 5) == await brain.recurring_unknowns("bob", 5) == []


async def test_corrections_wait_to_be_told(brain: Brain) -> None:
    await begin(brain)
    await keep(
        brain,
        made(CorrectionRow, "k1", "turn-1", "m1", b"{}", 1, 100),
        made(CorrectionRow, "k2", "turn-1", "m2", b"{}", 2, 5),
    )
    assert await brain.corrections(KEY, 50) == [CorrectionRecord("k1", "turn-1", "m1", b"{}")]
    assert await brain.corrections(OTHER, 50) == []
    assert await brain.correction_threads(50) == [KEY]
    await keep(brain, made(CorrectionToldRow, "k1", 60))
    assert await brain.correction_threads(50) == []


async def test_places_lead_to_their_task(brain: Brain) -> None:
    await begin(brain)
    await keep(
        brain,
        made(DoorPlaceRow, "f1", "turn-1", 2, "answered", 1),
        made(DoorPlaceRow, "f2", "turn-1", None, "asked", 1),
    )
    found = await brain.door_places("ada", ["f1", "f2", *(f"x{number}" for number in range(600))])
    assert sorted(found) == [
        DoorPlace("f1", "task-1", "turn-1", 2, "answered"),
        DoorPlace("f2", "task-1", "turn-1", None, "asked"),
    ]
    assert await brain.door_places("bob", ["f1"]) == []


async def test_work_behind_turns_is_followed_to_its_end(brain: Brain) -> None:
    await begin(brain)
    await keep(brain, made(BackgroundRow, "w1", "turn-1", "c1", "command", "sleep", 5))
    await keep(brain, *(made(BackgroundPartRow, "w1", part, part * 4, f"out{part}") for part in (1, 0)))
    running = await brain.background_running()
    assert [each.runtime_task_id for each in running] == ["w1"]
    assert await brain.background_of("ada") == running
    assert await brain.background_of("bob") == []
    assert await brain.background_output(KEY, "w1") == [(0, "out0"), (4, "out1")]
    assert await brain.background_output(OTHER, "w1") == []
    assert await brain.take_background(running[0])
    assert not await brain.take_background(running[0])
    assert await brain.stop_background(KEY, "w1", "enough")
    assert await brain.background_owned() == {"w1": "enough"}
    await keep(brain, made(BackgroundReadRow, "w1", 7), made(BackgroundEndRow, "w1", "completed", 9, exit_code=0))
    assert not await brain.stop_background(KEY, "w1", "enough")
    [ended] = await brain.background_untold(KEY)
    assert (ended.status, ended.read_to, ended.exit_code) == ("completed", 7, 0)
    assert await brain.background_task(KEY, "w1") == ended
    assert await brain.background_task(OTHER, "w1") is None
    assert await brain.background_untold_threads() == [KEY]
    await keep(brain, made(BackgroundToldRow, "w1", 10))
    assert await brain.background_untold_threads() == await brain.background_running() == []
