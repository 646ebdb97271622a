"""Writing by the rules of each kind: nothing twice, nothing overwritten, nothing secret."""

from pathlib import Path
from typing import Any

import pytest

from aster.brain.sqlite.brain import SqliteBrain
from aster.contracts.errors import EngineError, ErrorCode
from aster.infra.clock import now_ms
from aster.infra.secrets import Secrets
from aster.memory.decay import utility
from aster.memory.documents import Document
from aster.memory.drafts import LONGEST, Draft
from aster.memory.memory import Memory
from tests.memory.conftest import WordVectors, edge, episode, fact, opened

DAY = 86_400_000


async def test_a_record_has_its_receipt(memory: Memory) -> None:
    source = (await memory.write("ada", [episode("I moved to Lisbon", task_id="t1", first_seq=4, last_seq=9)]))[
        0
    ].row
    draft = fact(
        "Ada lives in Lisbon",
        "Ada",
        "lives in",
        task_id="t1",
        first_seq=4,
        last_seq=9,
        extractor="journal",
        derived_from=(source.id,),
        confidence=0.8,
    )
    made = (await memory.write("ada", [draft]))[0].row
    kept = await memory.get("ada", made.id)
    assert (kept.task_id, kept.first_seq, kept.last_seq, kept.extractor) == ("t1", 4, 9, "journal")
    assert (kept.derived_from, kept.confidence, kept.uses, kept.last_used_at) == ((source.id,), 0.8, 0, None)
    assert [row.id for row in await memory.sources("ada", kept)] == [source.id]
    await memory.use("ada", [made.id, made.id], "t2", "turn-1")
    await memory.use("ada", [made.id], "t2", "turn-2")
    kept = await memory.get("ada", made.id)
    assert kept.uses == 2
    assert kept.last_used_at is not None
    assert [(use.task_id, use.turn_id, use.times) for use in await memory.uses("ada", kept)] == [
        ("t2", "turn-2", 2)
    ]


async def test_what_is_known_is_not_kept_twice(memory: Memory) -> None:
    first = (await memory.write("ada", [fact("The dog is called Max.", confidence=0.5)]))[0]
    again = (await memory.write("ada", [fact("the  DOG is called max", confidence=0.9)]))[0]
    assert (first.action, again.action, again.row.id) == ("created", "duplicate", first.row.id)
    assert (await memory.get("ada", first.row.id)).confidence == 0.9
    other = (await memory.write("ada", [fact("The dog is not called Max")]))[0]
    assert other.action == "created"


async def test_the_same_words_in_two_tasks_are_two_episodes(memory: Memory) -> None:
    done = await memory.write("ada", [episode("Hello", task_id=task) for task in ("t1", "t1", "t2")])
    assert [written.action for written in done] == ["created", "duplicate", "created"]


async def test_a_fact_ends_what_was_true_before(memory: Memory) -> None:
    now = now_ms()
    paris = fact("Ada lives in Paris", "Ada", "lives_in", valid_from=now - 90 * DAY)
    rome = fact("Ada lives in Rome", "Ada", "lives in", valid_from=now - 10 * DAY)
    old = (await memory.write("ada", [paris]))[0].row
    new = (await memory.write("ada", [rome]))[0]
    assert (new.action, new.replaced) == ("superseded", (old.id,))
    ended = await memory.get("ada", old.id)
    assert (ended.valid_until, ended.superseded_by) == (new.row.valid_from, new.row.id)
    assert [row.text for row in await memory.page("ada", limit=9)] == ["Ada lives in Rome"]
    assert [row.text for row in await memory.history("ada", new.row.id)] == [
        "Ada lives in Paris",
        "Ada lives in Rome",
    ]
    found = await memory.contradictions("ada", 10)
    assert [(was, now_is) for _, was, now_is in found] == [("Ada lives in Paris", "Ada lives in Rome")]


