"""A database that is away: `/health` says so at once, so that no balancer and no probe takes an engine for dead."""

import asyncio
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx2

from aster.testing.postgres import PostgresServer
from tests.deploy.reading import engine_container
from tests.process import Process, engine


async def test_an_engine_without_its_database_is_degraded_and_not_dead(upstream: Process, tmp_path: Path) -> None:
    patience = engine_container()["readinessProbe"]["timeoutSeconds"]
    with tempfile.TemporaryDirectory(prefix="aster-pg-") as directory:
        Path(directory).chmod(0o755)
        database = PostgresServer(Path(directory), fsync="off")
        await database.start()
        host = engine(tmp_path, upstream.url, DATABASE_URL=database.url(), EMBEDDINGS_PROVIDER="off")
        try:
            await host.up()
            async with httpx2.AsyncClient(base_url=host.url, timeout=patience, trust_env=False) as client:
                assert (await parts(client))["brain"]["ok"]
                await database.crash()
                for _ in range(5):
                    began = time.monotonic()
                    found = await parts(client)
                    assert time.monotonic() - began < patience
                    assert (found["brain"]["ok"], found["memory"]["ok"]) == (False, False)
                    assert found["brain"]["problem"]
                await database.start()
                async with asyncio.timeout(20):
                    while not all(part["ok"] for part in (await parts(client)).values()):
                        await asyncio.sleep(0.1)
        finally:
            await host.kill()
            await database.stop()


async def parts(client: httpx2.AsyncClient) -> dict[str, Any]:
    answer = await client.get("/health")
    assert answer.status_code == 200, answer.text
    return answer.json()["subsystems"]
