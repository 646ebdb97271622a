"""`aster learning`: for people and for programs."""

import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeAlias

import pytest
from anyio.from_thread import start_blocking_portal

from aster.testing import ModelServer, Reply, Rule, Text
from tests.cli.program import Done, Home
from tests.learning_centre.worker import Worker
from tests.live import live

NOTHING = "There is nothing to learn from.\n"
Calls: TypeAlias = Callable[..., Done]


@asynccontextmanager
async def learning(folder: Path) -> AsyncIterator[str]:
    """The address of an engine that has a worker model, and proposes what it learns."""
    worker = Worker()
    async with (
        worker.server,
        ModelServer([Rule(Reply([Text("All right.")]))]) as model,
        live(
            model,
            llm_pool_worker=f"{worker.server.url}/v1|worker",
            task_titles=False,
            embeddings_provider="off",
            lc_review=True,
            sqlite_db_path=folder / "b.sqlite",
        ) as engine,
    ):
        yield engine.url


@pytest.fixture
def aster(home: Home, tmp_path: Path) -> Iterator[Calls]:
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(learning(tmp_path)) as url:
        yield lambda *args: home.call(*args, "--url", url)


def test_what_was_learned_is_shown_decided_and_taken_back(aster: Calls) -> None:
    assert aster("learning", "run", "batch").stdout == NOTHING
    for said in ("I live in Porto, by the river.", "From now on answer in metric units."):
        assert aster("run", said).returncode == 0
    state = aster("learning").stdout
    assert "Learning: auto (by itself, after you accept it)" in state
    assert "Waiting: 2 of what happened" in state

    ran = json.loads(aster("learning", "run", "batch", "--json").stdout)["runs"][0]
    name = ran["changeset_id"]
    shown = aster("learning", "show", name).stdout
    assert "+ location: Porto" in shown
    assert '"I live in Porto" (task-' in shown
    assert name in aster("learning", "changesets", "--status", "proposed").stdout
    assert "rejected" in aster("learning", "reject", name, "--place", "1").stdout
    assert "[applied]" in aster("learning", "accept", name).stdout
    assert "location: Porto" in aster("learning", "learned").stdout
    assert json.loads(aster("learning", "trials", "--json").stdout)["trials"] == []

    wrong = aster("learning", "revert")
    assert (wrong.returncode, "Name a changeset" in wrong.stderr) == (1, True)
    night = json.loads(aster("learning", "show", name, "--json").stdout)["night"]
    assert aster("learning", "revert", "--night", night).stdout.endswith(f"Took back 1 changesets of {night}.\n")
    assert "location" not in aster("learning", "learned").stdout
    assert aster("learning", "revert", name).returncode == 1


def test_a_run_may_be_left_to_itself(aster: Calls) -> None:
    assert aster("learning", "run", "--no-wait").stdout.startswith("Begun;")
    assert aster("learning", "run", "nap").returncode == 1


def test_self_play_is_shown_refused_and_stopped(aster: Calls) -> None:
    shown = aster("learning", "self-play").stdout
    assert "Self-play is off. Start the engine with SELF_PLAY=true." in shown
    assert "regex_parse" in shown
    assert json.loads(aster("learning", "self-play", "--json").stdout)["clusters"][0]["tier"] == "basic"
    refused = aster("learning", "self-play", "begin", "--cluster", "sql", "--wait")
    assert refused.returncode != 0
    assert "SELF_PLAY=true" in refused.stderr
    assert aster("learning", "self-play", "stop").stdout == "Stopped.\n"
