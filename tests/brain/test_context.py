"""Manifests on the thread: found without the rest of it, by turn and by place, and by their owner alone."""

import sqlite3
from contextlib import closing
from pathlib import Path

from aster.brain.protocol import Brain
from aster.brain.records import ThreadKey
from aster.brain.sqlite.brain import SqliteBrain
from aster.brain.unit import Owned
from aster.contracts.events import ContextManifest, decode_event
from tests.brain.thread import KEY, begin, delta, end


async def told(brain: Brain, key: ThreadKey = KEY, **chosen: object) -> list[int]:
    found = [decode_event(data) for data in await brain.manifests(key, **chosen)]  # type: ignore[arg-type]
    return [event.step for event in found if isinstance(event, ContextManifest)]


async def test_they_are_found_by_turn_and_by_place(brain: Brain) -> None:
    seqs: list[int] = []
    for turn, steps in (("turn-1", (1, 2)), ("turn-2", (3,))):
        await begin(brain, turn_id=turn, message_id=f"message of {turn}")
        for step in steps:
            brain.emit(KEY, turn, delta("x", step=step))
            manifest = ContextManifest(step=step, entries=(), total_tokens=step)
            seqs += [event.seq for event in await brain.append(KEY, turn, [manifest], guard=Owned(turn))]
        await end(brain, turn_id=turn)
    assert await told(brain) == [1, 2, 3]
    assert await told(brain, turn_id="turn-1") == [1, 2]
    assert await told(brain, limit=2) == [2, 3]
    assert await told(brain, before=seqs[2], limit=1) == [2]
    assert await told(brain, after=seqs[0], before=seqs[2]) == [2]
    assert await told(brain, ThreadKey("somebody else", KEY.task_id)) == []
    assert await told(brain, ThreadKey(KEY.user_id, "another")) == []


async def test_the_rest_of_the_thread_is_not_read_for_them(file_brain: SqliteBrain, tmp_path: Path) -> None:
    await begin(file_brain)
    with closing(sqlite3.connect(tmp_path / "brain.sqlite")) as db:
        plan = db.execute(
            "EXPLAIN QUERY PLAN SELECT data FROM thread_events WHERE type = 'context_manifest' AND user_id = 'u'"
            " AND thread_id = 1 AND seq > 0 ORDER BY seq DESC LIMIT 5"
        ).fetchall()
    assert any("context_manifests" in str(row) for row in plan)
