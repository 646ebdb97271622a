"""The programs of docs/sdk.md say what the page says they say, against a real engine and a scripted model."""

import asyncio
import os
import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from aster.client import AsterClient, SyncAsterClient
from aster.client.blocking import Part
from aster.testing import Hold, ModelServer, Reply, Rule, Text, ToolCall
from tests.live import Live, live
from tests.process import engine as engine_process

PAGE = (Path(__file__).parents[2] / "docs/sdk.md").read_text(encoding="utf-8")
PROGRAMS = {
    title: (program, said)
    for title, program, said in re.findall(
        r"^## ([^\n]+)\n(?:(?!^## |^```).)*^```python\n(.*?)^```\n+^```text\n(.*?)^```$",
        PAGE,
        re.DOTALL | re.MULTILINE,
    )
}


def says(match: str, *replies: str | ToolCall) -> list[Rule]:
    """What the model answers to a message, one reply after the other."""
    parts = [Text(reply) if isinstance(reply, str) else reply for reply in replies]
    return [Rule(Reply([part]), match=match, round=number) for number, part in enumerate(parts)]


SCRIPT = [
    *says("Which files", ToolCall("bash", {"command": "ls"}), "There is nothing here yet.\n"),
    *says("Name a colour", "Blue."),
    *says("Name a fruit", "Plum."),
    *says("folder private", ToolCall("bash", {"command": "chmod -R 700 ."}), "Nobody else can look into it now."),
    *says(
        "what is missing",
        ToolCall("stock", {"item": "paper"}),
        ToolCall("ask_user", {"question": "How many?", "options": ["100", "500"]}),
        "Ordered: 100 sheets of paper.",
    ),
    *says("Write the report", "All is well."),
    *says("best month", ToolCall("write_file", {"path": "best.txt", "content": "June"}), "Done."),
    *says("live in Turin", "Noted."),
    *says("long is ant|long is cat", "3"),
    *says("long is badger", "6"),
]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def scripted() -> AsyncIterator[Live]:
    async with ModelServer(SCRIPT) as model, live(model) as engine:
        yield engine


async def start(program: str, url: str, place: Path) -> asyncio.subprocess.Process:
    env = {name: value for name, value in os.environ.items() if not name.startswith("ENGINE_")}
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-W", "error", "-c", program),
        cwd=place,
        env=env | {"ENGINE_URL": url},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


def test_there_are_programs() -> None:
    assert len(PROGRAMS) == PAGE.count("```python") >= 9


@pytest.mark.parametrize("title", PROGRAMS)
async def test_a_program_says_what_the_page_says(scripted: Live, tmp_path: Path, title: str) -> None:
    program, said = PROGRAMS[title]
    running = await start(program, scripted.url, tmp_path)
    out, problems = await asyncio.wait_for(running.communicate(), 30)
    assert (out.decode(), problems.decode(), running.returncode) == (said, "", 0)


async def test_the_report_survives_its_engine_and_its_program(tmp_path: Path) -> None:
    program, said = PROGRAMS["Restarts"]
    half = Rule(Reply([Text("All is "), Hold("half"), Text("well.")]), match="Write the report")
    async with ModelServer([half]) as model:
        host = engine_process(tmp_path, model.url)
        await host.up()
        try:
            first = await start(program, host.url, tmp_path)
            assert first.stderr is not None
            async with AsterClient(host.url) as client:
                await model.wait_calls(1)
                while "All is" not in str((await client.events("sdk-report")).events):
                    await asyncio.sleep(0.02)
            await host.kill()
            assert await asyncio.wait_for(first.stderr.readline(), 20) == b"The engine is away.\n"
            model.release("half")
            await host.up()
            second = await start(program, host.url, tmp_path)
            for running in (first, second):
                out, _ = await asyncio.wait_for(running.communicate(), 30)
                assert (out.decode(), running.returncode) == (said, 0)
            async with AsterClient(host.url) as client:
                assert len((await client.task("sdk-report")).turns) == 1
        finally:
            await host.stop()


def test_the_page_lists_every_method() -> None:
    client = SyncAsterClient()
    parts: dict[str, Any] = {
        f"client.{name}": part for name, part in vars(client).items() if isinstance(part, Part)
    }
    parts["client"] = client
    listed = dict(re.findall(r"^\| `([\w.]+)` \| (`.*`) \|$", PAGE, re.MULTILINE))
    ours = {
        owner: {name for name in dir(type(part)) if not name.startswith("_")} - {"reach", "url", "close"}
        for owner, part in parts.items()
    }
    assert {owner: set(re.findall(r"`(\w+)`", names)) for owner, names in listed.items() if owner in parts} == ours