async def test_what_comes_late_does_not_end_what_is_newer(memory: Memory) -> None:
    now = now_ms()
    rome = (await memory.write("ada", [fact("lives in Rome", "Ada", "home", valid_from=now - DAY)]))[0].row
    paris = (await memory.write("ada", [fact("lives in Paris", "Ada", "home", valid_from=now - 9 * DAY)]))[0]
    assert (paris.action, paris.row.valid_until, paris.row.superseded_by) == ("late", rome.valid_from, rome.id)
    assert (await memory.get("ada", rome.id)).valid_until is None


async def test_going_back_is_a_change_too(memory: Memory) -> None:
    done = await memory.write("ada", [fact(f"lives in {city}", "Ada", "home") for city in ("A", "B", "A")])
    assert [written.action for written in done] == ["created", "superseded", "superseded"]
    assert [row.text for row in await memory.page("ada", limit=9)] == ["Ada: lives in A"]


async def test_relations_of_which_there_is_one_replace_and_others_add_up(memory: Memory) -> None:
    done = await memory.write(
        "ada",
        [
            edge("Ada", "works at", "Acme"),
            edge("ada", "WORKS_AT", "Globex"),
            edge("Ada", "likes", "tea"),
            edge("Ada", "likes", "coffee"),
            edge("Ada", "LIKES", "tea"),
            edge("project", "works at", "Acme"),
            edge("project", "works at", "Globex"),
        ],
    )
    assert [w.action for w in done] == [
        *("created", "superseded", "created", "created", "duplicate", "created", "created")
    ]
    assert done[4].row.fields["weight"] == 2
    shown = [str(way) for way in await memory.ways("ada", ["Ada"], hops=1, limit=9)]
    assert shown == [
        "- (Ada) -[LIKES]-> (Tea) [Score 2]",
        "- (Ada) -[LIKES]-> (Coffee)",
        "- (Ada) -[WORKS_AT]-> (Globex)",
    ]


async def test_a_line_of_the_profile_replaces_its_older_self(memory: Memory) -> None:
    drafts = [
        Draft("trait", {"key": "wife", "value": "Anna"}),
        Draft("trait", {"category": "relationships", "key": "Wife", "value": "Maria"}),
        Draft("trait", {"category": "interests", "key": "hobby", "value": "chess"}),
        Draft("trait", {"category": "interests", "key": "hobby", "value": "sailing"}),
    ]
    await memory.write("ada", drafts)
    kept = {row.fields["value"] for row in await memory.page("ada", limit=9, store="profile")}
    assert kept == {"Maria", "chess", "sailing"}


async def test_a_lesson_learned_again_is_one_lesson(memory: Memory) -> None:
    lesson = {"trigger": "pip fails offline", "mistake": "tried again", "correct_pattern": "use a mirror"}
    first = (await memory.write("ada", [Draft("lesson", lesson, confidence=0.6)]))[0].row
    better = {"trigger": "Pip fails offline", "correct_pattern": "use the local mirror", "verified": True}
    again = (await memory.write("ada", [Draft("lesson", better)]))[0]
    assert (again.action, again.row.id, again.row.fields["frequency"]) == ("duplicate", first.id, 2)
    assert again.row.fields["correct_pattern"] == "use the local mirror"
    assert again.row.fields["mistake"] == "tried again"
    assert utility(again.row) > utility(first)
    found = await memory.search("ada", "local mirror", ["lessons"])
    assert [match.row.id for match in found.stores["lessons"]] == [first.id]


