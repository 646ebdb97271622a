"""Changesets: applied whole or not at all, shown as they are, decided about by a person, and taken back."""

from aster.brain.memory_records import MemoryRow, Written
from aster.brain.protocol import Brain
from aster.memory.drafts import Draft
from tests.brain.learned import NOW, Drawn, applied, exported, fact, row


async def known(brain: Brain, *drafts: Draft) -> list[MemoryRow]:
    done: list[Written] = await brain.memory.write([row(draft) for draft in drafts])
    return [written.row for written in done]


async def now(brain: Brain, *ids: str) -> dict[str, MemoryRow]:
    return {found.id: found for found in await brain.memory.get("ada", ids)}


async def test_an_applied_changeset_says_what_became_of_each_item(brain: Brain) -> None:
    rome, tea = await known(brain, fact("in Rome", "Ada", "home", valid_from=5), fact("likes tea", "Ada"))
    drawn = (
        Drawn("c1")
        .write(fact("in Oslo", "Ada", "home"), quote="I moved to Oslo", task_id="task-1", first_seq=3, last_seq=3)
        .write(fact("likes tea", "Ada"))
        .add("retire", sources=(tea.id,))
        .add("write", status="refused", reason="nobody said so")
        .add("skill", kind="skill", fields={"name": "mail", "description": "Sends mail", "composed": {"steps": []}})
    )
    done = await applied(brain, drawn)
    assert [(item.status, item.reason) for item in done.items] == [
        *[("applied", "")] * 3,
        ("refused", "nobody said so"),
        ("applied", ""),
    ]
    assert done.items[0].replaced == {rome.id: "Ada: in Rome"}
    assert done.items[1].record_id == tea.id, "what was known already is what it became"
    assert done.items[2].replaced == {tea.id: "Ada: likes tea"}
    assert (done.status, done.number, done.decided_at) == ("applied", 1, NOW)
    assert await brain.learning.changeset("ada", "c1") == done
    oslo = done.items[0].record_id
    assert await brain.learning.learned_as("ada", oslo) == (done, 1)
    assert await brain.learning.learned_as("ada", rome.id) is None
    found = await now(brain, oslo, rome.id, tea.id)
    assert found[rome.id].superseded_by == oslo
    assert found[tea.id].valid_until == NOW


async def test_nothing_to_learn_is_a_changeset_too(brain: Brain) -> None:
    done = await applied(brain, Drawn("c1"))
    assert (done.status, done.items) == ("empty", ())
    refused = await applied(brain, Drawn("c2").add("write", status="refused", reason="not said"))
    assert refused.status == "empty"
    assert await brain.learning.decide("ada", "c2", "revert", by="ada", now=NOW) is None


async def test_changesets_are_listed_newest_first(brain: Brain) -> None:
    await applied(brain, Drawn("c1"))
    await applied(brain, Drawn("c2", kind="dream", night="2026-03-02").write(fact("in Oslo")))
    await applied(brain, Drawn("c3").write(fact("in Rome")), apply=False)
    learning = brain.learning
    assert [one.changeset_id for one in await learning.changesets("ada", limit=2)] == ["c3", "c2"]
    assert [one.changeset_id for one in await learning.changesets("ada", limit=9, before=2)] == ["c1"]
    assert [one.changeset_id for one in await learning.changesets("ada", limit=9, status="proposed")] == ["c3"]
    assert [one.changeset_id for one in await learning.changesets("ada", limit=9, kind="dream")] == ["c2"]
    [night] = await learning.changesets("ada", limit=9, night="2026-03-02")
    assert [item.fields["content"] for item in night.items] == ["in Oslo"]


