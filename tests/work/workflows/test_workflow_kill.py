"""Row F1 where the engine dies in the middle of a run: the next one goes on with it, and no agent is begun twice."""

from pathlib import Path

import httpx2

from aster.testing import ModelServer
from tests.process import engine
from tests.work.workflows.conftest import REVIEW, declare
from tests.work.workflows.halves import SCRIPT, half_done, whole


async def test_f1_a_killed_engine_goes_on_with_the_run(tmp_path: Path) -> None:
    async with ModelServer(SCRIPT) as model:
        host = engine(tmp_path, model.url, CATALOG_DIR=str(declare(tmp_path, REVIEW)), ALLOWED_ROOTS="")
        await host.up()
        try:
            async with httpx2.AsyncClient(base_url=host.url, timeout=20, trust_env=False) as http:
                run_id = await half_done(http, model)
                await host.kill()
                model.release("b")
                await host.up()
                await whole(http, model, run_id)
        finally:
            await host.kill()
