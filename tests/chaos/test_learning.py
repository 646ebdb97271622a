"""`kill -9` anywhere in draining, a batch, a dream, a trial and a revert, many times: after each the engine is started
again and goes on.

In the end everything that happened was learned from, everything that was learned was learned once, nothing is there by
halves, and when all of it is taken back memory is, byte for byte, what it was.
"""

import asyncio
import os
import random
import signal
import sqlite3
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import httpx2
import pytest

from aster.brain.moving.file_copy import damages
from tests.chaos.faults import VAULT_KEY
from tests.chaos.school import SETTINGS, WORKS, Chapter, Pupil, School, check
from tests.process import Process, engine

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(1800)]


class Killing:
    """Kills an engine at moments that chance has chosen, and remembers what they hit."""

    def __init__(self, host: Process, school: School, brain: Path, chance: random.Random, kills: int) -> None:
        self.left = kills
        self.hit: Counter[str] = Counter()
        self._host, self._school, self._brain, self._chance = host, school, brain, chance

    async def learning(self, works: Sequence[str]) -> None:
        """Begin to learn, and be killed meanwhile: at any moment, or a little after a model was asked."""
        pupil, asked = Pupil(self._host.url), sum(self._school.asked.values())
        began = time.monotonic()
        await pupil.begin(works)
        wanted = self._chance.choice((0, 1, 2, 5, 9) if "trials" in works else (0, 1, 1, 1))
        while sum(self._school.asked.values()) < asked + wanted and time.monotonic() - began < 1.5:
            await asyncio.sleep(0.005)
        await asyncio.sleep(self._chance.uniform(0.0, 0.3))
        await self._kill()
        self.hit[await self._under_way()] += 1

    async def reverting(self, changeset_id: str) -> None:
        """Take a changeset back and be killed meanwhile; then do it again."""
        pupil, path = Pupil(self._host.url), f"/learning/changesets/{changeset_id}/revert"
        asking = asyncio.create_task(pupil.ask("POST", path, {}))
        await asyncio.sleep(self._chance.uniform(0.0, 0.03))
        await self._kill()
        await asyncio.gather(asking, return_exceptions=True)
        self.hit["revert"] += 1
        await pupil.ask("POST", path, {}, good=(200, 422))

    async def _kill(self) -> None:
        self.left -= 1
        await self._host.kill()
        with sqlite3.connect(self._brain) as db:
            assert damages(db) == []
        db.close()
        await self._host.up()

    async def _under_way(self) -> str:
        """What was begun and not ended."""
        with sqlite3.connect(f"file:{self._brain}?mode=ro", uri=True) as db:
            found = db.execute(
                "SELECT json_extract(data, '$.work'), json_extract(data, '$.phase') FROM thread_events"
                " WHERE type = 'learning_update' ORDER BY seq DESC LIMIT 1"
            ).fetchone()
        db.close()
        return str(found[0]) if found and found[1] == "started" else "between"


async def test_nothing_is_learned_twice_or_by_halves(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    kills = int(request.config.getoption("--chaos-kills") or 1)
    seed = int(request.config.getoption("--chaos-seed") or time.time())
    print(f"\nchaos seed {seed}, {kills} kills")
    chance = random.Random(seed)
    school = School(chance)
    async with school.server:
        host = engine(tmp_path, school.server.url, **SETTINGS)
        await host.up()
        try:
            killing = Killing(host, school, tmp_path / "brain.sqlite", chance, kills)
            number = again = 0
            while killing.left > 0:
                again += await one_chapter(host.url, Chapter(number), killing, chance)
                number += 1
        except BaseException:
            print((tmp_path / "engine.log").read_text()[-5000:])
            raise
        finally:
            await host.stop()
    print(
        f"{number} chapters, {again} entries read again; killed in {dict(killing.hit)}; asked {dict(school.asked)}"
    )
    if kills >= 12:
        assert all(killing.hit[work] for work in WORKS), "not every work was hit: the test does not test"


async def one_chapter(url: str, chapter: Chapter, killing: Killing, chance: random.Random) -> int:
    """Say something, learn it under fire, look whether it adds up, and take it back."""
    pupil = Pupil(url)
    await pupil.attend(chapter)
    before = await pupil.exported()
    row: Sequence[Sequence[str]] = (*(["batch"],) * 3, *(["dream"],) * 3, *(["trials"],) * 3, WORKS)
    for works in row:
        if killing.left > 0:
            await killing.learning(works)
        if works == ["batch"] and chance.random() < 0.2:
            await pupil.ask("POST", "/learning/run", {"works": works})
    again = await pupil.finish()
    await check(pupil, chapter)
    for one in await pupil.changesets():
        if one["status"] != "applied":
            continue
        if killing.left > 0 and chance.random() < 0.4:
            await killing.reverting(one["changeset_id"])
        else:
            await pupil.ask("POST", f"/learning/changesets/{one['changeset_id']}/revert", {})
    for one in await pupil.changesets():
        assert all(item["status"] in ("reverted", "refused") for item in one["items"]), one
    assert await pupil.exported() == before
    return again


async def test_what_one_replica_began_another_ends(tmp_path: Path, database_url: str) -> None:
    """Two replicas: one stands still in the middle of a batch until the other has done it, and is killed in the middle
    of a trial."""
    chance, chapter = random.Random(7), Chapter(0)
    school = School(chance, 0.4)
    async with school.server:
        settings = {
            **SETTINGS,
            "DATABASE_URL": database_url,
            "AD_ENCRYPTION_KEY": VAULT_KEY,
            "HEARTBEAT_SECONDS": "1",
            "REPLICA_SILENCE_SECONDS": "2",
        }
        one, other = (engine(tmp_path, school.server.url, **settings) for _ in range(2))
        try:
            await asyncio.gather(one.up(), other.up())
            first, second = Pupil(one.url), Pupil(other.url)
            await first.attend(chapter)
            before = await second.exported()
            await first.begin(["batch"])
            await _asked(school, "batch")
            os.kill(one.pid, signal.SIGSTOP)
            async with asyncio.timeout(150):
                while await second.entries("waiting"):
                    await second.ask("POST", "/learning/run", {"works": ["batch"]})
                    await asyncio.sleep(1.0)
            os.kill(one.pid, signal.SIGCONT)
            await asyncio.sleep(1.0)
            await _reached(first)
            await first.begin(["trials"])
            await _asked(school, "answer", school.asked["answer"] + 3)
            await one.kill()
            await second.finish()
            await check(second, chapter)
            for changeset in await second.changesets():
                if changeset["status"] == "applied":
                    await second.ask("POST", f"/learning/changesets/{changeset['changeset_id']}/revert", {})
            assert await second.exported() == before
        except BaseException:
            print((tmp_path / "engine.log").read_text()[-5000:])
            raise
        finally:
            await one.kill()
            await other.kill()


async def _asked(school: School, what: str, times: int = 1) -> None:
    async with asyncio.timeout(30):
        while school.asked[what] < times:
            await asyncio.sleep(0.005)


async def _reached(pupil: Pupil) -> None:
    """A replica that stood still is there again."""
    async with asyncio.timeout(30):
        while True:
            try:
                await pupil.ask("GET", "/learning")
                return
            except (httpx2.HTTPError, AssertionError):
                await asyncio.sleep(0.2)
