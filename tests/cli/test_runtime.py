"""`aster work running|output|kill`: for people and for programs."""

import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeAlias

import pytest
from anyio.from_thread import start_blocking_portal

from aster.testing import ModelServer
from tests.cli.program import Done, Home
from tests.live import live

Calls: TypeAlias = Callable[..., Done]
BEGIN = {"command": "printf up; sleep 60", "run_in_background": True, "description": "a server"}


@asynccontextmanager
async def engine(folder: Path) -> AsyncIterator[str]:
    async with ModelServer() as model, live(model, sqlite_db_path=folder / "b.sqlite") as running:
        await running.execute(f"[[text=3 tools=1 tool=bash input={json.dumps(BEGIN)}]] Do it.")
        yield running.url


@pytest.fixture
def aster(home: Home, tmp_path: Path) -> Iterator[Calls]:
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(engine(tmp_path)) as url:
        yield lambda *args: home.call("work", *args, "--url", url)


def test_what_works_behind_turns_is_listed_read_and_ended(aster: Calls) -> None:
    (one,) = json.loads(aster("running", "--json").stdout)["tasks"]
    listed = aster("running", "--kind", "bash", "--task", "t1").stdout
    assert (one["id"] in listed, "a server" in listed, "running" in listed) == (True, True, True)
    assert "a server" not in aster("running", "--status", "failed").stdout
    killed = aster("kill", one["id"])
    assert f"{one['id']} [killed] a server" in killed.stdout
    assert aster("output", one["id"]).stdout == "up"
    assert aster("output", one["id"], "--follow", "--offset", "1").stdout == "p"
    assert one["id"] not in aster("running").stdout
    assert one["id"] in aster("running", "--all").stdout
    unknown = aster("output", "bg_0")
    assert unknown.returncode != 0
    assert "There is no runtime task" in unknown.stderr
