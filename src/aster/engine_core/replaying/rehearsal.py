"""A rehearsal: a recording played from beginning to end on an engine of its own, for the tests that `aster export-test`
writes.

It needs no network and no key: the model is the recording itself, over the loopback, and no tool runs. With
ASTER_TEST_MODEL in the environment a real model is asked in its place, as the usual settings say.
"""

import asyncio
import os
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Final, NamedTuple

from aster.brain.records import ThreadKey
from aster.contracts.replay import Recording, ReplayReport, ReplayWish
from aster.engine_core.engine import Engine
from aster.engine_core.replaying import exporting, recorded
from aster.infra.settings import Settings, load
from aster.testing.playback import playback

MODEL: Final = "ASTER_TEST_MODEL"
"""The variable that names a model to be asked in place of the recording."""
USER: Final = "default"


class Rehearsed(NamedTuple):
    """What was called, in order, and what was answered; `report` has the rest."""

    calls: list[tuple[str, dict[str, Any]]]
    answer: str
    report: ReplayReport


def rehearse(path: Path, directory: Path) -> Rehearsed:
    """Play the recording in this file, with an engine that keeps everything in this directory."""
    return asyncio.run(_rehearsed(exporting.opened(path.read_bytes()), directory))


async def _rehearsed(made: Recording, directory: Path) -> Rehearsed:
    async with AsyncExitStack() as parts:
        asked = os.environ.get(MODEL)
        if asked:
            named = {name: value for name, value in os.environ.items() if name.startswith("LLM_")}
            settings = load(named, None, **_own(directory), llm_model=asked)
        else:
            server = await parts.enter_async_context(playback(made))
            model = {
                "llm_provider": "openai_compatible",
                "llm_base_url": f"{server.url}/v1",
                "llm_model": made.model or "recorded",
            }
            settings = Settings.model_validate({**_own(directory), **model})
        engine = Engine(settings)
        await engine.start()
        parts.push_async_callback(engine.stop)
        await exporting.take_in(engine.services, USER, made)
        report = await engine.replays.run(USER, ReplayWish(task_id=made.task_id, turn_id=made.turn_id))
        key = ThreadKey(USER, report.replay_task_id)
        played = exporting.expected(await recorded.load(engine.brain, key, report.replayed.turn_id))
        return Rehearsed(played.calls, played.answer, report)


def _own(directory: Path) -> dict[str, Any]:
    """Nothing is shared with an engine that works on this machine, and no tool could do anything."""
    return {
        "sqlite_db_path": directory / "brain.sqlite",
        "sandbox": "off",
        "time_zone": "off",
        "drain_seconds": 0.0,
        "memory_enabled": False,
    }