async def test_a_correction_keeps_the_history_and_hides_what_was_wrong(memory: Memory) -> None:
    wrong = (await memory.write("ada", [fact("Ada was born in 1985", "Ada", "born")]))[0].row
    done = await memory.correct("ada", wrong.id, {"content": "Ada was born in 1986"}, "person")
    assert done.row.valid_from == wrong.valid_from
    assert not (await memory.get("ada", wrong.id)).valid_at(now_ms())
    found = await memory.search("ada", "when was Ada born", ["knowledge"])
    assert [match.row.text for match in found.stores["knowledge"]] == ["Ada was born in 1986"]
    versions = await memory.history("ada", done.row.id)
    assert [row.fields["content"] for row in versions] == ["Ada was born in 1985", "Ada was born in 1986"]
    with pytest.raises(EngineError) as refused:
        await memory.correct("ada", wrong.id, {"content": "x"}, "person")
    assert refused.value.code is ErrorCode.NOT_FOUND
    with pytest.raises(EngineError) as unknown:
        await memory.correct("ada", done.row.id, {"colour": "red"}, "person")
    assert unknown.value.code is ErrorCode.INVALID_REQUEST


async def test_a_person_is_renamed_everywhere(memory: Memory) -> None:
    made = (await memory.write("ada", [edge("Jon", "knows", "Ada")]))[0].row
    await memory.correct("ada", made.fields["source_id"], {"name": "John"}, "person")
    assert (await memory.get("ada", made.id)).text == "John knows Ada"
    assert [str(way) for way in await memory.ways("ada", ["john"], hops=1, limit=9)] == [
        "- (John) -[KNOWS]-> (Ada)"
    ]
    found = await memory.search("ada", "John", ["social"])
    assert {match.row.text for match in found.stores["social"]} >= {"John knows Ada", "John (other)"}
    assert "Jon (other)" not in {match.row.text for match in found.stores["social"]}


async def test_working_memory_is_the_tasks_own_and_ends(memory: Memory) -> None:
    over = now_ms() - 1
    await memory.write(
        "ada",
        [
            Draft("note", {"text": "half done", "type": "observation"}, task_id="t1"),
            Draft("note", {"text": "gone", "expires_at": over}, task_id="t1"),
            Draft("note", {"text": "elsewhere"}, task_id="t2"),
        ],
    )
    assert [row.text for row in await memory.notes("ada", "t1")] == ["half done"]
    assert (await memory.notes("ada", "t2"))[0].fields["expires_at"] > over + 6 * DAY
    assert await memory.expire() == 1
    assert {row.text for row in await memory.page("ada", limit=9, store="working")} == {"half done", "elsewhere"}


async def test_the_soul_has_versions(memory: Memory) -> None:
    core = (await memory.soul("ada"))[0]
    assert core.fields["version"] == 0
    assert core.fields["values"]
    for voice in ("dry", "warm"):
        await memory.write("ada", [Draft("soul", {"identity": "I am Ada's", "values": ["truth"], "voice": voice})])
    versions = await memory.soul("ada")
    assert [(row.fields["version"], row.fields["voice"]) for row in versions] == [(2, "warm"), (1, "dry")]
    assert (await memory.soul("bob"))[0].id == core.id


async def test_a_secret_is_never_kept(path: Path) -> None:
    secrets = Secrets()
    secrets.register("hunter2-and-more", "MY_KEY")
    async with opened(path, secrets=secrets) as memory:
        done = await memory.write(
            "ada",
            [
                fact("the key is hunter2-and-more"),
                Draft("node", {"name": "Vault", "attributes": {"token": "hunter2-and-more"}}),
                fact("AWS says AKIAIOSFODNN7EXAMPLE for me"),
            ],
        )
        assert "[redacted: MY_KEY]" in done[0].row.text
        changed = await memory.correct("ada", done[0].row.id, {"subject": "hunter2-and-more"}, "person")
        assert "hunter2" not in changed.row.text
    content = path.read_bytes()
    assert b"hunter2" not in content
    assert b"AKIAIOSFODNN7EXAMPLE" not in content


