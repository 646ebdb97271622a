"""What the engine runs with, and who asks."""

from pathlib import Path

from aster.server import keys
from aster.testing import ModelServer
from tests.live import Live, live


async def test_it_tells_who_asks_who_answers_and_what_agents_may_see(model: ModelServer, tmp_path: Path) -> None:
    async with live(model, allowed_roots=str(tmp_path)) as engine:
        told = (await engine.http.get("/about")).json()
        settings = engine.engine.settings
        assert (told["operator"], told["user_id"]) == (True, "default")
        assert (told["provider"], told["model"]) == (settings.llm_provider, engine.engine.herald.endpoint.model)
        assert (told["workspace"], told["folders"]) == ("folders", [str(tmp_path)])
        assert told["own_servers"] is settings.mcp_user_servers
        assert (told["memory_enabled"], told["max_turns"]) == (settings.memory_enabled, settings.max_turns)


async def test_the_limits_of_providers_are_told_to_the_operator_alone(engine: Live) -> None:
    engine.engine.herald.nodes[0].quota.learn(
        {
            "x-ratelimit-limit-requests": "60",
            "x-ratelimit-remaining-requests": "59",
            "x-ratelimit-reset-requests": "1s",
        }
    )
    ada = keys.create(engine.engine.settings.sqlite_db_path, "guest", "ada").key
    while (answer := await engine.http.get("/about", headers={"X-Engine-Key": ada})).status_code != 200:
        pass
    assert (answer.json()["user_id"], answer.json()["operator"], answer.json()["quotas"]) == ("ada", False, [])
    [window] = (await engine.http.get("/about")).json()["quotas"]
    assert (window["name"], window["limit"], window["remaining"]) == ("requests", 60, 59)


async def test_an_engine_that_works_alone_is_its_only_replica(engine: Live) -> None:
    [only] = (await engine.http.get("/replicas")).json()["replicas"]
    assert (only["leads"], only["answers"]) == (True, True)
    assert only["replica"] == (await engine.http.get("/about")).json()["replica"]


async def test_it_needs_a_key(engine: Live) -> None:
    answer = await engine.http.get("/about", headers={"X-Engine-Key": "wrong"})
    assert (answer.status_code, answer.json()["error"]) == (401, "INVALID_KEY")
