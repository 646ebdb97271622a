"""The way back through a conversation ends at the newest compaction that fits where it begins."""

from aster.brain.compaction_records import CompactionRow
from aster.brain.protocol import Brain
from aster.brain.records import ConversationRow, ThreadKey
from aster.contracts.events import TaskLifecycle

KEY = ThreadKey("ada", "t1")


def turn(number: int, follows: int | None, messages: int = 4) -> ConversationRow:
    return ConversationRow(
        turn_id=f"turn-{number}",
        messages=b"[]",
        message_count=messages,
        follows_turn_id=None if follows is None else f"turn-{follows}",
        follows_messages=None,
        created_at=number,
    )


def view(name: str, number: int, covers: int, at: int, *, ok: bool = True) -> CompactionRow:
    return CompactionRow(
        compaction_id=name, turn_id=f"turn-{number}", covers=covers, ok=ok, messages=b"[]", created_at=at
    )


async def written(brain: Brain, *rows: ConversationRow | CompactionRow) -> None:
    await brain.append(KEY, None, [TaskLifecycle(phase="renamed", title="t")], rows=rows)


async def found(brain: Brain, number: int, messages: int | None = None) -> tuple[list[str], str | None]:
    way = await brain.way_back(KEY, f"turn-{number}", messages)
    return [row.turn_id for row in way.turns], None if way.view is None else way.view.compaction_id


async def test_without_a_compaction_it_goes_to_the_root(brain: Brain) -> None:
    await written(brain, turn(1, None), turn(2, 1), turn(3, 2))
    assert await found(brain, 3) == (["turn-3", "turn-2", "turn-1"], None)
    assert await found(brain, 9) == ([], None)


async def test_it_ends_at_the_newest_that_fits(brain: Brain) -> None:
    await written(brain, turn(1, None), turn(2, 1), turn(3, 2), view("a", 2, 1, 10), view("b", 2, 3, 20))
    assert await found(brain, 3) == (["turn-3", "turn-2"], "b")
    assert await found(brain, 2, 3) == (["turn-2"], "b")
    assert await found(brain, 2, 2) == (["turn-2"], "a"), "an edit before the second sees the first"
    assert await found(brain, 2, 0) == (["turn-2", "turn-1"], None)


async def test_one_that_failed_stands_for_nothing(brain: Brain) -> None:
    await written(brain, turn(1, None), turn(2, 1), view("a", 1, 4, 10, ok=False), view("b", 2, 1, 20, ok=False))
    assert await found(brain, 2) == (["turn-2", "turn-1"], None)
    assert await brain.compaction_failures(KEY) == 2
    await written(brain, view("c", 2, 2, 30))
    assert await brain.compaction_failures(KEY) == 0
    await written(brain, view("d", 2, 2, 40, ok=False))
    assert await brain.compaction_failures(KEY) == 1


async def test_nobody_finds_those_of_others(brain: Brain) -> None:
    await written(brain, turn(1, None), view("a", 1, 2, 10))
    stranger = ThreadKey("eve", "t1")
    assert await brain.compaction("ada", "a") is not None
    assert await brain.compaction("eve", "a") is None
    assert await brain.way_back(stranger, "turn-1", None) == ([], None)
    assert await brain.compaction_failures(stranger) == 0
