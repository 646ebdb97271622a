"""Work that nothing is to be done about: what a look at schedules costs that are not due, and what an idle engine that
has many of them, and many items of work, uses of the processor.

Both are measured in process, on a real file and on a real PostgreSQL, whose own processor time counts too, beside the
same engine without any: the ratio is the claim. On PostgreSQL it is one engine: what replicas do to watch each other
they do with and without work.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import median
from time import monotonic, process_time
from typing import Any, NamedTuple

from aster.contracts.schedules import CronTrigger, ScheduleSpec
from aster.contracts.work import WorkDraft
from aster.engine_core.engine import Engine
from aster.engine_core.scheduled_turns import clock
from aster.engine_core.schedules import desk
from aster.infra.settings import Settings
from aster.testing.postgres import PostgresServer
from benchmarks.figures import Figure
from benchmarks.replicas import family_seconds
from benchmarks.scale import Scale

SCHEDULES = 1_000
ITEMS = 10_000
VERY_MANY = 10_000
USERS = 50
AT_ONCE = 200
LOOKS = 200
ROUNDS = 5
IDLE_SECONDS = 5.0
_ONCE_A_YEAR = ScheduleSpec(trigger=CronTrigger(cron="0 9 1 1 *"), prompt="Happy new year.")


class Measured(NamedTuple):
    """Microseconds of a look, and the share of a processor that is used while nothing happens."""

    look: float
    idle: float


class Ground(NamedTuple):
    """What new brains are made on, and the processor time that making and using them takes."""

    name: str
    brain: Callable[[], Awaitable[dict[str, Any]]]
    spent: Callable[[], float]


async def not_due(directory: Path, scale: Scale) -> list[Figure]:
    del scale
    figures: list[Figure] = []
    for ground in (_file, _database):
        async with ground(directory) as on:
            none = await _measured(on, 0, 0)
            many = await _measured(on, SCHEDULES, ITEMS)
            very_many = await _measured(on, VERY_MANY, ITEMS)
        figures += _figures(on.name, none, many, very_many)
    return figures


def _figures(name: str, none: Measured, many: Measured, very_many: Measured) -> list[Figure]:
    look = f"{name}: a look at {VERY_MANY} that are not due"
    idle = f"{name}: processor of an idle engine with {SCHEDULES} and {ITEMS} items of work"
    return [
        Figure("schedules", f"{look} (beside: at none)", "µs", very_many.look, none.look),
        Figure("schedules", f"{look} (beside: at {SCHEDULES})", "µs", very_many.look, many.look),
        Figure("schedules", f"{idle} (beside: with none)", "%", many.idle, none.idle),
    ]


@asynccontextmanager
async def _file(directory: Path) -> AsyncIterator[Ground]:
    async def brain() -> dict[str, Any]:
        made = directory / f"brain-{len(list(directory.glob('brain-*')))}"
        made.mkdir(parents=True)
        return {"sqlite_db_path": made / "brain.sqlite"}

    yield Ground("SQLite", brain, process_time)


@asynccontextmanager
async def _database(directory: Path) -> AsyncIterator[Ground]:
    directory.chmod(0o755)
    server = PostgresServer(directory / "postgres")
    await server.start()
    names = iter(range(1000))

    async def brain() -> dict[str, Any]:
        return {"database_url": await server.create(f"brain_{next(names)}"), "runner": "local"}

    try:
        yield Ground("PostgreSQL", brain, lambda: process_time() + family_seconds(server.pid))
    finally:
        await server.stop()


async def _measured(on: Ground, schedules: int, items: int) -> Measured:
    chosen = {"schedules_per_user": VERY_MANY, "work_items_max": ITEMS, **await on.brain()}
    engine = Engine(Settings.model_validate({"llm_provider": "demo", "sandbox": "off", **chosen}))
    await engine.start()
    try:
        await _filled(engine, schedules, items)
        looking, costs = clock(engine.services, engine.coordinator), list[float]()
        for _ in range(ROUNDS):
            began = on.spent()
            for _ in range(LOOKS):
                await looking.tick()
            costs.append((on.spent() - began) / LOOKS * 1e6)
        began, since = on.spent(), monotonic()
        await asyncio.sleep(IDLE_SECONDS)
        return Measured(median(costs), (on.spent() - began) / (monotonic() - since) * 100)
    finally:
        await engine.stop()


async def _filled(engine: Engine, schedules: int, items: int) -> None:
    """So many of each, spread over the users; half of the items wait for another one."""

    async def of(user_id: str) -> None:
        for _ in range(schedules // USERS):
            await desk(engine.services).create(user_id, _ONCE_A_YEAR)
        for first in range(0, items // USERS, AT_ONCE):
            drafts = [
                WorkDraft(subject=f"item {at}", name=f"n{at}", blocked_by=(f"n{at - 1}",) if at % 2 else ())
                for at in range(first, min(first + AT_ONCE, items // USERS))
            ]
            await engine.services.work.person(user_id).create(drafts)

    await asyncio.gather(*(of(f"user-{number}") for number in range(USERS)))
