"""What is forgotten, and what was said in a task that is deleted, is gone from what learning keeps as well."""

from pathlib import Path

import pytest

from aster.brain.protocol import Brain
from aster.brain.records import ThreadKey
from aster.brain.sqlite.brain import SqliteBrain
from aster.contracts.learning import ChangeItem, Trial, TrialRun
from aster.contracts.model import encode
from aster.memory.drafts import Draft
from tests.brain.learned import NOW, Drawn, applied, ended, fact, row

SECRET = "the zyxomantic boat"
LESSON = {"trigger": SECRET, "correct_pattern": "never mention it"}


async def kept(brain: Brain) -> bytes:
    """All that learning shows of a user."""
    trials = await brain.learning.trials("ada", limit=99)
    whole = [await brain.learning.trial("ada", trial.trial_id) for trial in trials]
    return encode([await brain.learning.changesets("ada", limit=99), whole])


async def item_of(brain: Brain, name: str, place: int = 1) -> ChangeItem:
    found = await brain.learning.changeset("ada", name)
    assert found is not None
    return found.items[place - 1]


async def trial_of(brain: Brain, name: str) -> Trial:
    found = await brain.learning.trial("ada", f"{name}-1")
    assert found is not None
    return found


def answered(trial_id: str, answer: str, task_id: str = "task-1") -> TrialRun:
    return TrialRun(
        trial_id=trial_id,
        turn_id="turn-1",
        arm="with",
        task_id=task_id,
        replay_task_id="r",
        score=1.0,
        answer=answer,
        at=NOW,
    )


async def test_a_record_that_is_forgotten_leaves_no_words_behind(brain: Brain) -> None:
    placed = {"task_id": "task-1", "first_seq": 3, "last_seq": 3}
    drawn = Drawn("c1").write(fact(SECRET, "Ada", "boat"), quote="I have the zyxomantic boat", **placed)
    done = await applied(brain, drawn.write(fact("likes tea"), quote="my boat, and tea", **placed))
    await applied(brain, Drawn("c2").add("write", status="refused", fields={"content": f"so {SECRET} it is"}))
    await applied(brain, Drawn("c3").write(fact(f"{SECRET} again")), apply=False)
    await applied(brain, Drawn("c4").add("trial", kind="lesson", fields=LESSON))
    await applied(brain, Drawn("c5").add("trial", kind="lesson", fields={"trigger": "tea"}))
    await applied(brain, Drawn("c6").write(fact("sold it", "Ada", "boat")))
    for name in ("c4", "c5"):
        await brain.learning.keep_run("ada", answered(f"{name}-1", f"You have {SECRET}!"))
    assert (await item_of(brain, "c6")).replaced
    await brain.memory.forget("ada", [done.items[0].record_id])
    left = await kept(brain)
    assert b"zyxomantic" not in left
    assert b"my boat" not in left, "it was said with what was forgotten"
    first = await item_of(brain, "c1")
    assert (first.status, first.fields, first.reason) == ("applied", {}, "What it said was forgotten.")
    other = await item_of(brain, "c1", 2)
    assert (other.fields["content"], other.reason) == ("likes tea", "")
    assert (await item_of(brain, "c3")).status == "rejected", "nobody can accept it any more"
    assert ((await trial_of(brain, "c4")).status, (await trial_of(brain, "c5")).status) == ("retired", "waiting")


@pytest.mark.parametrize(
    ("text", "around"),
    [
        ("我住在奥斯陆的海边", "我说我住在奥斯陆的海边了"),
        ('the café "Zürich"', 'and so:\nthe café "Zürich"\nit is'),
        ("äöü ñ ç", "wie gesagt: äöü ñ ç."),
        ("teapots", "no teapots here"),
    ],
)
async def test_words_are_found_in_any_writing(brain: Brain, text: str, around: str) -> None:
    [written] = await brain.memory.write([row(fact(text, "Ada", "thing"))])
    await applied(brain, Drawn("c1").add("write", status="refused", fields={"content": around}, quote=around))
    await brain.memory.forget("ada", [written.row.id])
    item = await item_of(brain, "c1")
    if text == "teapots":
        assert item.fields == {"content": around}, "a short word is anybody's"
    else:
        assert (item.fields, item.quote) == ({}, "")


async def test_what_is_left_of_a_changeset_is_taken_back_after_a_forget(brain: Brain) -> None:
    [written] = await brain.memory.write([row(fact("in Rome", "Ada", "home", valid_from=5))])
    before = await brain.memory.since("ada", 0, 9)
    done = await applied(brain, Drawn("c1").write(fact("in Oslo", "Ada", "home")))
    await brain.memory.forget("ada", [done.items[0].record_id])
    back = await brain.learning.decide("ada", "c1", "revert", by="ada", now=NOW)
    assert back is not None
    assert back.items[0].status == "reverted"
    assert await brain.memory.since("ada", 0, 9) == before
    assert before[0].id == written.row.id


