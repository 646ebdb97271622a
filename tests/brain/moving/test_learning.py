"""What was learned moves with the brain, and can be taken back where it has come to."""

from pathlib import Path

import pytest

from aster.brain.moving.move import move
from aster.brain.moving.places import opened_source, opened_target
from aster.brain.postgres.brain import PostgresBrain
from aster.brain.sql.connection import Connection
from aster.brain.sqlite.brain import SqliteBrain
from tests.brain.learned import NOW, Drawn, applied, ended, exported, fact, row


def unchecked(source: Connection, target: Connection) -> int:
    return 0


@pytest.mark.parametrize("kind", ["file", "database"])
async def test_learning_moves_along(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    place, target = tmp_path / "brain.sqlite", tmp_path / "target.sqlite"
    source = SqliteBrain(place)
    await source.start()
    await source.memory.write([row(fact("in Rome", "Ada", "home", valid_from=5))])
    before = await exported(source)
    for turn_id in ("t1", "t2"):
        await ended(source, turn_id)
    lesson = {"trigger": "mail", "correct_pattern": "ask first"}
    await applied(
        source, Drawn("c1").write(fact("in Oslo", "Ada", "home")).add("trial", kind="lesson", fields=lesson)
    )
    await source.learning.keep_state("ada", "last", "1", NOW)
    shown = await source.learning.changeset("ada", "c1"), await source.learning.trial("ada", "c1-2")
    entries = await source.learning.entries("ada", limit=9)
    await source.close()
    where = str(target) if kind == "file" else request.getfixturevalue("database_url")
    with opened_source(str(place)) as old, opened_target(where) as new:
        move(old, new, unchecked, lambda what, done, of: None)
    brain = SqliteBrain(target) if kind == "file" else PostgresBrain(where)
    await brain.start()
    assert (await brain.learning.changeset("ada", "c1"), await brain.learning.trial("ada", "c1-2")) == shown
    assert await brain.learning.entries("ada", limit=9) == entries
    assert await brain.learning.state("ada", "last") == "1"
    more = await applied(brain, Drawn("c2"))
    assert more.number == 2, "numbers go on"
    await brain.learning.decide("ada", "c1", "revert", by="ada", now=NOW)
    assert await exported(brain) == before
    await brain.close()
