"""What is set aside for a call is given back, also when nobody waits for it any more."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from aster.brain.holds import Cap
from aster.brain.records import ThreadKey
from aster.brain.sqlite.brain import SqliteBrain
from aster.engine_core.holding import Holding
from aster.infra.clock import now_ms

KEY = ThreadKey("ada", "t1")
CAP = [Cap("user", 1.0)]


@pytest.fixture
async def brain(tmp_path: Path) -> AsyncIterator[SqliteBrain]:
    opened = SqliteBrain(tmp_path / "brain.sqlite")
    await opened.start()
    yield opened
    await opened.close()


async def held(brain: SqliteBrain) -> float:
    return (await brain.purse(KEY, 0, now_ms())).user_held


async def test_a_hold_is_given_back(brain: SqliteBrain) -> None:
    holding = Holding(brain)
    account = holding.account("ada")
    first = await holding.hold(KEY, "turn-1", 0.6, CAP, 0)
    assert first is not None
    assert await holding.hold(KEY, "turn-2", 0.6, CAP, 0) is None
    assert await held(brain) == 0.6
    account.freed.clear()
    holding.release(first)
    await asyncio.wait_for(account.freed.wait(), 5)
    assert await holding.hold(KEY, "turn-2", 0.6, CAP, 0) is not None
    await holding.close()


async def test_a_hold_that_nobody_waits_for_is_given_back(brain: SqliteBrain) -> None:
    holding = Holding(brain)
    account = holding.account("ada")
    asking = asyncio.create_task(holding.hold(KEY, "turn-1", 0.6, CAP, 0))
    await asyncio.sleep(0)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    await asyncio.wait_for(account.freed.wait(), 5)
    assert await held(brain) == 0.0


async def test_what_was_held_when_the_engine_died_is_free_at_the_next_start(brain: SqliteBrain) -> None:
    before = Holding(brain)
    assert await before.hold(KEY, "", 0.6, CAP, 0) is not None
    await before.close()
    after = Holding(brain)
    await after.start()
    assert await held(brain) == 0.0
