"""Is the engine well?"""

import httpx2

from aster.testing import Failure, ModelServer, Reply, Text
from tests.live import Live, live


async def test_a_well_engine(engine: Live) -> None:
    body = (await engine.http.get("/health")).json()
    assert (body["status"], body["version"]) == ("ok", "0.1.0")
    assert body["uptime_seconds"] >= 0
    assert set(body["subsystems"]) == {"brain", "llm", "sandbox", "slots", "memory", "learning"}
    assert all(part["ok"] for part in body["subsystems"].values())
    assert body["subsystems"]["slots"] == {"ok": True, "used": 0, "total": 512}
    memory = body["subsystems"]["memory"]
    assert memory["embedding_model"].startswith("all-MiniLM-L6-v2-int8/")
    assert (memory["pending_vectors"], memory["warm"]) == (0, True)


async def test_a_model_that_fails_makes_it_degraded_until_it_answers_again(model: ModelServer, task: str) -> None:
    async with live(model) as engine:
        model.enqueue(Failure(kind="authentication"), Reply([Text("ok")]))
        await engine.execute("hi", task)
        answer = await engine.http.get("/health")
        assert (answer.status_code, answer.json()["status"]) == (200, "degraded")
        assert answer.json()["subsystems"]["llm"]["problem"]
        await engine.execute("hi", task)
        assert (await engine.http.get("/health")).json()["status"] == "ok"


async def test_it_says_nothing_secret(engine: Live) -> None:
    async with httpx2.AsyncClient(base_url=engine.url, trust_env=False) as anyone:
        said = (await anyone.get("/health")).text
    assert str(engine.engine.settings.sqlite_db_path) not in said
    assert engine.http.headers["x-engine-key"] not in said
