"""A board whose engine works in a git repository: real git, real files, a scripted model."""

import subprocess
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, TypeAlias

from aster.testing import ModelServer, Reply, Rule, Text, ToolCall
from tests.live import Live, Seen, live
from tests.work.graph.boards import Board

Planted: TypeAlias = Callable[..., AbstractAsyncContextManager["Forest"]]


def git(place: Path, *arguments: str) -> str:
    """What a person's own git says there."""
    identity = ("-c", "user.name=ada", "-c", "user.email=ada@localhost", "-c", "safe.directory=*")
    done = subprocess.run(
        ("git", *identity, *arguments), cwd=place, check=True, capture_output=True, text=True, timeout=60
    )
    return done.stdout.strip()


def sample(place: Path) -> Path:
    """A repository with a commit."""
    place.mkdir(parents=True, exist_ok=True)
    git(place, "init", "--quiet", "--initial-branch=main")
    (place / "main.py").write_text("print('old')\n")
    (place / ".gitignore").write_text("*.log\n")
    git(place, "add", ".")
    git(place, "commit", "--quiet", "-m", "first")
    return place


class Forest(Board):
    """`root` is the repository that the engine works in."""

    def __init__(self, engine: Live, model: ModelServer, root: Path) -> None:
        super().__init__(engine, model)
        self.root = root

    async def plant(self, name: str, item_id: str, **body: Any) -> tuple[int, dict[str, Any]]:
        answer = await self.http.post("/worktrees", json={"name": name, "item_id": item_id, **body})
        return answer.status_code, answer.json()

    async def planted(self, name: str, subject: str = "Dig") -> tuple[str, dict[str, Any]]:
        """An item with a worktree."""
        (item,) = await self.ids(subject)
        status, tree = await self.plant(name, item)
        assert status == 201, tree
        return item, tree

    async def tree(self, worktree_id: str) -> dict[str, Any]:
        answer = await self.http.get(f"/worktrees/{worktree_id}")
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def remove(self, worktree_id: str, **body: Any) -> str:
        """`removed`, or why not."""
        answer = await self.http.post(f"/worktrees/{worktree_id}/remove", json=body)
        return answer.json()["status"] if answer.is_success else answer.json()["details"]["reason"]

    async def calls(self, *calls: tuple[str, dict[str, Any]], task_id: str = "t1") -> list[dict[str, Any]]:
        """The results of calls that a model makes one after the other in one turn."""
        frames = await self.turn(*calls, task_id=task_id)
        return [frame.data for frame in frames if frame.event == "tool_result"]

    async def turn(self, *calls: tuple[str, dict[str, Any]], task_id: str = "t1") -> list[Seen]:
        """Every frame of such a turn."""
        self.model.script(scripted(*calls))
        return await self.engine.execute("go", task_id)

    def worktree(self, name: str) -> Path:
        return self.root / ".aster" / "worktrees" / name


def scripted(*calls: tuple[str, dict[str, Any]], last: Any = None) -> list[Rule]:
    """One call after the other, then an answer."""
    rules = [
        Rule(Reply([ToolCall(tool, given, id=f"c{at}")]), match="^go", round=at)
        for at, (tool, given) in enumerate(calls)
    ]
    return [*rules, Rule(last or Reply([Text("Well.")]))]


def events(frames: list[Seen], name: str) -> list[dict[str, Any]]:
    return [frame.data for frame in frames if frame.event == name]


@asynccontextmanager
async def forest(root: Path, **settings: Any) -> AsyncGenerator[Forest]:
    async with ModelServer() as model, live(model, allowed_roots=str(root), **settings) as engine:
        yield Forest(engine, model, root)
