"""`aster work trees|tree|keep|remove`: for people and for programs."""

import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeAlias

import pytest
from anyio.from_thread import start_blocking_portal

from tests.cli.program import Done, Home
from tests.live import live
from tests.work.worktrees.forest import sample

Calls: TypeAlias = Callable[..., Done]


@asynccontextmanager
async def engine(folder: Path) -> AsyncIterator[str]:
    root = sample(folder / "repository")
    async with live(sqlite_db_path=folder / "b.sqlite", allowed_roots=str(root)) as running:
        yield running.url


@pytest.fixture
def aster(home: Home, tmp_path: Path) -> Iterator[Calls]:
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(engine(tmp_path)) as url:
        yield lambda *args: home.call("work", *args, "--url", url)


def test_a_worktree_is_made_kept_and_removed(aster: Calls, tmp_path: Path) -> None:
    item = json.loads(aster("add", "Write the parser", "--json").stdout)["item_id"]
    made = aster("tree", "parser", item)
    assert made.returncode == 0, made.stderr
    tree = made.stdout.split()[0]
    assert "wt/parser" in made.stdout
    listed = aster("trees").stdout
    assert (tree in listed, item in listed) == (True, True)
    assert "[kept]" in aster("keep", tree).stdout
    refused = aster("remove", tree)
    assert refused.returncode != 0
    assert "complete or delete it first" in refused.stderr
    aster("delete", item)
    place = tmp_path / "repository" / ".aster" / "worktrees" / "parser"
    (place / "new.txt").write_text("new")
    assert "new.txt" in aster("remove", tree).stderr
    gone = aster("remove", tree, "--discard")
    assert "The branch wt/parser is kept." in gone.stdout
    assert json.loads(aster("trees", "--status", "removed", "--json").stdout)["worktrees"][0]["worktree_id"] == tree
    assert not place.exists()
