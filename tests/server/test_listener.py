"""Listening and leaving: real processes, real signals."""

import asyncio
import os
import signal
import socket
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from aster.contracts.errors import EngineError, ErrorCode
from aster.engine_core.engine import Engine
from aster.infra.settings import Settings
from aster.server import keys
from aster.server.listener import LAST_WORDS_SECONDS, check_exposure, listening
from aster.testing import Hold, ModelServer, Reply, Text, ToolCall
from tests.live import Live, Stream, live, text_of

SERVE = (
    "import sys; from aster.infra.settings import load; from aster.server.listener import serve;"
    "sys.exit(serve(load(env_file=None), lambda url: print(url, flush=True)))"
)


class Served:
    """An engine in a process of its own."""

    def __init__(self, process: asyncio.subprocess.Process, url: str) -> None:
        self.process = process
        self.http = httpx2.AsyncClient(base_url=url, timeout=10, trust_env=False)

    @asynccontextmanager
    async def stream(self, method: str, path: str, **request: Any) -> AsyncGenerator[Stream, None]:
        async with self.http.stream(method, path, **request) as response:
            yield Stream(response)

    async def draining(self) -> None:
        """Wait until the engine says that it is on its way out."""
        while (await self.http.get("/health")).status_code != 503:
            await asyncio.sleep(0.01)

    async def ended(self, within: float) -> int:
        return await asyncio.wait_for(self.process.wait(), within)


@asynccontextmanager
async def served(model: ModelServer, brain: Path, **settings: str) -> AsyncGenerator[Served, None]:
    env = {
        **os.environ,
        "PORT": "0",
        "SANDBOX": "off",
        "LLM_PROVIDER": "openai",
        "LLM_BASE_URL": f"{model.url}/v1",
        "SQLITE_DB_PATH": str(brain),
        **settings,
    }
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", SERVE, env=env, stdout=asyncio.subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        url = (await asyncio.wait_for(process.stdout.readline(), 20)).decode().strip()
        running = Served(process, url)
        async with running.http:
            yield running
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def test_the_first_signal_drains_and_the_next_start_goes_on(model: ModelServer, tmp_path: Path) -> None:
    brain = tmp_path / "brain.sqlite"
    look = ToolCall("glob", {"pattern": "*"})
    model.enqueue(Reply([Text("one "), Hold("drain"), look]), Reply([Text("two")]))
    async with served(model, brain, DRAIN_SECONDS="30") as engine:
        async with engine.stream("POST", "/execute", json={"message": "hi", "task_id": "t"}) as stream:
            await stream.until("text_delta")
            engine.process.send_signal(signal.SIGTERM)
            await engine.draining()
            refused = await engine.http.post("/execute", json={"message": "hi", "task_id": "u"})
            assert (refused.status_code, refused.json()["error"]) == (503, "DRAINING")
            assert refused.headers["retry-after"] == "2"
            model.release("drain")
            await stream.until("tool_result")
            goodbye = await stream.until("reconnect")
            assert await stream.next() is None
        seen = [frame for frame in stream.seen if frame.id is not None]
        assert goodbye.id is None
        assert (goodbye.data["after_seq"], goodbye.data["retry_ms"]) == (seen[-1].id, 1000)
        assert await engine.ended(10) == 0
    async with live(model, sqlite_db_path=brain) as again:
        rest = await again.replay(task_id="t", after_seq=goodbye.data["after_seq"])
    assert text_of(seen + rest) == "one two"
    assert [frame.id for frame in seen + rest] == list(range(1, len(seen + rest) + 1))
    assert rest[-1].data["phase"] == "completed"


async def test_the_second_signal_does_not_wait(model: ModelServer, tmp_path: Path) -> None:
    brain = tmp_path / "brain.sqlite"
    model.enqueue(Reply([Text("one "), Hold("hurry"), Text("two")]), Reply([Text("again")]))
    body = {"message": "hi", "task_id": "t"}
    async with (
        served(model, brain, DRAIN_SECONDS="60") as engine,
        engine.stream("POST", "/execute", json=body) as stream,
    ):
        await stream.until("text_delta")
        engine.process.send_signal(signal.SIGINT)
        await engine.draining()
        engine.process.send_signal(signal.SIGINT)
        assert await engine.ended(5) == 0
    model.release("hurry")
    async with live(model, sqlite_db_path=brain) as again:
        frames = await again.replay(task_id="t")
    assert frames[-1].data["phase"] == "completed"