async def test_what_is_too_long_or_wrong_is_refused(memory: Memory) -> None:
    with pytest.raises(EngineError) as long:
        await memory.write("ada", [fact("x" * 10_000_000)])
    assert long.value.code is ErrorCode.PAYLOAD_TOO_LARGE
    assert long.value.details == {"characters": 10_000_000, "most": LONGEST}
    for bad, field in (
        (Draft("fact", {"content": ""}), "content"),
        (Draft("fact", {"subject": "x"}), "fields"),
        (Draft("fact", {"content": "x", "colour": 1}), "fields"),
        (Draft("episode", {"description": "x", "value": 2}), "value"),
        (fact("x", confidence=1.5), "confidence"),
        (fact("x", valid_from=10, valid_until=5), "valid_until"),
    ):
        with pytest.raises(EngineError) as refused:
            await memory.write("ada", [bad])
        assert refused.value.code is ErrorCode.INVALID_REQUEST
        assert (refused.value.details or {})["fields"][0]["field"] == field
    assert await memory.page("ada", limit=9) == []


async def test_text_that_is_no_text_is_mended(memory: Memory) -> None:
    done = await memory.write("ada", [fact("lone \ud800 surrogate and \x00 nothing")])
    assert done[0].row.text == "lone \ufffd surrogate and  nothing"
    assert (await memory.get("ada", done[0].row.id)).text == done[0].row.text


async def test_a_document_is_kept_in_parts_and_replaced_whole(memory: Memory) -> None:
    text = "\n\n".join(f"Paragraph {number}. " + "word " * 150 for number in range(6))
    first = await memory.ingest("ada", Document("guide", text), Draft("chunk", {}))
    assert len(first) > 3
    again = await memory.ingest("ada", Document("guide", text), Draft("chunk", {}))
    assert {written.action for written in again} == {"duplicate"}
    await memory.ingest("ada", Document("guide", "All new and short."), Draft("chunk", {}))
    assert [row.text for row in await memory.page("ada", limit=99, store="documents")] == ["All new and short."]
    found = await memory.search("ada", "paragraph 3", ["documents"])
    assert [match.row.text for match in found.stores["documents"]] == ["All new and short."]


async def test_five_hundred_records_a_second(path: Path) -> None:
    drafts = [episode(f"talked about {n} and {n * 7}", "Ada", task_id=f"t{n // 40}") for n in range(2000)]
    async with opened(path) as memory:
        before = now_ms()
        await memory.write("ada", drafts)
        assert now_ms() - before < 4000


async def test_a_model_that_is_missing_takes_nothing_away(path: Path) -> None:
    async with opened(path, "no model is installed") as memory:
        await memory.write("ada", [fact("The dog is called Max"), fact("The cat is called Mia")])
        found = await memory.search("ada", "what is the dog called", ["knowledge"])
        assert found.stores["knowledge"][0].row.text == "The dog is called Max"
        assert found.notice == "found by words alone: no model is installed"
        assert (await memory.statistics("ada")).fault == "no model is installed"
    async with opened(path, WordVectors()) as memory:
        await memory.embedded()
        found = await memory.search("ada", "puppy", ["knowledge"])
        assert (found.stores["knowledge"][0].row.text, found.notice) == ("The dog is called Max", None)


async def test_a_full_disk_is_said_and_takes_nothing_along(path: Path) -> None:
    brain = SqliteBrain(path)
    await brain.start()
    memory = Memory(brain.memory, Secrets(), "no model", lambda _: None)
    await memory.start()
    await memory.write("ada", [fact("before")])

    def limit(db: Any, pages: int) -> None:
        db.execute(f"PRAGMA max_page_count = {pages}")

    await brain._writer.run(lambda db: limit(db, 1))
    with pytest.raises(EngineError) as refused:
        await memory.write("ada", [fact(f"{n} " + "too much " * 2000) for n in range(20)])
    assert refused.value.code is ErrorCode.STORAGE_UNAVAILABLE
    await brain._writer.run(lambda db: limit(db, 1_000_000))
    assert [row.text for row in await memory.page("ada", limit=9)] == ["before"]
    await memory.write("ada", [fact("after")])
    assert [match.row.text for match in (await memory.search("ada", "after", ["knowledge"])).best(1)] == ["after"]
    await memory.close()
    await brain.close()
