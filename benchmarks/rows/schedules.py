"""Schedules that are not due: what a look at them costs, and what an idle engine that has many uses of the processor.

Both are measured in process, on a real file, beside the same engine without any schedule: the ratio is the claim.
"""

import asyncio
from pathlib import Path
from statistics import median
from time import monotonic, process_time

from aster.contracts.schedules import CronTrigger, ScheduleSpec
from aster.engine_core.engine import Engine
from aster.engine_core.scheduled_turns import clock
from aster.engine_core.schedules import desk
from aster.infra.settings import Settings
from benchmarks.figures import Figure
from benchmarks.scale import Scale

MANY = 1_000
VERY_MANY = 10_000
USERS = 50
LOOKS = 200
ROUNDS = 5
IDLE_SECONDS = 5.0
_ONCE_A_YEAR = ScheduleSpec(trigger=CronTrigger(cron="0 9 1 1 *"), prompt="Happy new year.")


async def not_due(directory: Path, scale: Scale) -> list[Figure]:
    del scale
    none, _ = await _measured(directory / "none", 0)
    _, used = await _measured(directory / "many", MANY)
    many, _ = await _measured(directory / "very-many", VERY_MANY)
    return [
        Figure("schedules", f"a look at {VERY_MANY} that are not due (beside: at none)", "µs", many, none),
        Figure("schedules", f"processor of an idle engine with {MANY}", "%", used),
    ]


async def _measured(directory: Path, count: int) -> tuple[float, float]:
    """Microseconds of a look, and the share of a processor that is used while nothing happens."""
    directory.mkdir(parents=True)
    chosen = {"sqlite_db_path": directory / "brain.sqlite", "schedules_per_user": count}
    engine = Engine(Settings.model_validate({"llm_provider": "demo", "sandbox": "off", **chosen}))
    await engine.start()
    try:
        for number in range(count):
            await desk(engine.services).create(f"user-{number % USERS}", _ONCE_A_YEAR)
        looking, costs = clock(engine.services, engine.coordinator), list[float]()
        for _ in range(ROUNDS):
            began = process_time()
            for _ in range(LOOKS):
                await looking.tick()
            costs.append((process_time() - began) / LOOKS * 1e6)
        began, since = process_time(), monotonic()
        await asyncio.sleep(IDLE_SECONDS)
        return median(costs), (process_time() - began) / (monotonic() - since) * 100
    finally:
        await engine.stop()
