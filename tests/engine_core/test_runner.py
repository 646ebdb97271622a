"""One suite for both runners: slots, order, cancelling, stopping, chores; then what only replicas have."""

import asyncio
import gc
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import psycopg
import pytest
from sqlalchemy.exc import OperationalError

from aster.brain.records import ThreadKey, TurnRecord
from aster.contracts.errors import ErrorCode
from aster.engine_core.cluster.dbos_runner import DbosRunner
from aster.engine_core.cluster.membership import Membership
from aster.engine_core.runner import LocalRunner, Runner
from aster.infra.ids import new_id
from tests import postgres

ADA, BOB = "ada", "bob"
KEY = ThreadKey(ADA, "t1")


def turn(turn_id: str, user_id: str = ADA, epoch: int = 1) -> TurnRecord:
    return TurnRecord(
        turn_id=turn_id,
        task_id="t1",
        user_id=user_id,
        status="running",
        segment=0,
        first_seq=1,
        started_at=1,
        epoch=epoch,
    )


class House:
    """Takes in what it is offered, if there is room."""

    def __init__(self, refusals: int = 0) -> None:
        self.taken: asyncio.Queue[TurnRecord] = asyncio.Queue()
        self.refusals = refusals

    async def __call__(self, turn: TurnRecord) -> bool:
        if self.refusals:
            self.refusals -= 1
            return False
        self.taken.put_nowait(turn)
        return True


@pytest.fixture(scope="module")
def shared_url() -> Iterator[str]:
    url = postgres.server().fresh()
    yield url
    postgres.server().drop(url)


@asynccontextmanager
async def shared(url: str, house: House, slots: int = 2, per_user: int = 0) -> AsyncIterator[DbosRunner]:
    membership = Membership(url, replica := new_id("replica"), 10)
    await membership.join()
    runner = DbosRunner(slots, per_user, url, membership, replica)
    await runner.open(house)
    yield runner
    await runner.stop()
    await runner.close()
    await membership.leave()


async def states(url: str, turn: TurnRecord) -> set[str]:
    """What is on record about a turn in the queue."""
    sql = "SELECT status FROM aster_dbos.workflow_status WHERE workflow_uuid LIKE %s"
    async with await psycopg.AsyncConnection.connect(url) as db:
        found = await db.execute(sql, (f"turn:{turn.turn_id}:%",))
        return {status for (status,) in await found.fetchall()}


@pytest.fixture(params=["local", "dbos"])
async def runner(request: pytest.FixtureRequest) -> AsyncIterator[Runner]:
    """Two slots."""
    if request.param == "local":
        yield LocalRunner(2)
        return
    async with shared(request.getfixturevalue("shared_url"), House()) as made:
        yield made


async def test_no_more_slots_are_given_than_there_are(runner: Runner) -> None:
    assert runner.ready
    assert runner.try_slot(ADA)
    assert runner.try_slot(BOB)
    assert runner.slots == (2, 2)
    assert not runner.try_slot(ADA)
    assert runner.refusal(ADA).code is ErrorCode.SLOTS_EXHAUSTED
    runner.give_back(ADA)
    assert runner.slots == (1, 2)
    assert runner.try_slot(BOB)


async def test_whoever_waits_longest_is_next(runner: Runner) -> None:
    assert runner.try_slot(ADA)
    assert runner.try_slot(ADA)
    order: list[str] = []

    async def wait(user_id: str) -> None:
        await runner.acquire(user_id)
        order.append(user_id)

    async with asyncio.TaskGroup() as waiting:
        for user_id in ("first", "second"):
            waiting.create_task(wait(user_id))
            await asyncio.sleep(0)
        runner.give_back(ADA)
        runner.give_back(ADA)
    assert order == ["first", "second"]
    assert runner.slots == (2, 2)


async def test_one_that_gives_up_waiting_takes_no_slot(runner: Runner) -> None:
    assert runner.try_slot(ADA)
    assert runner.try_slot(ADA)
    waiting = asyncio.create_task(runner.acquire(BOB))
    granted = asyncio.create_task(runner.acquire(BOB))
    await asyncio.sleep(0)
    waiting.cancel()
    runner.give_back(ADA)
    await granted
    assert runner.slots == (2, 2)
    late = asyncio.create_task(runner.acquire(BOB))
    await asyncio.sleep(0)
    runner.give_back(ADA)
    late.cancel()
    await asyncio.gather(waiting, late, return_exceptions=True)
    assert runner.slots == (1, 2)


async def test_a_segment_runs_can_be_cancelled_and_is_waited_for(runner: Runner) -> None:
    begun, cancelled = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    assert not runner.cancel(KEY)
    assert await runner.idle(0)
    runner.start(KEY, work())
    await begun.wait()
    assert not await runner.idle(0.01)
    assert runner.cancel(KEY)
    assert await runner.idle(1)
    assert cancelled.is_set()

    runner.start(KEY, work())
    await asyncio.sleep(0)
    cancelled.clear()
    await runner.stop()
    assert cancelled.is_set()


