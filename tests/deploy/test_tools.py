"""What is in `deploy/`, asked of the tools that know: the schemas of compose and Kubernetes, and the balancer itself.

The balancer runs as it would in production, from the file that is shipped, before real engines on loopback.
"""

import asyncio
import os
import subprocess
import time
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import httpx2
import pytest

from aster.testing import ModelServer
from tests.deploy.reading import DEPLOY, MANIFESTS
from tests.live import Live, Stream, live
from tests.process import free_port

pytestmark = pytest.mark.deploy

TOOLS = DEPLOY.parent / ".venv-deploy" / "bin"
KUBERNETES = ("1.31.0", "1.34.0", "1.37.0")


def tool(name: str, *args: str, environ: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        [str(TOOLS / name), *args],
        capture_output=True,
        text=True,
        env={**os.environ, **(environ or {})},
        cwd=DEPLOY,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_the_compose_files_are_valid() -> None:
    tool("check-jsonschema", "--builtin-schema", "vendor.compose-spec", "compose.yaml", "compose.namespaces.yaml")


@pytest.mark.parametrize("version", KUBERNETES)
def test_the_manifests_are_valid(version: str) -> None:
    said = tool("kubernetes-validate", "--strict", "-k", version, *map(str, MANIFESTS))
    assert said.count("passed") == len(MANIFESTS), said


def test_the_dockerfile_is_sound() -> None:
    tool("hadolint", "Dockerfile")


def test_the_balancers_file_is_valid_and_well_formed() -> None:
    assert "Valid configuration" in tool("caddy", "validate", "--adapter", "caddyfile", "--config", "Caddyfile")
    tool("caddy", "fmt", "Caddyfile")
    for site in ("aster.example.com", ":8080"):
        tool("caddy", "adapt", "--config", "Caddyfile", environ={"ASTER_SITE": site})


@asynccontextmanager
async def caddy(directory: Path, *ports: int) -> AsyncGenerator[httpx2.AsyncClient]:
    """The balancer of `deploy/`, on loopback alone, before these ports."""
    port = free_port()
    config = directory / "Caddyfile"
    config.write_text(
        (DEPLOY / "Caddyfile").read_text().replace("admin off", "admin off\n\tdefault_bind 127.0.0.1")
    )
    replicas = " ".join(f"127.0.0.1:{one}" for one in ports)
    environ = {"ASTER_SITE": f"http://127.0.0.1:{port}", "ASTER_REPLICAS": replicas, "HOME": str(directory)}
    with (directory / "caddy.log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            *(str(TOOLS / "caddy"), "run", "--adapter", "caddyfile", "--config", str(config)),
            env={**os.environ, **environ},
            stdout=log,
            stderr=log,
        )
    try:
        async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=20, trust_env=False) as client:
            async with asyncio.timeout(20):
                while not await answers(client):
                    await asyncio.sleep(0.05)
            yield client
    finally:
        process.terminate()
        await process.wait()


async def answers(client: httpx2.AsyncClient) -> bool:
    try:
        return (await client.get("/health")).status_code == 200
    except httpx2.TransportError:
        return False


def port_of(engine: Live) -> int:
    return int(engine.url.rsplit(":", 1)[1])


async def met(client: httpx2.AsyncClient) -> set[str]:
    """The replicas that answer, told apart by the one task that each has; no answer may fail."""
    found: set[str] = set()
    for _ in range(8):
        answer = await client.get("/tasks")
        found |= {task["task_id"] for task in answer.json()["tasks"]} if answer.status_code == 200 else {"refused"}
    return found


async def meets(client: httpx2.AsyncClient, wanted: set[str]) -> None:
    async with asyncio.timeout(15):
        while await met(client) != wanted:
            await asyncio.sleep(0.05)


async def test_a_stream_passes_as_it_comes(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        model = await stack.enter_async_context(ModelServer())
        engine = await stack.enter_async_context(live(model))
        client = await stack.enter_async_context(caddy(tmp_path, port_of(engine)))
        body = {"task_id": "t1", "message": "[[text=40 rate=40]] Slowly."}
        async with client.stream("POST", "/execute", json=body) as response:
            stream = Stream(response)
            await stream.until("text_delta")
            first = time.monotonic()
            await stream.until("thread_lifecycle", phase="completed")
        assert time.monotonic() - first > 0.5, "the answer came in one piece: it was buffered"


async def test_a_replica_that_drains_or_is_gone_gets_nothing_new(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        model = await stack.enter_async_context(ModelServer())
        stays = await stack.enter_async_context(live(model))
        leaving = AsyncExitStack()
        leaves = await leaving.enter_async_context(live(model))
        client = await stack.enter_async_context(caddy(tmp_path, port_of(stays), port_of(leaves)))
        for name, engine in (("stays", stays), ("leaves", leaves)):
            await engine.execute("[[text=3]] Hi.", name)
        await meets(client, {"stays", "leaves"})
        await leaves.engine.drain(0.0)
        await meets(client, {"stays"})
        await leaving.aclose()
        for number in range(10):
            answer = await client.post("/execute", json={"task_id": f"t{number}", "message": "[[text=3]] Hi."})
            assert answer.status_code == 200
            assert '"phase":"completed"' in answer.text


async def test_a_post_that_was_cut_is_not_sent_again(tmp_path: Path) -> None:
    posts = 0

    async def cutting(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal posts
        head = await reader.readuntil(b"\r\n\r\n")
        if head.startswith(b"POST"):
            posts += 1
        else:
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok")
        writer.close()

    async with AsyncExitStack() as stack:
        servers = [
            await stack.enter_async_context(await asyncio.start_server(cutting, "127.0.0.1", 0)) for _ in range(2)
        ]
        ports = [one.sockets[0].getsockname()[1] for one in servers]
        client = await stack.enter_async_context(caddy(tmp_path, *ports))
        answer = await client.post("/execute", json={"message": "once"})
        assert (answer.status_code, posts) == (502, 1)
