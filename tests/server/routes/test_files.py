"""Files over HTTP: in and out of workspaces, and archives that nobody can break out of."""

import asyncio
import io
import json
import os
import socket
import stat
import struct
import zipfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import pytest
import pytest_asyncio

from aster.engine_core.files import UNSENT
from aster.server import keys
from aster.testing import ModelServer
from tests.live import Live, live


class Two(NamedTuple):
    engine: Live
    ada: dict[str, str]
    bob: dict[str, str]
    data: Path

    async def upload(self, name: str, data: bytes, **fields: str) -> Any:
        files = {"file": (name, data)}
        return await self.engine.http.post("/api/upload", files=files, data=fields, headers=self.ada)

    async def download(self, path: str, task: str, who: dict[str, str] | None = None) -> Any:
        params = {"task_id": task}
        return await self.engine.http.get(f"/api/download/{path}", params=params, headers=who or self.ada)

    async def load(self, data: bytes, task: str) -> Any:
        headers = {**self.ada, "Content-Type": "application/zip"}
        return await self.engine.http.post(f"/tasks/{task}/workspace", content=data, headers=headers)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def two(model: ModelServer, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Two]:
    data = tmp_path_factory.mktemp("data")
    brain = data / "brain.sqlite"
    rules = data / "rules.json"
    rules.write_text(json.dumps({"rules": [{"behavior": "deny", "tool": "*_file", "pattern": "*locked*"}]}))
    ada, bob = ({"X-Engine-Key": keys.create(brain, who, who).key} for who in ("ada", "bob"))
    limits = {"upload_max_bytes": 200_000, "workspace_max_bytes": 400_000, "permission_rules_path": rules}
    async with live(model, sqlite_db_path=brain, **limits) as engine:
        yield Two(engine, ada, bob, data)


