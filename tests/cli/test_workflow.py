"""`aster workflow`: for people and for programs."""

import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeAlias

import pytest
from anyio.from_thread import start_blocking_portal

from tests.cli.program import Done, Home
from tests.live import live
from tests.work.workflows.conftest import agent, declare, flow

Calls: TypeAlias = Callable[..., Done]


@asynccontextmanager
async def engine(folder: Path) -> AsyncIterator[str]:
    catalog = declare(folder, flow(agent("[[text=3]] {{args.x}}"), args={"type": "object", "required": ["x"]}))
    async with live(sqlite_db_path=folder / "b.sqlite", catalog_dir=catalog) as running:
        yield running.url


@pytest.fixture
def aster(home: Home, tmp_path: Path) -> Iterator[Calls]:
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(engine(tmp_path)) as url:
        yield lambda *args: home.call("workflow", *args, "--url", url)


def test_one_is_run_shown_and_resumed(aster: Calls) -> None:
    assert "A flow." in aster("list").stdout
    done = aster("run", "flow", "--args", '{"x": 1}', "--wait", "--json")
    assert done.returncode == 0, done.stderr
    run = json.loads(done.stdout)
    assert (run["status"], run["agents"]) == ("completed", 1)
    shown = aster("show", run["run_id"]).stdout
    assert f"{run['run_id']} [completed] flow" in shown
    assert run["run_id"] in aster("runs").stdout
    again = json.loads(aster("resume", run["run_id"], "--wait", "--json").stdout)
    assert (again["agents"], again["cached"], again["result"]) == (0, 1, run["result"])
    assert aster("cancel", run["run_id"]).returncode != 0


def test_what_is_wrong_is_said(aster: Calls) -> None:
    assert "JSON object" in aster("run", "flow", "--args", "[1]").stderr
    assert "do not fit" in aster("run", "flow").stderr
    assert "There is no workflow" in aster("run", "other").stderr
    assert "There is no run" in aster("show", "run-nowhere").stderr