async def test_what_is_proposed_changes_nothing_until_it_is_accepted(brain: Brain) -> None:
    drawn = Drawn("c1").write(fact("in Oslo")).write(fact("likes tea")).write(fact("has a boat"))
    proposed = await applied(brain, drawn, apply=False)
    assert (proposed.status, proposed.decided_at, await exported(brain)) == ("proposed", None, b"[]")
    assert await brain.learning.decide("ada", "c1", "revert", by="ada", now=NOW) is None
    some = await brain.learning.decide("ada", "c1", "accept", by="ada", now=NOW + 1, places=[1])
    assert some is not None
    assert [item.status for item in some.items] == ["applied", "proposed", "proposed"]
    assert (some.status, some.decided_by, some.decided_at) == ("applied", "ada", NOW + 1)
    other = await brain.learning.decide("ada", "c1", "reject", by="ada", now=NOW, places=[2])
    assert other is not None
    assert [item.status for item in other.items] == ["applied", "rejected", "proposed"]
    assert await brain.learning.decide("ada", "c1", "accept", by="ada", now=NOW, places=[2]) is None
    assert (await exported(brain)).count(b"fact-") == 1
    back = await brain.learning.decide("ada", "c1", "revert", by="ada", now=NOW)
    assert back is not None
    assert (back.status, [item.status for item in back.items]) == ("reverted", ["reverted", "rejected", "rejected"])
    assert await exported(brain) == b"[]"
    assert await brain.learning.decide("ada", "c1", "revert", by="ada", now=NOW) is None


async def test_a_rejected_changeset_is_never_applied(brain: Brain) -> None:
    await applied(brain, Drawn("c1").write(fact("in Oslo")), apply=False)
    rejected = await brain.learning.decide("ada", "c1", "reject", by="ada", now=NOW)
    assert rejected is not None
    assert rejected.status == "rejected"
    assert await brain.learning.decide("ada", "c1", "accept", by="ada", now=NOW) is None
    assert await brain.learning.decide("ada", "c9", "accept", by="ada", now=NOW) is None


async def test_a_write_ends_what_it_names_beside_what_its_place_ends(brain: Brain) -> None:
    old, other = await known(brain, fact("Ada lives in Rome", valid_from=5), fact("in Rome", "Ada", "home"))
    before = await exported(brain)
    done = await applied(
        brain, Drawn("c1").write(fact("in Oslo", "Ada", "home"), sources=(old.id,), replaced={"x": "as shown"})
    )
    assert set(done.items[0].replaced) == {old.id, other.id, "x"}
    found = await now(brain, old.id, other.id)
    assert {one.superseded_by for one in found.values()} == {done.items[0].record_id}
    assert len(await brain.memory.contradictions("ada", 9)) == 2
    await brain.learning.decide("ada", "c1", "revert", by="ada", now=NOW)
    assert await exported(brain) == before
    assert await brain.memory.contradictions("ada", 9) == []


async def test_a_merge_takes_the_place_of_its_parts(brain: Brain) -> None:
    parts = await known(brain, fact("has a red boat", "Ada"), fact("the boat is called Nell", "Ada"))
    before = await exported(brain)
    whole = fact("has a red boat called Nell", "Ada", valid_from=1)
    done = await applied(brain, Drawn("c1").merge(whole, *(part.id for part in parts)))
    record = done.items[0].record_id
    found = await now(brain, record, *(part.id for part in parts))
    assert found[record].derived_from == tuple(sorted(part.id for part in parts))
    assert all(found[part.id].superseded_by == record for part in parts)
    again = await applied(brain, Drawn("c2").merge(fact("again"), parts[0].id))
    assert again.status == "empty"
    assert "changed meanwhile" in again.items[0].reason
    await brain.learning.decide("ada", "c1", "revert", by="ada", now=NOW)
    assert await exported(brain) == before


async def test_a_part_that_says_it_all_stays(brain: Brain) -> None:
    one, two = await known(brain, fact("has a red boat", "Ada"), fact("owns a boat that is red", "Ada"))
    before = await exported(brain)
    done = await applied(brain, Drawn("c1").merge(fact("has a red boat", "Ada"), one.id, two.id))
    assert done.items[0].record_id == one.id
    found = await now(brain, one.id, two.id)
    assert (found[one.id].holds, found[one.id].derived_from) == (True, (two.id,))
    assert found[two.id].superseded_by == one.id
    await brain.learning.decide("ada", "c1", "revert", by="ada", now=NOW)
    assert await exported(brain) == before


async def test_people_are_not_merged(brain: Brain) -> None:
    ada, eve = await known(brain, Draft("node", {"name": "Ada"}), Draft("node", {"name": "Eve"}))
    done = await applied(brain, Drawn("c1").merge(Draft("node", {"name": "Ada Eve"}), ada.id, eve.id))
    assert [item.status for item in done.items] == ["refused"]


