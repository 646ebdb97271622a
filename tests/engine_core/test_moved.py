"""A brain full of everything is carried to another database, kept and lost and brought back; the engine goes on with
it as if nothing had happened."""

import asyncio
import json
import sqlite3
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
import pytest

from aster.server import keys
from aster.testing import ModelServer, Reply, Text, ToolCall
from aster.testing.postgres import programs
from tests import postgres
from tests.cli.program import Home
from tests.engine_core.frames import last
from tests.live import Live, live

KEY = "the-engines-key"
QUESTION = ToolCall("ask_user", {"question": "Which colour?", "options": ["red", "blue"]}, id="asked")
FACT = {"kind": "fact", "fields": {"subject": "Ada", "predicate": "home", "content": "Ada lives in Lisbon"}}
POET = {"description": "Writes lines.", "system_prompt": "You are a poet."}


class Full(NamedTuple):
    home: Home
    brain: Path
    ada: dict[str, str]


@pytest.fixture
async def full(model: ModelServer, tmp_path: Path) -> Full:
    """A brain with a finished turn, one that waits for a person, memory, a permission, an agent and a key."""
    home = Home(tmp_path, 0)
    brain = tmp_path / "brain.sqlite"
    ada = {"X-Engine-Key": keys.create(brain, "laptop", "ada").key}
    async with live(model, sqlite_db_path=brain, engine_api_key=KEY, memory_journal=True) as engine:
        model.enqueue(Reply([ToolCall("todo_write", {"todos": []})]), Reply([Text("Hello \x00 there")]))
        await engine.execute("first", "done")
        model.enqueue(Reply([QUESTION]))
        async with engine.executing("second", "waits") as stream:
            await stream.until("hitl_request")
        await told(engine, "POST", "/memory/records", json=FACT)
        await told(engine, "POST", "/memory/records", json=FACT, headers=ada)
        await told(engine, "POST", "/permissions", json={"tool": "bash", "pattern": "git push *"})
        await told(engine, "PUT", "/agents/poet", json=POET)
    return Full(home, brain, ada)


async def told(engine: Live, method: str, path: str, status: int = 200, **request: Any) -> Any:
    answer = await engine.http.request(method, path, **request)
    assert answer.status_code == status, answer.text
    return answer.json()


async def goes_on(engine: Live, model: ModelServer, ada: dict[str, str]) -> None:
    """Everything the full brain holds is there, and can be gone on with."""
    found = await told(engine, "POST", "/memory/knowledge/search", json={"query": "where does Ada live?"})
    assert [hit["content"] for hit in found] == ["Ada lives in Lisbon"]
    theirs = await told(engine, "POST", "/memory/search", json={"query": "Lisbon"}, headers=ada)
    assert len(theirs["hits"]) == 1
    assert (await told(engine, "GET", "/tasks", headers=ada))["tasks"] == []
    assert {task["task_id"] for task in (await told(engine, "GET", "/tasks"))["tasks"]} == {"done", "waits"}
    assert len((await told(engine, "GET", "/permissions"))["grants"]) == 1
    assert "poet" in {agent["name"] for agent in (await told(engine, "GET", "/agents"))["agents"]}
    replayed = await engine.replay(task_id="done")
    assert [frame.id for frame in replayed if frame.id] == sorted(frame.id for frame in replayed if frame.id)
    assert last(replayed)["phase"] == "completed"
    model.enqueue(Reply([Text("Blue it is.")]))
    await told(engine, "POST", "/hitl/respond", json={"task_id": "waits", "answer": "blue"})
    async with engine.replaying(task_id="waits") as stream:
        await stream.until("thread_lifecycle", phase="completed")
    model.enqueue(Reply([Text("And on.")]))
    assert last(await engine.execute("third", "done"))["phase"] == "completed"
    await told(engine, "POST", "/memory/records", json={"kind": "fact", "fields": {"content": "Bob likes tea"}})
    assert await told(engine, "POST", "/memory/knowledge/search", json={"query": "tea"})


