"""Replacing replicas one by one: what a replica of the old version does when the new one has migrated the database.

The next version is played by its migration, which only adds, as all of them have to.
"""

import re
from pathlib import Path

import pytest

from aster.infra.migrations import available
from tests import postgres
from tests.cluster.replicas import Replica, replicas
from tests.live import Seen
from tests.process import Process, engine

NEXT = """
ALTER TABLE threads ADD COLUMN mood TEXT;
ALTER TABLE turns ADD COLUMN weight BIGINT NOT NULL DEFAULT 1;
CREATE TABLE moods (user_id TEXT NOT NULL, mood TEXT NOT NULL);
INSERT INTO schema_migrations VALUES (9999, '9999_moods.sql', 0);
"""
NEWS = """
INSERT INTO thread_events
SELECT thread_id, seq + 1, user_id, turn_id, 'mood_changed', grade, ts, convert_to(json_build_object(
    'type', 'mood_changed', 'task_id', 't1', 'turn_id', turn_id, 'seq', seq + 1,
    'timestamp', '2027-01-01T00:00:00.000Z', 'mood', 'bright')::text, 'UTF8')
FROM thread_events ORDER BY thread_id, seq DESC LIMIT 1;
"""
"""An event of a kind that only the next version knows, at the end of the first thread."""
_TAKES_AWAY = re.compile(r"\b(DROP\s+(TABLE|COLUMN)|RENAME|ALTER\s+COLUMN|SET\s+NOT\s+NULL)\b", re.IGNORECASE)
_DEMANDS = re.compile(r"ADD\s+COLUMN[^;]*NOT\s+NULL(?![^;,]*DEFAULT)", re.IGNORECASE)


async def test_a_replica_goes_on_over_a_newer_schema_and_is_not_started_on_it(
    upstream: Process, database_url: str, tmp_path: Path
) -> None:
    async with replicas(tmp_path, upstream.url, database_url) as (old, leaving):
        assert phases(await old.execute("[[text=5]] Before.", "t1"))[-1] == "completed"
        for statements in (NEXT, NEWS):
            postgres.server().run(statements, database_url.rsplit("/", 1)[1])
        for replica in (old, leaving):
            assert phases(await replica.execute("[[text=5]] During.", "t1"))[-1] == "completed"
        assert "mood_changed" in await thread(old, "t1")
        question = '[[text=5 tools=1 tool=ask_user input={"question":"Shall I?"}]] Ask.'
        assert phases(await leaving.execute(question, "t2"))[-1] == "suspended"
        await leaving.process.stop()
        answer = await old.http.post("/hitl/respond", json={"task_id": "t2", "answer": "yes"})
        assert answer.status_code == 200, answer.text
        assert '"phase":"completed"' in await thread(old, "t2")
        (tmp_path / "late").mkdir()
        late = engine(tmp_path / "late", upstream.url, DATABASE_URL=database_url)
        with pytest.raises(AssertionError, match="The brain is at version 9999"):
            await late.up()


async def thread(replica: Replica, task_id: str) -> str:
    """Everything on a thread until its turn has ended, as a client reads it."""
    async with replica.http.stream("GET", "/execute/replay", params={"task_id": task_id, "after_seq": 0}) as rest:
        return (await rest.aread()).decode()


def phases(frames: list[Seen]) -> list[str]:
    return [frame.data["phase"] for frame in frames if frame.event == "thread_lifecycle"]


@pytest.mark.parametrize("package", ["aster.brain.sqlite.migrations", "aster.brain.postgres.migrations"])
def test_migrations_only_add(package: str) -> None:
    for migration in available(package):
        assert not _TAKES_AWAY.search(migration.sql), f"{migration.name} takes something from the older version"
        assert not _DEMANDS.search(migration.sql), f"{migration.name} demands what the older version does not write"