async def test_what_rests_on_something_forgotten_is_refused(brain: Brain) -> None:
    [episode] = await known(brain, Draft("episode", {"description": "I live in Oslo"}))
    drawn = Drawn("c1").write(fact("in Oslo", derived_from=(episode.id,))).write(fact("x"), sources=(episode.id,))
    await brain.memory.forget("ada", [episode.id])
    done = await applied(brain, drawn.add("retire", sources=(episode.id,)).add("write"))
    assert [item.status for item in done.items] == ["refused"] * 4
    assert all(item.reason for item in done.items)
    assert await exported(brain) == b"[]"


async def test_what_somebody_changed_since_is_kept_and_told(brain: Brain) -> None:
    [rome] = await known(brain, fact("in Rome", "Ada", "home", valid_from=5))
    drawn = Drawn("c1").write(fact("in Oslo", "Ada", "home", valid_from=10)).write(fact("likes tea"))
    done = await applied(brain, drawn)
    [bergen] = await known(brain, fact("in Bergen", "Ada", "home"))
    back = await brain.learning.decide("ada", "c1", "revert", by="ada", now=NOW)
    assert back is not None
    assert [(item.status, item.reason) for item in back.items] == [
        ("kept", "It was changed since."),
        ("reverted", ""),
    ]
    assert back.status == "reverted"
    found = await now(brain, rome.id, done.items[0].record_id, bergen.id)
    assert [found[one].holds for one in (rome.id, done.items[0].record_id, bergen.id)] == [False, False, True]
    assert await brain.learning.decide("ada", "c1", "revert", by="ada", now=NOW) is None


async def test_what_was_kept_can_be_taken_back_once_nothing_is_in_the_way(brain: Brain) -> None:
    [tea] = await known(brain, fact("likes tea", "Ada"))
    before = await exported(brain)
    await applied(brain, Drawn("c1").add("retire", sources=(tea.id,)))
    [again] = await known(brain, fact("likes tea", "Ada"))
    back = await brain.learning.decide("ada", "c1", "revert", by="ada", now=NOW)
    assert back is not None
    assert "holds the place" in back.items[0].reason
    await brain.memory.forget("ada", [again.id])
    back = await brain.learning.decide("ada", "c1", "revert", by="ada", now=NOW, places=[1])
    assert back is not None
    assert back.items[0].status == "reverted"
    assert await exported(brain) == before


async def test_somebody_whom_others_know_by_now_is_kept(brain: Brain) -> None:
    edge = Draft("edge", {"source": "Ada", "relation": "knows", "target": "Bob"})
    await applied(brain, Drawn("c1").write(edge))
    await known(brain, Draft("edge", {"source": "Cleo", "relation": "knows", "target": "Bob"}))
    back = await brain.learning.decide("ada", "c1", "revert", by="ada", now=NOW)
    assert back is not None
    assert "rests on it" in back.items[0].reason


async def test_use_and_ratings_do_not_keep_what_is_taken_back(brain: Brain) -> None:
    lesson = Draft("lesson", {"trigger": "mail", "correct_pattern": "ask first"})
    [old] = await known(brain, lesson)
    done = await applied(brain, Drawn("c1").write(lesson).write(fact("likes tea")))
    tea = done.items[1].record_id
    await brain.memory.use("ada", [old.id, tea], "task-1", "turn-1", NOW)
    await brain.memory.mark("ada", [old.id], helpful=True)
    await brain.learning.decide("ada", "c1", "revert", by="ada", now=NOW)
    [left] = await brain.memory.since("ada", 0, 9)
    assert (left.id, left.uses, left.fields["helpful"], left.fields["frequency"]) == (old.id, 1, 1, 1)


async def test_a_whole_night_is_taken_back(brain: Brain) -> None:
    await known(brain, fact("in Rome", "Ada", "home", valid_from=5))
    before = await exported(brain)
    for at, place in enumerate(("in Oslo", "in Bergen", "in Paris")):
        await applied(brain, Drawn(f"c{at}").write(fact(place, "Ada", "home", valid_from=10 + at)))
    for changeset in await brain.learning.changesets("ada", limit=9, night="2026-03-01"):
        back = await brain.learning.decide("ada", changeset.changeset_id, "revert", by="ada", now=NOW)
        assert back is not None
        assert back.items[0].status == "reverted"
    assert await exported(brain) == before