async def test_it_is_carried_to_postgresql_and_back(
    full: Full, model: ModelServer, database_url: str, tmp_path: Path
) -> None:
    moved = full.home.call("migrate-brain", "--from", str(full.brain), "--to", database_url, "--json")
    assert moved.returncode == 0, moved.stderr
    facts = json.loads(moved.stdout)
    assert facts["tables"]["threads"]["rows"] == 2
    assert facts["turns_folded"] == 2
    assert facts["records_indexed"] >= 2
    async with live(model, database_url=database_url, engine_api_key=KEY, memory_journal=True) as engine:
        await goes_on(engine, model, full.ada)
        open_still = full.home.call("migrate-brain", "--from", database_url, "--to", str(tmp_path / "back.sqlite"))
        assert (open_still.returncode, "Stop them first" in open_still.stderr) == (1, True)
    back = full.home.call("migrate-brain", "--from", database_url, "--to", str(tmp_path / "back.sqlite"), "--json")
    assert back.returncode == 0, back.stderr
    assert json.loads(back.stdout)["turns_folded"] == 3
    async with live(model, sqlite_db_path=tmp_path / "back.sqlite", engine_api_key=KEY) as engine:
        assert await told(engine, "POST", "/memory/knowledge/search", json={"query": "tea"})
        model.enqueue(Reply([Text("Home.")]))
        assert last(await engine.execute("fourth", "done"))["phase"] == "completed"


async def test_a_file_is_kept_while_the_engine_runs_and_brought_back(
    full: Full, model: ModelServer, tmp_path: Path
) -> None:
    async with live(model, sqlite_db_path=full.brain, engine_api_key=KEY) as engine:
        kept = full.home.call("backup", "kept.backup")
        assert (kept.returncode, kept.stderr) == (0, "")
        assert not list(tmp_path.glob("kept.backup?*")), "one file, and nothing beside it"
        again = full.home.call("backup", "kept.backup")
        assert (again.returncode, "not overwritten" in again.stderr) == (1, True)
        await told(engine, "DELETE", "/tasks/done")
        running = full.home.call("restore", "--replace", "kept.backup")
        assert (running.returncode, "has this brain open" in running.stderr) == (1, True)
    full.brain.write_bytes(b"a bad day" * 1000)
    assert full.home.call("restore", "kept.backup").returncode == 1, (
        "there is something, and --replace was not said"
    )
    restored = full.home.call("restore", "--replace", "kept.backup", "--json")
    assert restored.returncode == 0, restored.stderr
    assert Path(json.loads(restored.stdout)["put_aside"]).read_bytes().startswith(b"a bad day")
    async with live(model, sqlite_db_path=full.brain, engine_api_key=KEY, memory_journal=True) as engine:
        await goes_on(engine, model, full.ada)


@pytest.mark.parametrize("way", ["dump", "portable"])
async def test_a_database_is_kept_while_the_engine_runs_and_brought_back(
    full: Full, model: ModelServer, database_url: str, way: str
) -> None:
    env = {"DATABASE_URL": database_url, "PATH": str(programs()) if way == "dump" else "/nowhere"}
    if way == "dump":
        postgres.server().run("CREATE EXTENSION vector", database_url.rsplit("/", 1)[1])
    assert full.home.call("migrate-brain", "--from", str(full.brain), "--to", database_url).returncode == 0
    async with live(model, database_url=database_url, engine_api_key=KEY) as engine:
        kept = full.home.call("backup", "kept.backup", "--json", env=env)
        assert kept.returncode == 0, kept.stderr
        assert json.loads(kept.stdout)["format"] == way
        await told(engine, "DELETE", "/tasks/done")
        running = full.home.call("restore", "--replace", "kept.backup", env=env)
        assert (running.returncode, "Stop them first" in running.stderr) == (1, True)
    with psycopg.connect(database_url, autocommit=True) as db:
        db.execute("TRUNCATE thread_events, memory_receipts")
    refused = full.home.call("restore", "kept.backup", env=env)
    assert (refused.returncode, "not empty" in refused.stderr) == (1, True)
    restored = full.home.call("restore", "--replace", "kept.backup", env=env)
    assert restored.returncode == 0, restored.stderr
    async with live(model, database_url=database_url, engine_api_key=KEY, memory_journal=True) as engine:
        await goes_on(engine, model, full.ada)


