"""Going through tasks page by page on a real brain."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from aster.brain.records import Place, ThreadKey
from aster.brain.sqlite.brain import SqliteBrain
from aster.contracts.errors import EngineError
from aster.contracts.events import Phase, ThreadLifecycle
from aster.infra.clock import now_ms
from aster.server.listing import changed_since, cursor_text, page, read_cursor


@pytest_asyncio.fixture(loop_scope="module")
async def brain(tmp_path: Path) -> AsyncIterator[SqliteBrain]:
    opened = SqliteBrain(tmp_path / "brain.sqlite")
    await opened.start()
    yield opened
    await opened.close()


async def begin(brain: SqliteBrain, *names: str) -> None:
    """Tasks that change in one commit, hence in one millisecond."""
    waiting = [
        brain.append(ThreadKey("ada", name), f"turn-{name}", [ThreadLifecycle(phase=Phase.STARTED)])
        for name in names
    ]
    for done in waiting:
        await done


async def walk(brain: SqliteBrain, limit: int) -> list[list[str]]:
    pages: list[list[str]] = []
    place: Place | None = None
    while True:
        found, place = await page(brain, "ada", limit=limit, before=place and read_cursor(cursor_text(place)))
        pages.append([thread.task_id for thread in found])
        if place is None:
            return pages


@pytest.mark.parametrize("limit", [1, 2, 7, 30, 31])
async def test_tasks_of_the_same_millisecond_are_all_listed_once(brain: SqliteBrain, limit: int) -> None:
    names = [f"t{number}" for number in range(30)]
    await begin(brain, *names)
    pages = await walk(brain, limit)
    assert sorted(name for shown in pages for name in shown) == sorted(names)
    assert all(len(shown) == limit for shown in pages[:-1])


async def test_a_task_that_moves_meanwhile_hides_no_other(brain: SqliteBrain) -> None:
    await begin(brain, "a", "b", "c")
    first, place = await page(brain, "ada", limit=1)
    moved = first[0].task_id
    await brain.append(ThreadKey("ada", moved), f"turn-{moved}", [ThreadLifecycle(phase=Phase.COMPLETED)])
    rest, _ = await page(brain, "ada", limit=10, before=place)
    assert {"a", "b", "c"} - {moved} <= {thread.task_id for thread in rest}


async def test_a_task_still_under_way_counts_as_changed(brain: SqliteBrain) -> None:
    await begin(brain, "long", "over")
    await brain.append(ThreadKey("ada", "over"), "turn-over", [ThreadLifecycle(phase=Phase.COMPLETED)])
    later = now_ms() + 1000
    assert [task async for task in changed_since(brain, "ada", later)] == ["long"]
    assert {task async for task in changed_since(brain, "ada", 0)} == {"long", "over"}


@pytest.mark.parametrize("text", ["x", "!!!", "W10", "eyJhIjoxfQ", "WzEsMl0", "é"])
def test_what_is_no_cursor_is_refused(text: str) -> None:
    with pytest.raises(EngineError, match="before"):
        read_cursor(text)