async def test_a_chore_is_done_once_for_an_occasion(runner: Runner) -> None:
    done: asyncio.Queue[str] = asyncio.Queue()

    async def work() -> None:
        done.put_nowait("done")

    await runner.once("sweeping", occasion := new_id("day"), work)
    await asyncio.wait_for(done.get(), 10)
    if runner.shared:
        await runner.once("sweeping", occasion, work)
        await runner.once("sweeping", new_id("day"), work)
        await asyncio.wait_for(done.get(), 10)
        assert done.empty()


@pytest.mark.parametrize("kind", ["local", "dbos"])
async def test_one_user_gets_no_more_slots_than_one_user_may(kind: str, shared_url: str) -> None:
    async def check(runner: Runner) -> None:
        assert runner.try_slot(ADA)
        assert not runner.try_slot(ADA)
        assert runner.refusal(ADA).details == {"user_slots": 1}
        again = asyncio.create_task(runner.acquire(ADA))
        await asyncio.sleep(0)
        await runner.acquire(BOB)
        assert not again.done()
        runner.give_back(ADA)
        await again
        assert runner.slots == (2, 3)

    if kind == "local":
        await check(LocalRunner(3, 1))
    else:
        async with shared(shared_url, House(), slots=3, per_user=1) as runner:
            await check(runner)


async def test_what_is_offered_is_taken_in_once_and_put_back_where_there_is_no_room(shared_url: str) -> None:
    house = House(refusals=1)
    left = turn(new_id("turn"))
    async with shared(shared_url, house) as runner:
        await runner.offer(left)
        await runner.offer(left)
        assert await runner.offered(left)
        assert await asyncio.wait_for(house.taken.get(), 10) == left
        other = turn(left.turn_id, epoch=2)
        await runner.offer(other)
        assert await asyncio.wait_for(house.taken.get(), 10) == other
        assert house.taken.empty()
        assert house.refusals == 0


async def test_one_that_leaves_takes_nothing_more_but_still_offers(shared_url: str) -> None:
    house = House()
    left = turn(new_id("turn"))
    async with shared(shared_url, house) as runner:
        await runner.leave()
        await runner.offer(left)
        assert await runner.offered(left)
    assert house.taken.empty()
    assert await asyncio.to_thread(lambda: "threads still work") == "threads still work"
    async with shared(shared_url, house):
        assert await asyncio.wait_for(house.taken.get(), 10) == left


async def test_one_that_leaves_while_work_arrives_leaves_none_of_it_half_begun(shared_url: str) -> None:
    async def work() -> None:
        pass

    for moments in range(3):
        async with shared(shared_url, House()) as runner:
            for _ in range(3):
                await runner.once("sweeping", new_id("day"), work)
            await asyncio.sleep(0.07 * moments)
        gc.collect()


async def test_one_that_leaves_has_no_room_for_what_was_let_in_without_a_slot(shared_url: str) -> None:
    async with shared(shared_url, House()) as runner:
        assert await runner.room(ADA)
        await runner.leave()
        assert not await runner.room(ADA)


async def test_a_queue_that_cannot_be_reached_says_so_at_once(shared_url: str) -> None:
    house = House()
    left = turn(new_id("turn"))
    async with shared(shared_url, house) as runner:
        postgres.server().stop("immediate")
        try:
            with pytest.raises(OperationalError):
                await asyncio.wait_for(runner.offer(left), 5)
        finally:
            postgres.server().start()
        await runner.offer(left)
        assert await asyncio.wait_for(house.taken.get(), 20) == left


async def test_what_a_dead_replica_was_doing_is_freed(shared_url: str) -> None:
    left = turn(new_id("turn"))
    begun = asyncio.Event()

    class Stuck(House):
        async def __call__(self, turn: TurnRecord) -> bool:
            begun.set()
            await asyncio.Event().wait()
            return True

    async with shared(shared_url, Stuck()) as runner:
        await runner.offer(left)
        await asyncio.wait_for(begun.wait(), 10)
    house = House()
    async with shared(shared_url, house) as runner:
        assert not await runner.offered(left)

        async def all_others(replicas: set[str]) -> set[str]:
            return replicas

        assert await states(shared_url, left) == {"PENDING"}
        await runner.tidy(all_others)
        assert await states(shared_url, left) == {"CANCELLED"}


def test_an_engine_with_a_file_of_its_own_loads_nothing_for_replicas(tmp_path: Path) -> None:
    script = (
        "import asyncio, sys\n"
        "from aster.engine_core.engine import Engine\n"
        "from aster.infra.settings import Settings\n"
        f"settings = Settings.model_validate({{'sqlite_db_path': {str(tmp_path / 'brain.sqlite')!r}, 'sandbox': 'off',"
        " 'llm_provider': 'demo'})\n"
        "async def run():\n"
        "    engine = Engine(settings)\n"
        "    await engine.start()\n"
        "    await engine.stop()\n"
        "asyncio.run(run())\n"
        "print(sorted({'dbos', 'psycopg', 'sqlalchemy'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
