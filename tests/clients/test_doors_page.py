"""The first ten minutes of a user: every example of docs/doors.md, as it stands there, against a running engine."""

import asyncio
import re
import shlex
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from aster.testing import ModelServer
from tests.clients.obliging import TALK, obliging
from tests.live import Live, live

KEY = "doors-page-key"
PAGE = (Path(__file__).parents[2] / "docs" / "doors.md").read_text()


@pytest.fixture
async def aster() -> AsyncIterator[Live]:
    async with ModelServer([obliging]) as model, live(model, engine_api_key=KEY, memory_enabled=False) as engine:
        yield engine


def examples(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


async def test_the_python_of_the_page_runs(aster: Live, capsys: pytest.CaptureFixture[str]) -> None:
    code = "\n".join(examples("python"))
    here = code.replace("http://127.0.0.1:8000", aster.url).replace("your-engine-key", KEY)
    assert here != code
    names: dict[str, Any] = {}
    await asyncio.to_thread(exec, here, names)
    names["client"].close()
    assert TALK in capsys.readouterr().out
    assert len((await aster.http.get("/tasks")).json()["tasks"]) == 2


async def test_the_commands_of_the_page_run(aster: Live) -> None:
    commands = [text.removeprefix("$ ").replace("\\\n", " ") for text in examples("console")]
    assert commands
    for command in commands:
        here = command.replace("http://127.0.0.1:8000", aster.url).replace("$ENGINE_API_KEY", KEY)
        process = await asyncio.create_subprocess_exec(
            *shlex.split(here), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
        )
        said, _ = await process.communicate()
        assert TALK in said.decode()