def zipped(*entries: tuple[str | zipfile.ZipInfo, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries:
            archive.writestr(name, data)
    return out.getvalue()


async def test_a_file_goes_in_and_comes_out(two: Two, task: str) -> None:
    made = await two.upload("héron.txt", b"grey\x00bird", task_id=task)
    assert made.status_code == 200, made.text
    assert (made.json()["filename"], made.json()["size"], made.json()["created"]) == ("héron.txt", 9, True)
    assert (await two.upload("héron.txt", b"white bird", session_id=task)).json()["created"] is False
    found = await two.download("h%C3%A9ron.txt", task)
    assert (found.status_code, found.content) == (200, b"white bird")
    assert found.headers["content-disposition"].startswith("attachment")
    assert found.headers["content-type"] == "application/octet-stream"
    deep = await two.upload("x.bin", b"1", task_id=task, path="deep/er/y.bin")
    assert deep.json()["path"] == "deep/er/y.bin"
    assert (await two.download("deep/er/y.bin", task)).content == b"1"


async def test_the_agent_finds_what_was_uploaded(two: Two, task: str) -> None:
    await two.upload("a.txt", b"from a person", task_id=task)
    body = {"method": "tool.read_file", "params": {"path": "a.txt"}, "task_id": task}
    answer = await two.engine.http.post("/rpc", json=body, headers=two.ada)
    assert "from a person" in answer.json()["result"]["output"]


@pytest.mark.parametrize("name", ["../up.txt", "a/b.txt", "a\\b.txt", "..", "C:x"])
async def test_bad_names_are_refused(two: Two, task: str, name: str) -> None:
    assert (await two.upload(name, b"x", task_id=task)).status_code == 400


@pytest.mark.parametrize("path", ["../up.txt", "/etc/up.txt", "dir/"])
async def test_bad_places_are_refused(two: Two, task: str, path: str) -> None:
    assert (await two.upload("x.txt", b"x", task_id=task, path=path)).status_code == 400


@pytest.mark.parametrize("path", ["missing.txt", "..%2F..%2Fbrain.sqlite", "%2Fetc%2Fpasswd", "a%00b", "."])
async def test_only_files_of_the_workspace_are_taken_out(two: Two, task: str, path: str) -> None:
    assert (await two.download(path, task)).status_code == 404


async def test_links_lead_nowhere(two: Two, task: str) -> None:
    await two.upload("a.txt", b"x", task_id=task)
    place = two.engine.engine.permissions._workspaces.planned("ada", task).cwd  # pyright: ignore[reportPrivateUsage]
    (place / "link").symlink_to(two.data / "rules.json")
    (place / "out").symlink_to(two.data)
    assert (await two.download("link", task)).status_code == 404
    assert (await two.upload("x", b"x", task_id=task, path="out/x.txt")).status_code == 400
    packed = await two.engine.http.get(f"/tasks/{task}/workspace", headers=two.ada)
    with zipfile.ZipFile(io.BytesIO(packed.content)) as archive:
        assert sorted(archive.namelist()) == ["sandbox/a.txt", "session.json"]
        assert json.loads(archive.read("session.json"))["left_out"] == ["link", "out"]
    outside = await two.load(zipped(("sandbox/out/x.txt", b"x")), task)
    assert outside.status_code == 422
    assert not (two.data / "x.txt").exists()


async def test_rules_hold_for_people_too(two: Two, task: str) -> None:
    assert (await two.upload("locked.txt", b"x", task_id=task)).status_code == 403
    assert (await two.download("locked.txt", task)).status_code == 403
    assert (await two.load(zipped(("sandbox/ok.txt", b"1"), ("sandbox/locked.txt", b"2")), task)).status_code == 403
    assert (await two.download("ok.txt", task)).status_code == 404


async def test_too_much_is_refused(two: Two, task: str) -> None:
    assert (await two.upload("big.bin", b"x" * 250_000, task_id=task)).status_code == 413
    bomb = zipped(*((f"sandbox/{at}.bin", bytes(150_000)) for at in range(3)))
    assert len(bomb) < 10_000
    answer = await two.load(bomb, task)
    assert (answer.status_code, answer.json()["error"]) == (413, "PAYLOAD_TOO_LARGE")
    assert (await two.download("0.bin", task)).status_code == 404


async def test_an_archive_that_says_it_has_too_many_files_is_not_read(two: Two, task: str) -> None:
    data = zipped(("sandbox/ok.txt", b"1"))
    answer = await two.load(data[:-12] + (10_001).to_bytes(2, "little") + data[-10:], task)
    assert (answer.status_code, answer.json()["error"]) == (413, "PAYLOAD_TOO_LARGE")


async def test_archives_that_nobody_reads_are_few(model: ModelServer) -> None:
    async with live(model) as engine:
        put = {"files": {"file": ("noise.bin", os.urandom(8_000_000))}, "data": {"task_id": "t"}}
        assert (await engine.http.post("/api/upload", **put)).status_code == 200
        place = httpx2.URL(engine.url)
        idle: list[asyncio.StreamWriter] = []
        for _ in range(UNSENT):
            plug = socket.socket()
            plug.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            plug.setblocking(False)
            await asyncio.get_running_loop().sock_connect(plug, (place.host, place.port))
            reader, writer = await asyncio.open_connection(sock=plug, limit=1024)
            idle.append(writer)
            writer.write(b"GET /tasks/t/workspace HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert (await reader.readline()).startswith(b"HTTP/1.1 200")
        refused = await engine.http.get("/tasks/t/workspace")
        assert (refused.status_code, refused.json()["error"]) == (503, "SLOTS_EXHAUSTED")
        assert int(refused.headers["retry-after"]) > 0
        for writer in idle:
            writer.transport.abort()
        async with asyncio.timeout(10):
            while (await engine.http.get("/tasks/t/workspace")).status_code == 503:
                pass
        for _ in range(UNSENT + 1):
            assert (await engine.http.get("/tasks/t/workspace")).status_code == 200


async def test_a_workspace_travels(two: Two, task: str) -> None:
    await two.upload("run.sh", b"echo hi", task_id=task)
    await two.upload("x", b"deep", task_id=task, path="a/b.txt")
    history = [{"role": "user", "content": "hello"}]
    saved = await two.engine.http.post(
        "/api/workspace/save", json={"chat_history": history, "session_id": task}, headers=two.ada
    )
    assert (saved.status_code, saved.headers["content-type"]) == (200, "application/zip")
    files, fields = {"file": ("w.zip", saved.content)}, {"task_id": f"{task}-2"}
    loaded = await two.engine.http.post("/api/workspace/load", files=files, data=fields, headers=two.ada)
    assert loaded.status_code == 200, loaded.text
    assert (loaded.json()["files"], loaded.json()["chat_history"]) == (2, history)
    assert (await two.download("a/b.txt", f"{task}-2")).content == b"deep"


def link() -> zipfile.ZipInfo:
    info = zipfile.ZipInfo("sandbox/link")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return info


def broken(data: bytes) -> bytes:
    """An archive whose second file is not what its checksum says."""
    at = data.index(b"sandbox/too.txt") + 60
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


def long(data: bytes) -> bytes:
    """An archive that says its list of files is long."""
    return data[:-10] + (5_000_000).to_bytes(4, "little") + data[-6:]


def large(data: bytes, comment: int) -> bytes:
    """An archive whose list of files is told by the records of large archives, before a comment of this length."""
    end = data[-22:]
    count, size, start = struct.unpack("<H2L", end[10:20])
    told = struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, count, count, size, start)
    where = struct.pack("<4sLQL", b"PK\6\7", 0, start + size, 1)
    return data[:-22] + told + where + end[:-2] + comment.to_bytes(2, "little") + b"c" * comment


@pytest.mark.parametrize(
    "data",
    [
        zipped(("sandbox/ok.txt", b"1"), ("sandbox/../../up.txt", b"2")),
        zipped(("sandbox/ok.txt", b"1"), ("/etc/up.txt", b"2")),
        zipped(("sandbox/ok.txt", b"1"), ("sandbox//etc/up.txt", b"2")),
        zipped(("sandbox/ok.txt", b"1"), ("sandbox/a\\..\\up.txt", b"2")),
        zipped(("sandbox/ok.txt", b"1"), ("elsewhere.txt", b"2")),
        zipped(("sandbox/ok.txt", b"1"), (link(), b"/etc/passwd")),
        zipped(("sandbox/ok.txt", b"1"), ("session.json", b"[]")),
        zipped(("sandbox/ok.txt", b"1" * 5000))[:-60],
        broken(zipped(("sandbox/ok.txt", b"1" * 500), ("sandbox/too.txt", bytes(range(256))))),
        zipped(("sandbox/ok.txt", b"1"), ("sandbox/ok.txt/too.txt", b"2")),
        long(zipped(("sandbox/ok.txt", b"1"))),
        large(zipped(("sandbox/ok.txt", b"1")), 0),
        large(zipped(("sandbox/ok.txt", b"1")), 65_517),
        large(zipped(("sandbox/ok.txt", b"1")), 65_535),
        b"no archive",
    ],
    ids=[
        "up",
        "root",
        "slashes",
        "windows",
        "elsewhere",
        "link",
        "session",
        "cut",
        "broken",
        "twice",
        "long",
        "large",
        "large-commented",
        "large-most-commented",
        "none",
    ],
)
async def test_hostile_archives_leave_nothing(two: Two, task: str, data: bytes) -> None:
    answer = await two.load(data, task)
    assert (answer.status_code, answer.json()["error"]) == (422, "INVALID_REQUEST"), answer.text
    assert (await two.download("ok.txt", task)).status_code == 404


async def test_nobody_reaches_anothers_files(two: Two, task: str) -> None:
    await two.upload("mine.txt", b"mine", task_id=task)
    assert (await two.download("mine.txt", task, two.bob)).status_code == 404
    archive = await two.engine.http.get(f"/tasks/{task}/workspace", headers=two.bob)
    assert (archive.status_code, archive.json()["error"]) == (404, "TASK_NOT_FOUND")


async def test_a_workspace_has_to_be_named_where_each_task_has_its_own(two: Two) -> None:
    answer = await two.upload("x.txt", b"x")
    assert (answer.status_code, answer.json()["details"]["fields"][0]["field"]) == (422, "task_id")


async def test_other_routes_still_take_json_alone(two: Two) -> None:
    answer = await two.engine.http.post("/execute", files={"file": ("x", b"x")}, headers=two.ada)
    assert answer.status_code == 415
    assert (await two.engine.http.post("/api/upload", json={}, headers=two.ada)).status_code in (415, 422)


async def test_a_busy_workspace_is_left_alone(two: Two, task: str) -> None:
    body = {"method": "tool.bash", "params": {"command": "touch x"}, "task_id": task, "permission_mode": "auto"}
    assert (await two.engine.http.post("/rpc", json=body, headers=two.ada)).status_code == 409
    answer = await two.load(zipped(("sandbox/ok.txt", b"1")), task)
    assert (answer.status_code, answer.json()["error"]) == (409, "TASK_BUSY")
