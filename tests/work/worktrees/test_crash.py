"""An engine that dies while it makes a worktree: it is made and bound, or told as failed, and never in between."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from aster.client import AsterClient
from aster.contracts.events import ThreadLifecycle, WorktreeEvent
from aster.contracts.work import WorkDraft
from tests.process import Process, engine
from tests.work.worktrees.forest import git, sample

FILES = 800


@pytest.fixture
async def large(tmp_path: Path, upstream: Process) -> AsyncIterator[tuple[Process, Path]]:
    """An engine that works in a repository which takes a while to check out."""
    root = sample(tmp_path / "repository")
    for at in range(FILES):
        (root / f"file{at}.txt").write_text("text\n" * 20)
    git(root, "add", ".")
    git(root, "commit", "--quiet", "-m", "many")
    process = engine(tmp_path, upstream.url, ALLOWED_ROOTS=str(root), SANDBOX="off")
    await process.up()
    yield process, root
    await process.kill()


async def test_one_that_was_half_made_is_finished_by_the_next_engine(large: tuple[Process, Path]) -> None:
    host, root = large
    async with AsterClient(host.url) as client:
        (item,) = await client.work.create([WorkDraft(subject="Dig")])

    async def follow() -> None:
        given = json.dumps({"name": "parser", "item_id": item.item_id})
        message = f"[[text=5 tools=1 tool=worktree_create input={given}]] Do it."
        async with AsterClient(host.url, patience=60) as client:
            async for _ in client.execute(message, "t1"):
                pass

    following = asyncio.create_task(follow())
    async with asyncio.timeout(30):
        while not (root / ".git" / "worktrees" / "parser" / "HEAD").exists():
            await asyncio.sleep(0.001)
    await host.kill()
    await host.up()
    await asyncio.wait_for(following, 60)
    async with AsterClient(host.url) as client:
        events = (await client.events("t1", limit=1000)).events
        assert isinstance(events[-1], ThreadLifecycle)
        told = [event.action for event in events if isinstance(event, WorktreeEvent)]
        (tree,) = (await client.worktrees.list()).worktrees
        bound = (await client.work.get(item.item_id)).worktree
        assert (told, tree.status, bound) in (
            (["created"], "active", "parser"),
            (["failed"], "failed", None),
        ), tree
        if tree.status == "active":
            assert git(Path(tree.path), "status", "--porcelain") == ""
            assert len(list(Path(tree.path).glob("file*.txt"))) == FILES
