"""Memory is one, whichever replica is asked: over HTTP, with engines in processes of their own."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from aster.testing import ModelServer
from tests import postgres
from tests.cluster.replicas import Replica, replicas

FACT = {"kind": "fact", "fields": {"subject": "Ada", "predicate": "home", "content": "Ada lives in Lisbon"}}


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        yield server


async def found(replica: Replica) -> list[str]:
    answer: Any = (await replica.http.post("/memory/search", json={"query": "where does Ada live?"})).json()
    return [hit["content"] for hit in answer["hits"]]


async def test_a_memory_is_written_here_found_there_and_forgotten_everywhere(
    model: ModelServer, database_url: str, tmp_path: Path
) -> None:
    postgres.server().run("CREATE EXTENSION vector", database_url.rsplit("/", 1)[1])
    async with replicas(tmp_path, model.url, database_url, MEMORY_IN_PROCESS_RECORDS="5000") as (a, b):
        assert await found(b) == []
        made = (await a.http.post("/memory/records", json=FACT)).json()["record"]
        assert await found(b) == ["Ada lives in Lisbon"]
        changed = {"fields": {"content": "Ada lives in Porto"}}
        assert (await b.http.patch(f"/memory/records/{made['id']}", json=changed)).is_success
        assert await found(a) == await found(b) == ["Ada lives in Porto"]
        (record,) = (await a.http.get("/memory/records")).json()["records"]
        assert (await a.http.post("/memory/forget", json={"ids": [record["id"]]})).is_success
        assert await found(a) == await found(b) == []
        for replica in (a, b):
            health: Any = (await replica.http.get("/health")).json()
            assert health["subsystems"]["memory"]["vectors"].startswith("pgvector 0.8")
            assert "5,000 records" in health["subsystems"]["memory"]["vectors"]
