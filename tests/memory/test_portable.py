"""Export and import: another engine that takes a bundle in finds the same in the same order."""

import json
from pathlib import Path

import pytest

from aster.contracts.errors import EngineError, ErrorCode
from aster.memory.drafts import Draft
from aster.memory.memory import Memory
from aster.memory.portable import bundled, read_bundle
from tests.memory.conftest import edge, episode, fact, opened

QUESTIONS = ("where does Ada live", "the puppy", "who knows Bob", "what did we say about tea", "mirror offline")


async def exported(memory: Memory, user_id: str) -> bytes:
    return b"".join([piece async for piece in bundled(memory.records(user_id))])


async def answers(memory: Memory, user_id: str) -> list[list[tuple[str, float]]]:
    await memory.embedded()
    now = 1_900_000_000_000
    found = [await memory.search(user_id, question, now=now) for question in QUESTIONS]
    return [[(match.row.id, match.score) for match in answer.best(20)] for answer in found]


@pytest.fixture
async def full(memory: Memory) -> Memory:
    done = await memory.write(
        "ada",
        [
            fact("Ada lives in Paris", "Ada", "home"),
            fact("Ada lives in Rome", "Ada", "home"),
            fact("The dog is called Max"),
            episode("We drank tea", "Ada", task_id="t1", first_seq=1, last_seq=2),
            episode("And talked of Bob", "Bob", task_id="t1", first_seq=3, last_seq=4),
            edge("Ada", "knows", "Bob"),
            edge("Ada", "knows", "Bob"),
            Draft("lesson", {"trigger": "pip offline", "correct_pattern": "use a mirror", "verified": True}),
            Draft("trait", {"category": "assets", "key": "car", "value": "blue"}),
            Draft("chunk", {"document": "d", "content": "on tea"}, derived_from=("fact-x",)),
            Draft("soul", {"identity": "I", "values": ["v"], "patterns": ["p"]}),
            Draft("note", {"text": "half"}, task_id="t1"),
        ],
    )
    await memory.correct("ada", done[2].row.id, {"content": "The dog is called Moritz"}, "person")
    await memory.use("ada", [done[3].row.id], "t2", "turn-1")
    return memory


async def test_another_engine_finds_the_same(full: Memory, tmp_path: Path) -> None:
    bundle = await exported(full, "ada")
    async with opened(tmp_path / "other.sqlite") as other:
        await other.write("bob", [fact("Bob has his own")])
        count = len(json.loads(bundle)["records"])
        assert await other.restore("carla", read_bundle(bundle)) == (count, 0)
        assert await answers(other, "carla") == await answers(full, "ada")
        again = json.loads(await exported(other, "carla"))["records"]
        assert again == json.loads(bundle)["records"]
        assert await other.restore("carla", read_bundle(bundle)) == (0, count), "twice is once"
        assert [row.fields["version"] for row in await other.soul("carla")] == [1]
        assert len(await other.page("bob", limit=9)) == 1


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", ErrorCode.MALFORMED_REQUEST),
        (b"\xff\xfe{}", ErrorCode.MALFORMED_REQUEST),
        (b'{"format":"aster-memory","version":1,"records":[', ErrorCode.MALFORMED_REQUEST),
        (b"[]", ErrorCode.INVALID_REQUEST),
        (b'{"format":"aster-memory","version":2,"records":[]}', ErrorCode.INVALID_REQUEST),
        (b'{"format":"other","version":1,"records":[]}', ErrorCode.INVALID_REQUEST),
        (b'{"format":"aster-memory","version":1,"records":[{"id":"x","kind":"what"}]}', ErrorCode.INVALID_REQUEST),
    ],
)
def test_what_is_no_bundle_is_refused(data: bytes, code: ErrorCode) -> None:
    with pytest.raises(EngineError) as refused:
        read_bundle(data)
    assert refused.value.code is code


async def test_a_bundle_is_checked_like_anything_else(memory: Memory) -> None:
    times = {"created_at": 1, "event_at": 1, "valid_from": 1}
    bad = {"id": "fact-1", "kind": "fact", "fields": {"content": "x", "evil": 1}, **times}
    good = {"id": "fact-2", "kind": "fact", "fields": {"content": "x", "subject": "s"}, "user_id": "bob", **times}
    for records in ([good, bad], [bad]):
        bundle = json.dumps({"format": "aster-memory", "version": 1, "records": records}).encode()
        with pytest.raises(EngineError) as refused:
            await memory.restore("ada", read_bundle(bundle))
        assert refused.value.code is ErrorCode.INVALID_REQUEST
    assert await memory.page("ada", limit=9) == []
    bundle = json.dumps({"format": "aster-memory", "version": 1, "records": [good]}).encode()
    assert await memory.restore("ada", read_bundle(bundle)) == (1, 0)
    assert await memory.page("bob", limit=9) == []
