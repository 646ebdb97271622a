"""Taking back what a turn did to files, and long output kept as artifacts: through HTTP, on a real workspace."""

import hashlib
from pathlib import Path

import pytest

from aster.testing import ModelServer, Reply, Text, ToolCall
from tests.engine_core.frames import events
from tests.live import Live, live

BYTES = b"\xef\xbb\xbfline one\r\nline two\r\n\ttail without end"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "work"
    root.mkdir()
    root.chmod(0o777)
    tmp_path.chmod(0o755)
    return root


async def change(engine: Live, model: ModelServer) -> str:
    """A turn that edits one file twice, overwrites another and makes a third; its id."""
    model.enqueue(
        Reply([ToolCall("edit_file", {"path": "a.txt", "old_text": "one", "new_text": "1"})]),
        Reply([ToolCall("edit_file", {"path": "a.txt", "old_text": "two", "new_text": "2"})]),
        Reply([ToolCall("write_file", {"path": "b.sh", "content": "echo changed\n"})]),
        Reply([ToolCall("write_file", {"path": "new/c.txt", "content": "made"})]),
        Reply([Text("done")]),
    )
    frames = await engine.execute("change them")
    assert [data.get("error") for data in events(frames, "tool_result")] == [None] * 4
    return frames[0].data["turn_id"]


async def test_undo_restores_byte_for_byte(model: ModelServer, workspace: Path) -> None:
    (workspace / "a.txt").write_bytes(BYTES)
    (workspace / "b.sh").write_bytes(b"echo before\n")
    for name, mode in (("a.txt", 0o666), ("b.sh", 0o777)):
        (workspace / name).chmod(mode)
    async with live(model, sandbox="auto", allowed_roots=str(workspace)) as engine:
        turn_id = await change(engine, model)
        assert (workspace / "a.txt").read_bytes() != BYTES
        answer = await engine.http.post("/tasks/t1/undo", json={})
        assert answer.status_code == 200, answer.text
        done = answer.json()
        assert done["turn_id"] == turn_id
        assert {file["path"]: file["action"] for file in done["files"]} == {
            "a.txt": "restored",
            "b.sh": "restored",
            "new/c.txt": "removed",
        }
        assert (workspace / "a.txt").read_bytes() == BYTES
        assert (workspace / "b.sh").read_bytes() == b"echo before\n"
        assert (workspace / "b.sh").stat().st_mode & 0o777 == 0o777
        assert not (workspace / "new/c.txt").exists()
        page = (await engine.http.get("/tasks/t1/events", params={"types": "files_restored"})).json()
        assert page["events"][0]["undone_turn_id"] == turn_id

        model.enqueue(Reply([Text("I see.")]))
        await engine.execute("go on")
        said = str(model.calls[-1].body["messages"])
        assert "has undone changes of files" in said
        assert "new/c.txt (removed)" in said
        again = await engine.http.post("/tasks/t1/undo", json={})
        assert (again.status_code, again.json()["error"]) == (404, "NOT_FOUND")


async def test_a_file_changed_since_is_not_overwritten(model: ModelServer, workspace: Path) -> None:
    (workspace / "a.txt").write_bytes(BYTES)
    (workspace / "b.sh").write_bytes(b"echo before\n")
    for name in ("a.txt", "b.sh"):
        (workspace / name).chmod(0o666)
    async with live(model, sandbox="auto", allowed_roots=str(workspace)) as engine:
        turn_id = await change(engine, model)
        (workspace / "b.sh").write_text("a person's own work\n")
        answer = await engine.http.post("/tasks/t1/undo", json={"turn_id": turn_id})
        assert (answer.status_code, answer.json()["error"]) == (409, "UNDO_CONFLICT")
        assert [file["path"] for file in answer.json()["details"]["files"]] == ["b.sh"]
        assert (workspace / "a.txt").read_bytes() != BYTES, "all or nothing"
        assert (workspace / "b.sh").read_text() == "a person's own work\n"
        forced = await engine.http.post("/tasks/t1/undo", json={"turn_id": turn_id, "force": True})
        assert forced.status_code == 200
        assert (workspace / "a.txt").read_bytes() == BYTES


