"""The same attempts from outside: a model asks for them over HTTP, and everything between does its part."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from aster.cli.screen.clean import clean
from aster.client.client import AsterClient
from aster.testing import ModelServer
from tests.live import Live, Seen, live
from tests.process import Process, engine, model
from tests.sandbox.backends import working
from tests.sandbox.processes import alive, daemon, sleeper, sleeping, token

UNASKED = {"permission_mode": "bypass", "permission_bypass_allowed": True}


def directive(command: str, tool: str = "bash", **more: Any) -> str:
    return f"[[text=5 tools=1 tool={tool} input={json.dumps({'command': command, **more})}]] Do it."


async def outcome(aster: Live, command: str, task_id: str = "t1") -> Seen:
    """The one outcome of a command; the turn goes on and ends."""
    frames = await aster.execute(directive(command), task_id)
    results = [frame for frame in frames if frame.event == "tool_result"]
    assert (len(results), frames[-1].data.get("phase")) == (1, "completed")
    return results[0]


@pytest.mark.parametrize("backend", working())
async def test_attempts_end_in_one_clear_outcome_each(backend: str, tmp_path: Path) -> None:
    brain = tmp_path / "data" / "brain.sqlite"
    async with (
        ModelServer() as server,
        live(server, sandbox=backend, sqlite_db_path=brain, sandbox_memory_mb=128, **UNASKED) as aster,
    ):
        health = (await aster.http.get("/health")).json()["subsystems"]["sandbox"]
        assert (health["backend"], health["tried"][-1]) == (
            backend,
            {"backend": backend, "ok": True, "reason": "a probe ran in it"},
        )
        port = aster.url.rsplit(":", 1)[1]
        for command in (
            "cat /etc/shadow",
            f"cat {brain}",
            f"exec 3<>/dev/tcp/127.0.0.1/{port} && printf 'GET /health HTTP/1.0\\r\\n\\r\\n' >&3 && cat <&3",
            "echo x > /etc/aster-was-here",
            f"echo x > {brain}",
        ):
            text = json.dumps((await outcome(aster, command)).data)
            assert "SQLite format" not in text
            assert "subsystems" not in text
            assert "root:" not in text
        bomb = "for n in 1 2 3 4 5 6; do perl -e '$x = \"a\" x (60 << 20); sleep 30' & done; wait"
        killed = await outcome(aster, bomb)
        assert killed.data["error"] == "limit_exceeded"
        assert "more than 128 MB of memory" in killed.data["output"]
        assert (await aster.http.get("/health")).json()["status"] == "ok"
        assert not Path("/etc/aster-was-here").exists()


async def test_escape_sequences_stay_text_on_their_way_to_a_terminal() -> None:
    async with ModelServer() as server, live(server, sandbox="auto", **UNASKED) as aster:
        command = r"printf 'a\033]0;title\007\033[2J\033]52;c;AAAA\007\233b\r\n'"
        result = await outcome(aster, command)
        assert b"\x1b" not in result.raw
        assert b"\x07" not in result.raw
        assert "\x1b]52;c;AAAA\x07" in result.data["output"]
        assert not set(clean(result.data["output"])) & {"\x1b", "\x07", "\x9b", "\r"}


@pytest.mark.parametrize("when", [alive, sleeping])
@pytest.mark.parametrize("backend", [name for name in working() if name != "docker"])
async def test_a_killed_engine_takes_its_commands_with_it(
    backend: str, when: Callable[[str], list[psutil.Process]], tmp_path: Path
) -> None:
    """Also when it is killed while the sandbox is still being made."""
    upstream = model(tmp_path)
    host = engine(tmp_path, upstream.url, SANDBOX=backend)
    try:
        await upstream.up()
        await host.up()
        await kill_while_running(host, token(), when)
    finally:
        await host.stop()
        await upstream.stop()


async def kill_while_running(host: Process, name: str, when: Callable[[str], list[psutil.Process]]) -> None:
    """A daemon that ignores what can be ignored, and a plain child; then the engine is gone without a word."""

    async def follow() -> None:
        async with AsterClient(host.url, patience=1) as client:
            async for _ in client.execute(
                directive(f"{daemon(name)}; trap '' TERM HUP INT; {sleeper(name)}"), "t1"
            ):
                pass

    turn = asyncio.create_task(follow())
    async with asyncio.timeout(20):
        while len(when(name)) < 2:
            await asyncio.sleep(0)
    await host.kill()
    async with asyncio.timeout(10):
        while alive(name):
            await asyncio.sleep(0.02)
    turn.cancel()
    await asyncio.gather(turn, return_exceptions=True)


async def test_a_backend_that_does_not_work_is_refused_by_name() -> None:
    """It is not replaced by something else behind the operator's back."""
    async with ModelServer() as server, live(server, sandbox="docker", sandbox_docker_image="none/such") as aster:
        health = (await aster.http.get("/health")).json()
        assert (health["status"], health["subsystems"]["sandbox"]["backend"]) == ("degraded", "none")
        assert [one["backend"] for one in health["subsystems"]["sandbox"]["tried"]] == ["docker"]
        refused = await outcome(aster, "echo ran")
        assert "No isolation works" in refused.data["output"]


async def test_a_task_has_a_workspace_of_its_own_that_goes_with_it(tmp_path: Path) -> None:
    async with ModelServer() as server, live(server, sandbox="auto", sqlite_db_path=tmp_path / "b.sqlite") as aster:
        await outcome(aster, "echo one > file", "one")
        assert (await outcome(aster, "ls -A | wc -l", "two")).data["output"] == "0"
        assert (await outcome(aster, "cat file", "one")).data["output"] == "one"
        head = (await aster.http.get("/tasks/one")).json()["head_seq"]
        fork = await aster.http.post("/tasks/one/fork", json={"seq": head, "task_id": "three"})
        assert fork.status_code == 201, fork.text
        assert (await outcome(aster, "cat file", "three")).data["output"] == "one"
        assert (await aster.http.delete("/tasks/one")).status_code == 200
        directory = tmp_path / "workspaces"
        assert sorted(path.name for path in next(directory.iterdir()).iterdir()) == ["three", "two"]
        assert (await outcome(aster, "ls -A | wc -l", "one")).data["output"] == "0"
