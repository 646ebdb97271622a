"""Runtime tasks in a brain: one list of what works behind turns, newest first, each user's own; and messages that are
left for a busy task once."""

import pytest

from aster.brain.background import BackgroundEndRow, BackgroundRow, BackgroundStallRow
from aster.brain.protocol import Brain
from aster.brain.records import ThreadKey
from aster.brain.runtime import RuntimePlace, RuntimeShow
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.events import TaskLifecycle

KEY = ThreadKey("ada", "t1")


def begun(name: str, at: int) -> BackgroundRow:
    return BackgroundRow(
        runtime_task_id=name, turn_id="turn-1", tool_call_id="call-1", work="bash", description=name, started_at=at
    )


async def put(
    brain: Brain, *rows: BackgroundRow | BackgroundEndRow | BackgroundStallRow, key: ThreadKey = KEY
) -> None:
    await brain.append(key, None, [TaskLifecycle(phase="renamed", title="So")], rows=rows)


async def shown(brain: Brain, status: RuntimeShow | None = None, user_id: str = "ada") -> list[str]:
    return [one.runtime_id for one in await brain.runtime.tasks(user_id, limit=9, status=status)]


async def test_they_are_listed_by_what_became_of_them(brain: Brain) -> None:
    await put(brain, begun("bg-1", 1), begun("bg-2", 2), begun("bg-3", 3))
    await put(brain, begun("bg-eve", 4), key=ThreadKey("eve", "t1"))
    await put(brain, BackgroundEndRow(runtime_task_id="bg-1", status="failed", ended_at=9, exit_code=2, said=5))
    await put(brain, BackgroundStallRow(runtime_task_id="bg-2", stalled_at=8))
    assert await shown(brain) == ["bg-3", "bg-2", "bg-1"]
    assert await shown(brain, "active") == ["bg-3", "bg-2"]
    assert await shown(brain, "stalled") == ["bg-2"]
    assert await shown(brain, "running") == ["bg-3"]
    assert await shown(brain, "failed") == ["bg-1"]
    assert await shown(brain, user_id="eve") == ["bg-eve"]
    after = RuntimePlace(2, "bg-2")
    assert [one.runtime_id for one in await brain.runtime.tasks("ada", limit=9, after=after)] == ["bg-1"]
    assert await brain.runtime.tasks("ada", limit=9, kind="agent") == []
    assert await brain.runtime.tasks("ada", limit=9, task_id="t2") == []
    failed = await brain.runtime.task("ada", "bg-1")
    assert failed is not None
    assert (failed.status, failed.exit_code, failed.said, failed.key) == ("failed", 2, 5, KEY)
    assert await brain.runtime.task("ada", "bg-eve") is None
    assert await brain.runtime.last_words("ada", "bg-1") == ""


async def test_a_message_of_one_name_is_left_once(brain: Brain) -> None:
    await put(brain, begun("bg-1", 1))
    refusal = EngineError(ErrorCode.TASK_BUSY, "It was left before.")

    async def leave() -> None:
        deed = brain.runtime.leaving(KEY, "turn-9", "msg-9", refusal)
        await brain.append(KEY, None, [TaskLifecycle(phase="renamed", title="Again")], deed=deed)

    assert not await brain.runtime.taken(KEY, "turn-9", "msg-9")
    await leave()
    assert await brain.runtime.taken(KEY, "turn-9", "msg-9")
    assert not await brain.runtime.taken(ThreadKey("eve", "t1"), "turn-9", "msg-9")
    before = len(await brain.frames(KEY, 0, 100))
    with pytest.raises(EngineError, match="left before"):
        await leave()
    assert len(await brain.frames(KEY, 0, 100)) == before
