"""Memory over HTTP: the documented routes, receipts, correcting and forgetting, and two users who never meet."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import pytest_asyncio

from aster.server import keys
from aster.testing import ModelServer, Reply, Text
from tests.live import Live, live

KEY = {"X-Engine-Key": "test-engine-key"}
FACT = {"kind": "fact", "fields": {"subject": "Ada", "predicate": "home", "content": "Ada lives in Lisbon"}}
SECRET = "xylomancy"


class Two(NamedTuple):
    engine: Live
    ada: dict[str, str]
    bob: dict[str, str]
    brain: Path


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def two(model: ModelServer, tmp_path_factory: Any) -> AsyncIterator[Two]:
    brain: Path = tmp_path_factory.mktemp("brain") / "brain.sqlite"
    ada, bob = keys.create(brain, "laptop", "ada").key, keys.create(brain, "phone", "bob").key
    async with live(model, memory_journal=True, sqlite_db_path=brain, engine_api_key=KEY["X-Engine-Key"]) as engine:
        yield Two(engine, {"X-Engine-Key": ada}, {"X-Engine-Key": bob}, brain)


async def ask(engine: Live, method: str, path: str, status: int = 200, **request: Any) -> Any:
    answer = await engine.http.request(method, path, **request)
    assert answer.status_code == status, answer.text
    return answer.json()


async def remembered(engine: Live, body: dict[str, Any], headers: dict[str, str] | None = None) -> dict[str, Any]:
    return (await ask(engine, "POST", "/memory/records", json=body, headers=headers))["record"]


async def test_the_documented_shapes(engine: Live) -> None:
    made = await remembered(
        engine, {**FACT, "confidence": 0.92, "extractor": "journal", "task_id": "t1", "last_seq": 4}
    )
    found = await ask(engine, "POST", "/memory/knowledge/search", json={"query": "where does Ada live?"})
    assert isinstance(found, list)
    first = found[0]
    assert (first["id"], first["subject"], first["content"]) == (made["id"], "Ada", "Ada lives in Lisbon")
    assert (first["type"], first["confidence"], first["valid_until"]) == ("fact", 0.92, None)
    assert first["valid_from"].endswith("Z")
    assert (first["receipt"]["task_id"], first["receipt"]["extractor"]) == ("t1", "journal")
    for store in ("episodes", "social", "lessons", "profile", "documents"):
        assert isinstance(
            await ask(engine, "POST", f"/memory/{store}/search", json={"query": "x", "limit": 1}), list
        )
    await ask(engine, "POST", "/memory/knowledge/search", 422, json={"query": "x", "limit": 101})
    await ask(engine, "POST", "/memory/knowledge/search", 422, json={})
    await ask(engine, "POST", "/memory/elsewhere/search", 422, json={"query": "x"})
    all_stores = await ask(engine, "POST", "/memory/search", json={"query": "Lisbon", "limit": 3})
    assert all_stores["hits"][0]["id"] == made["id"]


async def test_the_soul_is_seeded_and_versioned(engine: Live) -> None:
    core = await ask(engine, "GET", "/memory/soul")
    assert core["identity"]
    assert core["values"]
    changed = await ask(engine, "PUT", "/memory/soul", json={"identity": "I am short.", "patterns": ["asks first"]})
    assert (changed["version"], changed["patterns"]) == (1, ["asks first"])
    full = await ask(engine, "GET", "/memory/soul/full")
    assert full["identity"] == "I am short."
    assert [version["version"] for version in full["versions"]] == [1]


async def test_a_record_from_its_writing_to_its_end(two: Two) -> None:
    engine, ada = two.engine, two.ada
    source = await remembered(engine, {"kind": "episode", "fields": {"description": f"a talk on {SECRET}"}}, ada)
    body = {"kind": "fact", "fields": {"content": f"Ada studies {SECRET}"}, "derived_from": [source["id"]]}
    made = await remembered(engine, body, ada)
    again = await ask(engine, "POST", "/memory/records", json=body, headers=ada)
    assert (again["action"], again["record"]["id"]) == ("duplicate", made["id"])
    listed = await ask(engine, "GET", "/memory/records", params={"store": "knowledge", "limit": 1}, headers=ada)
    assert [record["id"] for record in listed["records"]] == [made["id"]]
    fixed = await ask(
        engine,
        "PATCH",
        f"/memory/records/{made['id']}",
        json={"fields": {"content": f"Ada studied {SECRET}"}},
        headers=ada,
    )
    assert fixed["replaced"] == [made["id"]]
    newest = fixed["record"]["id"]
    history = await ask(engine, "GET", f"/memory/records/{newest}/history", headers=ada)
    assert [record["content"] for record in history["records"]] == [
        f"Ada studies {SECRET}",
        f"Ada studied {SECRET}",
    ]
    receipt = await ask(engine, "GET", f"/memory/records/{newest}/receipt", headers=ada)
    assert [record["id"] for record in receipt["sources"]] == [source["id"]]
    await asyncio.wait_for(engine.engine.memory.embedded(), 30)
    shown = await ask(engine, "POST", "/memory/forget/preview", json={"ids": [source["id"]]}, headers=ada)
    assert {(one["id"], one["why"]) for one in shown["records"]} == {
        (source["id"], "asked"),
        (made["id"], "derived"),
        (newest, "derived"),
    }
    assert SECRET.encode() in two.brain.read_bytes() + Path(f"{two.brain}-wal").read_bytes()
    done = await ask(engine, "POST", "/memory/forget", json={"ids": [source["id"]]}, headers=ada)
    assert set(done["forgotten"]) == {source["id"], made["id"], newest}
    content = two.brain.read_bytes() + Path(f"{two.brain}-wal").read_bytes()
    assert SECRET.encode() not in content
    await ask(engine, "GET", f"/memory/records/{newest}", 404, headers=ada)
    await ask(engine, "POST", "/memory/forget", 404, json={"ids": [newest]}, headers=ada)


async def test_the_threads_that_say_it_go_too_when_asked(two: Two, model: ModelServer, task: str) -> None:
    model.enqueue(Reply([Text("noted")]))
    said = f"remember the {SECRET}-word"
    async with two.engine.executing(said, task, key=two.ada["X-Engine-Key"]) as stream:
        await stream.rest()
    body = {"kind": "fact", "fields": {"content": said}, "task_id": task, "first_seq": 1, "last_seq": 3}
    made = await remembered(two.engine, body, two.ada)
    shown = await ask(two.engine, "POST", "/memory/forget/preview", json={"task_id": task}, headers=two.ada)
    assert made["id"] in [one["id"] for one in shown["records"]]
    assert shown["tasks"] == [{"task_id": task, "why": "source"}]
    request = {"task_id": task, "delete_tasks": True}
    done = await ask(two.engine, "POST", "/memory/forget", json=request, headers=two.ada)
    assert made["id"] in done["forgotten"]
    assert done["deleted_tasks"] == [task]
    await ask(two.engine, "GET", f"/tasks/{task}", 404, headers=two.ada)
    content = two.brain.read_bytes() + Path(f"{two.brain}-wal").read_bytes()
    assert f"{SECRET}-word".encode() not in content


async def test_people_and_what_holds_between_them(two: Two) -> None:
    for source, relation, target in (("Ada", "owns", "dog"), ("dog", "named", "Max"), ("Zoe", "likes", "tea")):
        fields = {"source": source, "relation": relation, "target": target}
        await remembered(two.engine, {"kind": "edge", "fields": fields}, two.ada)
    found = await ask(two.engine, "GET", "/memory/social/paths", params={"about": "ada"}, headers=two.ada)
    assert [way["text"] for way in found["ways"]] == [
        "- (Ada) -[OWNS]-> (Dog) -[NAMED]-> (Max)",
        "- (Ada) -[OWNS]-> (Dog)",
    ]
    await ask(two.engine, "GET", "/memory/social/paths", 422, params={"about": "ada", "hops": 4}, headers=two.ada)


async def test_beliefs_that_changed_are_told(two: Two) -> None:
    for city in ("Oslo", "Bergen"):
        fields = {"subject": "Eva", "predicate": "home", "content": f"Eva lives in {city}"}
        await remembered(two.engine, {"kind": "fact", "fields": fields}, two.ada)
    found = await ask(two.engine, "GET", "/memory/contradictions", headers=two.ada)
    newest = found["contradictions"][0]
    assert (newest["old"], newest["new"]) == ("Eva lives in Oslo", "Eva lives in Bergen")


async def test_a_document_is_found_by_its_parts(two: Two) -> None:
    text = "\n\n".join(f"Chapter {n}. " + "filler " * 180 for n in range(4)) + "\n\nThe heron nests in May."
    body = {"document": "birds", "text": text}
    done = await ask(two.engine, "POST", "/memory/documents", json=body, headers=two.ada)
    assert done["new"] == done["parts"] > 3
    again = await ask(two.engine, "POST", "/memory/documents", json=body, headers=two.ada)
    assert (again["parts"], again["new"]) == (done["parts"], 0)
    found = await ask(two.engine, "POST", "/memory/documents/search", json={"query": "heron"}, headers=two.ada)
    assert "heron" in found[0]["content"]


async def test_what_cannot_be_kept_is_refused_in_words(engine: Live) -> None:
    large = {"kind": "fact", "fields": {"content": "x" * 10_000_000}}
    answer = await ask(engine, "POST", "/memory/records", 413, json=large)
    assert (answer["error"], answer["details"]["most"]) == ("PAYLOAD_TOO_LARGE", 20_000)
    wrong = await ask(engine, "POST", "/memory/records", 422, json={"kind": "fact", "fields": {"colour": "red"}})
    assert wrong["error"] == "INVALID_REQUEST"
    headers = {"Content-Type": "application/json"}
    broken = await ask(engine, "POST", "/memory/records", 400, content=b'{"kind": "\xff"}', headers=headers)
    assert broken["error"] == "MALFORMED_REQUEST"
    await ask(engine, "POST", "/memory/import", 400, content=b"\xff\xfe", headers=headers)
    lone = await engine.http.post(
        "/memory/records", content=b'{"kind":"fact","fields":{"content":"lone \\ud800 one"}}', headers=headers
    )
    assert (lone.status_code, lone.json()["record"]["content"]) == (200, "lone \ufffd one")
    await ask(engine, "DELETE", "/memory", 422, params={"confirm": "yes"})


async def test_words_decide_without_a_model_and_the_answer_says_so(model: ModelServer) -> None:
    async with live(model, memory_journal=True, embeddings_provider="off") as engine:
        await remembered(engine, FACT)
        answer = await engine.http.post("/memory/knowledge/search", json={"query": "who lives in Lisbon"})
        assert answer.json()[0]["subject"] == "Ada"
        assert answer.headers["x-aster-warning"] == "found by words alone: EMBEDDINGS_PROVIDER is off"
        assert (await ask(engine, "GET", "/memory/statistics"))["fault"] == "EMBEDDINGS_PROVIDER is off"


async def test_a_memory_travels(two: Two, model: ModelServer) -> None:
    await remembered(two.engine, {"kind": "trait", "fields": {"key": "wife", "value": "Anna"}}, two.ada)
    bundle = await ask(two.engine, "GET", "/memory/export", headers=two.ada)
    assert (bundle["format"], bundle["version"]) == ("aster-memory", 1)
    question = {"query": "who is the wife and who lives in Bergen", "limit": 50}

    async def answers(engine: Live, headers: dict[str, str]) -> list[tuple[str, float]]:
        await asyncio.wait_for(engine.engine.memory.embedded(), 30)
        found = await ask(engine, "POST", "/memory/search", json=question, headers=headers)
        return [(hit["id"], round(hit["score"], 3)) for hit in found["hits"]]

    async with live(model) as other:
        done = await ask(other, "POST", "/memory/import", json=bundle)
        assert done == {"imported": len(bundle["records"]), "known": 0, "skills": 0}
        assert await answers(other, {}) == await answers(two.engine, two.ada)
        copy = await ask(other, "GET", "/memory/export")
        assert copy["records"] == bundle["records"]


async def test_statistics_and_the_wipe(two: Two) -> None:
    await remembered(two.engine, FACT, two.bob)
    mine = await ask(two.engine, "GET", "/memory/statistics", headers=two.bob)
    assert {one["store"]: one["records"] for one in mine["stores"]} == {"knowledge": 1}
    assert mine["users"] is None
    await ask(two.engine, "GET", "/memory/statistics", 403, params={"everyone": True}, headers=two.bob)
    everyone = await ask(two.engine, "GET", "/memory/statistics", params={"everyone": True})
    assert {user["user_id"] for user in everyone["users"]} >= {"ada", "bob"}
    wipe = {"confirm": "everything", "user_id": "ada"}
    await ask(two.engine, "DELETE", "/memory", 403, params=wipe, headers=two.bob)
    done = await ask(two.engine, "DELETE", "/memory", params={"confirm": "everything", "user_id": "bob"})
    assert done == {"user_id": "bob", "forgotten": 1}
    assert (await ask(two.engine, "GET", "/memory/records", headers=two.bob))["records"] == []


async def test_two_users_never_meet(two: Two) -> None:
    """Every route of memory, with every id of the other user: nothing of hers is seen, and nothing of hers changes."""
    engine = two.engine
    bodies = [
        {
            "kind": "fact",
            "fields": {"content": f"{SECRET} fact", "subject": "S", "predicate": "p"},
            "task_id": "shared",
        },
        {"kind": "episode", "fields": {"description": f"{SECRET} episode", "speaker": SECRET}, "task_id": "shared"},
        {"kind": "edge", "fields": {"source": SECRET, "relation": "knows", "target": "Max"}},
        {"kind": "lesson", "fields": {"trigger": SECRET, "correct_pattern": SECRET}},
        {"kind": "trait", "fields": {"key": "pet", "value": SECRET}},
        {"kind": "chunk", "fields": {"document": SECRET, "content": SECRET}},
        {"kind": "note", "fields": {"text": SECRET}, "task_id": "shared"},
    ]
    hers = [await remembered(engine, body, two.ada) for body in bodies]
    hers.append(
        (await ask(engine, "GET", "/memory/records", params={"store": "social"}, headers=two.ada))["records"][-1]
    )
    await ask(engine, "PUT", "/memory/soul", json={"identity": SECRET}, headers=two.ada)
    await asyncio.wait_for(engine.engine.memory.embedded(), 30)
    before = await ask(engine, "GET", "/memory/export", headers=two.ada)
    ids = [record["id"] for record in hers]
    document = engine.http
    routes = (await document.get("/openapi.json", headers=KEY)).json()["paths"]
    tried = 0
    for path, methods in routes.items():
        if not path.startswith("/memory"):
            continue
        for method in methods:
            for target in ids if "{record_id}" in path else ids[:1]:
                answer = await attempt(engine.http, method, path, target, ids, two.bob)
                assert SECRET not in answer.text, (method, path)
                assert answer.status_code < 500, (method, path, answer.text)
                tried += 1
    assert tried > 30
    after = await ask(engine, "GET", "/memory/export", headers=two.ada)
    assert after["records"] == before["records"]


async def attempt(
    http: httpx2.AsyncClient, method: str, path: str, target: str, ids: list[str], headers: dict[str, str]
) -> httpx2.Response:
    """One request by somebody who has guessed the other's ids."""
    times = {"created_at": 1, "event_at": 1, "valid_from": 1}
    theirs = {"id": target, "kind": "fact", "fields": {"content": "mine"}, "derived_from": ids, **times}
    body: dict[str, Any] = {
        "query": "fact episode knows pet Max",
        "ids": [target],
        "task_id": "shared",
        "delete_tasks": True,
        "kind": "fact",
        "fields": {"content": "overwritten", "subject": "S", "predicate": "p"},
        "derived_from": ids,
        "document": "d",
        "text": "t",
        "identity": "i",
        "user_id": "ada",
        "format": "aster-memory",
        "version": 1,
        "records": [theirs],
    }
    if path.endswith("/import"):
        body = {name: body[name] for name in ("format", "version", "records")}
    params = {
        "about": "Max,knows",
        "task_id": "shared",
        "superseded": True,
        "confirm": "everything",
        "user_id": "ada",
    }
    filled = path.replace("{record_id}", target).replace("{store}", "episodes")
    carries = method in ("post", "put", "patch")
    given = {"content": json.dumps(body), "headers": {**headers, "Content-Type": "application/json"}}
    return await http.request(method.upper(), filled, params=params, **(given if carries else {"headers": headers}))  # type: ignore[arg-type]
