"""A process that is killed around a commit leaves all of a changeset or nothing, and its entries are done exactly when
it is there."""

import asyncio
import random
import signal
import sys
from pathlib import Path

import pytest

from aster.brain.postgres.brain import PostgresBrain
from aster.brain.protocol import Brain
from aster.brain.sqlite.brain import SqliteBrain
from tests.brain.learned import NOW, ended

ROUNDS = 5
ENTRIES = 40

LEARNER = """
import asyncio, sys
from pathlib import Path
from aster.brain.postgres.brain import PostgresBrain
from aster.brain.sqlite.brain import SqliteBrain
from aster.infra.ids import new_id
from tests.brain.learned import NOW, Drawn, claim_of, fact

async def main(place, now):
    brain = PostgresBrain(place, readers=1) if place.startswith("postgresql:") else SqliteBrain(Path(place))
    await brain.start()
    print("up", flush=True)
    while found := await brain.learning.claim(holder := new_id("h"), now=now, until=now + 10, limit=1):
        turn = found[0].turn_id
        drawn = Drawn(f"c-{turn}")
        for at in range(3):
            drawn.write(fact(f"{turn} said {at}", "Ada", f"p{at}"))
        drawn.add("trial", kind="lesson", fields={"trigger": turn})
        await brain.learning.commit(
            drawn.changeset, apply=True, claim=claim_of(holder, found), now=now, rows=drawn.rows
        )
    print("done", flush=True)
    await asyncio.sleep(60)

asyncio.run(main(sys.argv[1], int(sys.argv[2])))
"""


def opened(place: str) -> Brain:
    return PostgresBrain(place) if place.startswith("postgresql:") else SqliteBrain(Path(place))


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
async def test_a_killed_learner_loses_and_doubles_nothing(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    place = str(tmp_path / "brain.sqlite") if kind == "sqlite" else request.getfixturevalue("database_url")
    brain = opened(place)
    await brain.start()
    for at in range(ENTRIES):
        await ended(brain, f"t{at}", task_id=f"task-{at}")
    await brain.close()
    chance, ended_well = random.Random(7), False
    for at in range(ROUNDS + 1):
        learner = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", LEARNER, place, str(NOW + at * 100)), stdout=asyncio.subprocess.PIPE
        )
        assert learner.stdout is not None
        assert await learner.stdout.readline() == b"up\n"
        if at == ROUNDS:
            assert await learner.stdout.readline() == b"done\n"
            ended_well = True
        else:
            await asyncio.sleep(chance.uniform(0, 0.06))  # a moment to be in the middle of something
        learner.send_signal(signal.SIGKILL)
        await learner.wait()
    assert ended_well
    brain = opened(place)
    await brain.start()
    entries = await brain.learning.entries("ada", limit=99)
    changesets = await brain.learning.changesets("ada", limit=99)
    assert {entry.state for entry in entries} == {"done"}
    assert sorted(entry.changeset_id for entry in entries) == sorted(one.changeset_id for one in changesets)
    assert len(changesets) == ENTRIES
    assert all([item.status for item in one.items] == ["applied"] * 4 for one in changesets)
    facts = await brain.memory.since("ada", 0, 999)
    assert len(facts) == len({one.text for one in facts}) == 3 * ENTRIES
    assert len(await brain.learning.open_trials()) == ENTRIES
    await brain.close()
