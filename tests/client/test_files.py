"""Files through the SDK: into workspaces, out of them, and along with a message."""

import zipfile
from pathlib import Path

import pytest

from aster.client import AsterClient, EngineError, EngineUnreachable, ErrorCode, attach
from aster.contracts.blocks import Base64Source, DocumentBlock, ImageBlock
from aster.contracts.events import UserMessage
from tests.client.cutting_proxy import CuttingProxy

PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360606060000000050001"
    "a5f645400000000049454e44ae426082"
)


async def test_files_go_in_and_come_out(client: AsterClient, task: str, tmp_path: Path) -> None:
    local = tmp_path / "täglich #1.csv"
    local.write_text("a,b\n1,2\n")
    put = await client.files.upload(task, local)
    assert (put.path, put.size, put.created, put.task_id) == (local.name, 8, True, task)
    assert not (await client.files.upload(task, local)).created
    assert (await client.files.write(task, "sub/ü?.txt", "grüße")).path == "sub/ü?.txt"
    assert await client.files.read(task, "sub/ü?.txt") == "grüße".encode()
    fetched = await client.files.download(task, local.name, tmp_path / "fetched.csv")
    assert fetched.read_bytes() == local.read_bytes()


async def test_what_cannot_be_fetched_leaves_nothing_behind(client: AsterClient, task: str, tmp_path: Path) -> None:
    await client.files.write(task, "there.txt", b"x")
    kept = tmp_path / "kept.txt"
    kept.write_text("before")
    with pytest.raises(EngineError) as refused:
        await client.files.download(task, "missing.txt", kept)
    assert refused.value.code is ErrorCode.NOT_FOUND
    assert [path.name for path in tmp_path.iterdir()] == ["kept.txt"]
    assert kept.read_text() == "before"
    await client.files.write(task, "long.bin", bytes(500_000))
    async with CuttingProxy(client.url) as proxy, AsterClient(proxy.url) as cut:
        proxy.cut(200_000, request="GET /api/download")
        with pytest.raises(EngineUnreachable, match="was cut"):
            await cut.files.download(task, "long.bin", kept)
    assert [path.name for path in tmp_path.iterdir()] == ["kept.txt"]
    assert kept.read_text() == "before"


async def test_a_workspace_moves_to_another_task(client: AsterClient, task: str, tmp_path: Path) -> None:
    await client.files.write(task, "a.txt", "one")
    await client.ask("[[text=1]]", task)
    archive = await client.files.pack(task, tmp_path / "work.zip")
    with zipfile.ZipFile(archive) as packed:
        assert "sandbox/a.txt" in packed.namelist()
    loaded = await client.files.unpack(f"{task}-copy", archive)
    assert (loaded.files, loaded.task_id) == (1, f"{task}-copy")
    assert await client.files.read(f"{task}-copy", "a.txt") == b"one"


async def test_a_local_file_goes_with_a_message(client: AsterClient, task: str, tmp_path: Path) -> None:
    picture, notes, program = tmp_path / "dot.png", tmp_path / "notes.md", tmp_path / "fix.py"
    picture.write_bytes(PIXEL)
    notes.write_text("# Notes")
    program.write_text("print(1)")
    media = [attach(picture), attach(notes), attach(program)]
    events = [event async for event in client.execute("[[text=1]]", task, media=media)]
    (message,) = [event for event in events if isinstance(event, UserMessage)]
    assert [type(block) for block in message.content[:3]] == [ImageBlock, DocumentBlock, DocumentBlock]
    document = message.content[2]
    assert isinstance(document, DocumentBlock)
    assert isinstance(document.source, Base64Source)
    assert (document.title, document.source.media_type) == ("fix.py", "text/plain")


async def test_artifacts_are_listed_and_fetched(client: AsterClient, task: str) -> None:
    command = '{"command":"seq 1 30000"}'
    await client.ask(f"[[tools=1 tool=bash input={command} text=1]]", task)
    (artifact,) = await client.artifacts(task)
    data = await client.artifact(task, artifact.artifact_id)
    assert len(data) == artifact.size
    assert b"\n30000" in data
