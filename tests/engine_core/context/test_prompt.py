"""The prompt before: in memory while it is, read from the thread after a restart, and only of the same conversation."""

from pathlib import Path

from aster.contracts.events import ContextManifest
from aster.contracts.events.context import ManifestEntry
from aster.engine_core.context.prompt import unfolded
from aster.testing import ModelServer
from tests.engine_core.frames import events
from tests.live import live


def entry(name: str) -> ManifestEntry:
    return ManifestEntry(block=name, source="s", hash=name, tokens=1)


def test_manifests_of_a_turn_are_made_whole_again() -> None:
    a, b, c, d = map(entry, "abcd")
    folded = [
        ContextManifest(turn_id="1", step=1, entries=(a, b), total_tokens=2),
        ContextManifest(turn_id="1", step=2, entries=(c,), total_tokens=3, kept=2),
        ContextManifest(turn_id="1", step=3, entries=(d,), total_tokens=2, kept=1),
        ContextManifest(turn_id="2", step=1, entries=(a,), total_tokens=1),
    ]
    assert [one.entries for one in unfolded(folded)] == [(a, b), (a, b, c), (a, d), (a,)]


async def test_a_restart_in_between_changes_nothing(model: ModelServer, tmp_path: Path) -> None:
    place = tmp_path / "brain.sqlite"
    async with live(model, sqlite_db_path=place) as engine:
        await engine.execute('[[tools=3 tool=glob input={"pattern":"*"} text=3]]')
    async with live(model, sqlite_db_path=place) as engine:
        [manifest] = events(await engine.execute("and now?"), "context_manifest")
    assert "moved" not in manifest


async def test_an_edit_is_another_conversation_and_moves_nothing(model: ModelServer) -> None:
    async with live(model) as engine:
        frames = await engine.execute("one")
        await engine.execute("two")
        edited = events(frames, "user_message")[0]["message_id"]
        [manifest] = events(await engine.execute("three", edit_message_id=edited), "context_manifest")
    assert "moved" not in manifest


async def test_a_fork_goes_on_from_its_own_copy(model: ModelServer) -> None:
    async with live(model) as engine:
        frames = await engine.execute("one")
        answer = await engine.http.post("/tasks/t1/fork", json={"seq": frames[-1].id, "task_id": "t2"})
        assert answer.status_code == 201
        [manifest] = events(await engine.execute("two", "t2"), "context_manifest")
        diff = (await engine.http.get("/tasks/t2/context/diff")).json()
    assert "moved" not in manifest
    assert diff["moved"] is None
    assert diff["before"]["step"] == 1