async def test_a_portable_backup_of_a_database_is_a_brain_of_its_own(
    full: Full, model: ModelServer, database_url: str, tmp_path: Path
) -> None:
    env = {"DATABASE_URL": database_url}
    assert full.home.call("migrate-brain", "--from", str(full.brain), "--to", database_url).returncode == 0
    assert full.home.call("backup", "--portable", "kept.backup", env=env).returncode == 0
    assert full.home.call("restore", "--db", "other.sqlite", "kept.backup", env=env).returncode == 0
    async with live(
        model, sqlite_db_path=tmp_path / "other.sqlite", engine_api_key=KEY, memory_journal=True
    ) as engine:
        await goes_on(engine, model, full.ada)


async def test_keys_and_the_doctor_know_the_database(model: ModelServer, database_url: str, tmp_path: Path) -> None:
    home, env = Home(tmp_path, 0), {"DATABASE_URL": database_url}
    async with live(model, database_url=database_url, engine_api_key=KEY) as engine:
        made = home.call("keys", "create", "laptop", "--user", "ada", env=env)
        assert made.returncode == 0, made.stderr
        ada = {"X-Engine-Key": made.stdout.strip()}
        model.enqueue(Reply([Text("hi")]))
        body = {"message": "hello", "task_id": "mine"}
        async with asyncio.timeout(3):
            while (await engine.http.post("/execute", json=body, headers=ada)).status_code == 401:
                await asyncio.sleep(0.05)
        assert (await told(engine, "GET", "/tasks", headers=ada))["tasks"][0]["task_id"] == "mine"
        assert "laptop" in home.call("keys", "list", env=env).stdout
        doctor = json.loads(home.aster("doctor", "--json", env=env).stdout)
        found = {check["check"]: check for check in doctor["checks"]}
        assert found["brain"]["found"].startswith("postgresql://127.0.0.1")
        assert found["schema"]["status"] == "ok"
        assert "connected" in found["engines"]["found"]
        assert home.call("keys", "revoke", "laptop", env=env).returncode == 0
    assert not (tmp_path / "brain.sqlite").exists()
    nowhere = home.aster("doctor", "--json", env={"DATABASE_URL": "postgresql://aster@127.0.0.1:1/none"})
    checks = {check["check"]: check for check in json.loads(nowhere.stdout)["checks"]}
    assert (checks["brain"]["status"], nowhere.returncode) == ("fail", 1)


def test_what_is_no_backup_is_refused(tmp_path: Path, database_url: str) -> None:
    home, env = Home(tmp_path, 0), {"DATABASE_URL": database_url}
    (tmp_path / "notes.txt").write_text("not a brain")
    empty = sqlite3.connect(tmp_path / "other.sqlite")
    empty.execute("CREATE TABLE mine (x)")
    empty.close()
    for file, where in (("notes.txt", {}), ("notes.txt", env), ("other.sqlite", {}), ("gone", {}), ("gone", env)):
        refused = home.call("restore", file, env=where)
        assert (refused.returncode, refused.stderr.count("\n")) == (1, 1), refused.stderr
    assert not (tmp_path / "brain.sqlite").exists()
    assert home.call("backup", "kept").returncode == 1
    assert home.call("migrate-brain", "--from", "gone", "--to", database_url).returncode == 1
    assert home.call("migrate-brain", "--from", "other.sqlite", "--to", "other.sqlite").returncode == 1
