"""`aster work`: for people and for programs."""

import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeAlias

import pytest
from anyio.from_thread import start_blocking_portal

from tests.cli.program import Done, Home
from tests.live import live

Calls: TypeAlias = Callable[..., Done]


@asynccontextmanager
async def engine(folder: Path) -> AsyncIterator[str]:
    async with live(sqlite_db_path=folder / "b.sqlite") as running:
        yield running.url


@pytest.fixture
def aster(home: Home, tmp_path: Path) -> Iterator[Calls]:
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(engine(tmp_path)) as url:
        yield lambda *args: home.call("work", *args, "--url", url)


def made(done: Done) -> str:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["item_id"]


def test_work_is_added_claimed_done_and_shown(aster: Calls) -> None:
    first = made(aster("add", "Write the parser", "--priority", "5", "--json"))
    second = made(aster("add", "Test the parser", "--after", first, "--json"))
    listed = aster("list")
    assert [line.split()[0] for line in listed.stdout.splitlines()[1:]] == [first, second], listed.stdout
    assert "waits for 1" in listed.stdout
    assert [item["item_id"] for item in json.loads(aster("list", "--ready", "--json").stdout)["items"]] == [first]
    refused = aster("claim", second)
    assert refused.returncode != 0
    assert f"it waits for {first}" in refused.stderr
    assert "in progress: ada" in aster("claim", first, "--owner", "ada").stdout
    assert aster("done", first).returncode != 0
    done = aster("done", first, "--override", "--result", "It parses.")
    assert f"Ready now: {second} Test the parser" in done.stdout
    shown = aster("show", first).stdout
    assert "It parses." in shown
    assert "overrode" in shown
    assert "[ready]" in aster("reopen", first).stdout
    assert "main" in aster("boards").stdout


def test_what_waits_for_what_is_changed_and_items_are_given_back(aster: Calls) -> None:
    first, second = (made(aster("add", name, "--json")) for name in ("a", "b"))
    assert "waits for 1" in aster("block", second, "--after", first).stdout
    assert "wait for each other" in aster("block", first, "--after", second).stderr
    assert "[ready]" in aster("unblock", second, "--after", first).stdout
    aster("claim", second)
    assert "[ready]" in aster("release", second, "--reason", "later").stdout
    assert "[deleted]" in aster("delete", second).stdout
    assert second not in aster("list").stdout