async def test_a_part_that_is_forgotten_takes_the_whole_and_leaves_the_other_part(brain: Brain) -> None:
    parts = [
        written.row for written in await brain.memory.write([row(fact("has a boat")), row(fact("likes green tea"))])
    ]
    await applied(brain, Drawn("c1").merge(fact("has a boat and likes green tea"), *(part.id for part in parts)))
    gone = await brain.memory.forget("ada", [parts[0].id])
    assert [one.text for one in gone] == ["has a boat", "has a boat and likes green tea"]
    [left] = await brain.memory.since("ada", 0, 9)
    assert (left.id, left.holds) == (parts[1].id, True)
    assert b"has a boat" not in await kept(brain)


async def test_the_whole_that_is_forgotten_takes_its_parts_along(brain: Brain) -> None:
    parts = [written.row for written in await brain.memory.write([row(fact("has a boat")), row(fact("likes tea"))])]
    done = await applied(brain, Drawn("c1").merge(fact("has a boat, likes tea"), *(part.id for part in parts)))
    assert len(await brain.memory.forget("ada", [done.items[0].record_id])) == 3
    assert await brain.memory.since("ada", 0, 9) == []


async def test_a_deleted_task_is_quoted_no_more(brain: Brain) -> None:
    await ended(brain, "t1")
    said = {"task_id": "task-1", "first_seq": 2, "last_seq": 2, "quote": f"it is {SECRET}"}
    done = await applied(
        brain,
        Drawn("c1").write(fact("likes tea", task_id="task-1"), **said).add("write", status="refused", **said),
    )
    await applied(brain, Drawn("c2").write(fact("has a boat"), **said), apply=False)
    await applied(brain, Drawn("c3").add("trial", kind="lesson", fields=LESSON, **said))
    await applied(brain, Drawn("c4").add("trial", kind="lesson", fields={"trigger": "tea"}))
    await brain.learning.keep_run("ada", answered("c4-1", f"You have {SECRET}!"))
    await brain.delete_thread(ThreadKey("ada", "task-1"))
    assert b"zyxomantic" not in await kept(brain)
    assert [item.fields.get("content") for item in (await item_of(brain, "c1"), await item_of(brain, "c2"))] == [
        "likes tea",
        None,
    ]
    assert [one.id for one in await brain.memory.since("ada", 0, 9)] == [done.items[0].record_id]
    assert (await item_of(brain, "c2")).status == "rejected"
    assert (await trial_of(brain, "c3")).status == "retired"
    assert (await trial_of(brain, "c4")).runs == ()


async def test_forgetting_everything_forgets_what_was_learned(brain: Brain) -> None:
    await ended(brain, "t1")
    await ended(brain, "t2", user_id="bob")
    await applied(brain, Drawn("c1").add("write", status="refused", fields={"content": SECRET}))
    await applied(brain, Drawn("c2").add("trial", kind="lesson", fields=LESSON))
    await brain.learning.keep_run("ada", answered("c2-1", SECRET))
    await brain.memory.wipe("ada")
    assert await kept(brain) == b"[[],[]]"
    assert await brain.learning.entries("ada", limit=9) == []
    assert len(await brain.learning.entries("bob", limit=9)) == 1


@pytest.mark.parametrize("how", ["forget", "wipe"])
async def test_no_byte_of_it_stays_in_the_file(file_brain: SqliteBrain, tmp_path: Path, how: str) -> None:
    """Among many others, so that its pages are split and filled again."""
    for at in range(60):
        await applied(
            file_brain, Drawn(f"x{at}").write(fact(f"fact number {at} " + "and so on " * 40), quote=f"quote {at}")
        )
    drawn = Drawn("c1").write(fact(SECRET), quote=f"I said {SECRET}", task_id="task-1", first_seq=1, last_seq=1)
    done = await applied(file_brain, drawn.add("trial", kind="lesson", fields=LESSON))
    await applied(file_brain, Drawn("c2").write(Draft("fact", {"content": f"{SECRET} twice"})), apply=False)
    if how == "forget":
        await file_brain.memory.scrub(await file_brain.memory.forget("ada", [done.items[0].record_id]))
    else:
        first = await file_brain.memory.since("ada", 0, 500)
        await file_brain.memory.wipe("ada")
        await file_brain.memory.scrub(first)
    content = b"".join(file.read_bytes() for file in tmp_path.glob("brain.sqlite*"))
    assert b"zyxomantic" not in content.lower()