async def test_a_link_put_in_the_way_is_not_followed(model: ModelServer, workspace: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text("mine")
    (workspace / "a.txt").write_bytes(BYTES)
    (workspace / "a.txt").chmod(0o666)
    (workspace / "b.sh").write_bytes(b"")
    (workspace / "b.sh").chmod(0o666)
    async with live(model, sandbox="auto", allowed_roots=str(workspace)) as engine:
        await change(engine, model)
        (workspace / "a.txt").unlink()
        (workspace / "a.txt").symlink_to(outside)
        answer = await engine.http.post("/tasks/t1/undo", json={"force": True})
        assert answer.status_code == 409
        assert outside.read_text() == "mine"


async def test_there_is_no_undo_of_another_users_task_or_of_nothing(aster: Live, model: ModelServer) -> None:
    model.enqueue(Reply([Text("hi")]))
    await aster.execute("hi")
    assert (await aster.http.post("/tasks/nobody/undo", json={})).json()["error"] == "TASK_NOT_FOUND"
    assert (await aster.http.post("/tasks/t1/undo", json={})).json()["error"] == "NOT_FOUND"
    assert (await aster.http.post("/tasks/t1/undo", json={"force": "yes"})).status_code == 422


async def test_long_output_is_kept_whole_and_can_be_read_on(aster: Live, model: ModelServer) -> None:
    numbers = "".join(f"{number}\n" for number in range(1, 60_001))
    model.enqueue(Reply([ToolCall("bash", {"command": "seq 60000"}, id="one")]), Reply([Text("long")]))
    frames = await aster.execute("count")
    result = events(frames, "tool_result")[0]
    (artifact,) = result["artifacts"]
    assert artifact["size"] == len(numbers) - 1
    assert len(result["output"]) < 20_000
    assert f"artifact:{artifact['id']}" in result["output"]

    listed = (await aster.http.get("/tasks/t1/artifacts")).json()["artifacts"]
    assert [(item["artifact_id"], item["tool_call_id"]) for item in listed] == [(artifact["id"], "one")]
    download = await aster.http.get(f"/tasks/t1/artifacts/{artifact['id']}")
    assert download.content == numbers.rstrip("\n").encode()
    assert hashlib.sha256(download.content).hexdigest() == listed[0]["sha256"]
    assert download.headers["content-disposition"].startswith("attachment")
    assert download.headers["x-content-type-options"] == "nosniff"

    path = f"artifact:{artifact['id']}"
    read = ToolCall("read_file", {"path": path, "offset": 30_000, "limit": 2})
    model.enqueue(Reply([read]), Reply([ToolCall("read_file", {"path": "artifact:art_none"})]), Reply([Text("ok")]))
    outputs = [data["output"] for data in events(await aster.execute("read on"), "tool_result")]
    assert "30000\n30001\n" in outputs[0]
    assert "there is no artifact:art_none" in outputs[1]

    gone = await aster.http.get("/tasks/t1/artifacts/art_none")
    assert (gone.status_code, gone.json()["error"]) == (404, "NOT_FOUND")


async def test_artifacts_go_with_their_task(aster: Live, model: ModelServer) -> None:
    model.enqueue(Reply([ToolCall("bash", {"command": "seq 60000"})]), Reply([Text("long")]))
    frames = await aster.execute("count")
    artifact_id = events(frames, "tool_result")[0]["artifacts"][0]["id"]
    assert (await aster.http.delete("/tasks/t1")).status_code == 200
    model.enqueue(Reply([ToolCall("read_file", {"path": f"artifact:{artifact_id}"})]), Reply([Text("gone")]))
    frames = await aster.execute("read it", "t2")
    assert events(frames, "tool_result")[0]["error"] == "not_found"


async def test_a_file_that_no_call_changed_is_not_taken_back(model: ModelServer, workspace: Path) -> None:
    (workspace / "a.txt").write_text("one")
    (workspace / "b.txt").write_text("one")
    for name in ("a.txt", "b.txt"):
        (workspace / name).chmod(0o666)
    missing = ToolCall("edit_file", {"path": "b.txt", "old_text": "nowhere", "new_text": "x"})
    works = ToolCall("edit_file", {"path": "a.txt", "old_text": "one", "new_text": "1"})
    async with live(model, sandbox="auto", allowed_roots=str(workspace)) as engine:
        model.enqueue(Reply([works]), Reply([missing]), Reply([Text("done")]))
        await engine.execute("change")
        model.enqueue(Reply([missing]), Reply([Text("The edit failed: the text is not there.")]))
        await engine.execute("try again")
        done = await engine.http.post("/tasks/t1/undo", json={})
        assert done.json()["files"] == [{"path": "a.txt", "action": "restored"}]
        again = await engine.http.post("/tasks/t1/undo", json={})
        assert (again.status_code, again.json()["error"]) == (404, "NOT_FOUND")
    assert (workspace / "a.txt").read_text() == "one"