async def test_a_stream_goes_on_while_its_turn_does(model: ModelServer, task: str) -> None:
    model.enqueue(Reply([Text("one "), Hold(task), Text("two")]))
    async with live(model, drain_seconds=20.0) as engine, engine.executing("hi", task) as stream:
        await stream.until("text_delta")
        draining = asyncio.create_task(engine.engine.drain())
        await asyncio.sleep(0)
        async with engine.replaying(task_id=task, after_seq=1) as second:
            model.release(task)
            assert (await stream.rest())[-1].data["phase"] == "completed"
            assert (await second.rest())[-1].data["phase"] == "completed"
        assert await draining


async def test_the_stream_of_a_suspended_turn_is_told_too(model: ModelServer, task: str) -> None:
    model.enqueue(Reply([ToolCall("ask_user", {"question": "Which?"})]))
    async with live(model) as engine, engine.executing("hi", task) as stream:
        suspended = await stream.until("thread_lifecycle", phase="suspended")
        await engine.engine.drain()
        goodbye = await stream.until("reconnect")
        assert goodbye.data["after_seq"] == suspended.id
        assert await stream.next() is None


async def test_a_client_that_does_not_read_does_not_hold_up_the_end(model: ModelServer, task: str) -> None:
    model.enqueue(Reply([Text("x" * 8_000_000)], chunk=100_000))
    body = b'{"message":"hi","task_id":"%s"}' % task.encode()
    head = (
        b"POST /execute HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    )
    loop = asyncio.get_running_loop()
    with socket.socket() as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.setblocking(False)
        async with live(model, drain_seconds=20.0) as engine:
            await loop.sock_connect(deaf, ("127.0.0.1", int(engine.url.rsplit(":", 1)[1])))
            await loop.sock_sendall(deaf, head % len(body) + body)
            await model.wait_calls(len(model.calls) + 1)
            while not await idle(engine, task):
                await asyncio.sleep(0.01)
            assert engine.engine.brain.fanout.subscribers == 1
            since = loop.time()
        assert loop.time() - since < LAST_WORDS_SECONDS + 2


async def idle(engine: Live, task: str) -> bool:
    return (await engine.http.get(f"/tasks/{task}")).json().get("status") == "idle"


async def test_it_listens_where_it_says(model: ModelServer) -> None:
    async with live(model) as engine:
        assert engine.url.startswith("http://127.0.0.1:")
        assert not engine.url.endswith(":0")


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "engine.example"])
def test_without_a_key_it_stays_on_its_own_machine(tmp_path: Path, host: str) -> None:
    bare = Settings.model_validate({"host": host, "sqlite_db_path": tmp_path / "brain.sqlite"})
    with pytest.raises(EngineError, match="ENGINE_API_KEY") as refused:
        check_exposure(bare)
    assert refused.value.code is ErrorCode.CONFIGURATION_INVALID
    check_exposure(Settings.model_validate({"host": host, "engine_api_key": "k"}))


def test_a_named_key_is_a_key_until_it_is_revoked(tmp_path: Path) -> None:
    brain = tmp_path / "brain.sqlite"
    settings = Settings.model_validate({"host": "0.0.0.0", "sqlite_db_path": brain})
    keys.create(brain, "laptop")
    check_exposure(settings)
    keys.revoke(brain, "laptop")
    with pytest.raises(EngineError):
        check_exposure(settings)


async def test_a_port_that_is_taken_is_a_sentence(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        wanted = {"port": taken.getsockname()[1], "sqlite_db_path": tmp_path / "brain.sqlite"}
        with pytest.raises(EngineError, match="PORT") as refused:
            async with listening(Engine(Settings.model_validate(wanted))):
                raise AssertionError("it listened")
    assert refused.value.code is ErrorCode.CONFIGURATION_INVALID
    assert not (tmp_path / "brain.sqlite").exists()


async def test_a_brain_in_use_is_a_sentence_and_frees_the_port(model: ModelServer, tmp_path: Path) -> None:
    brain = tmp_path / "brain.sqlite"
    async with live(model, sqlite_db_path=brain):
        with pytest.raises(EngineError, match="Another engine") as refused:
            async with live(model, sqlite_db_path=brain):
                raise AssertionError("it started")
    assert refused.value.code is ErrorCode.STORAGE_UNAVAILABLE
