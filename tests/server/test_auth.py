"""Keys at the door: who gets in, as whom, and for how long."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
import pytest_asyncio

from aster.contracts.errors import EngineError, ErrorCode
from aster.infra.settings import Settings
from aster.server import keys
from aster.server.auth import engine_hash, hash_key, presented
from tests.live import Live, live
from tests.server.conftest import KEY

OLD, NEW = "the-old-key", "the-new-key"


async def knock(engine: Live, **headers: str) -> tuple[int, str | None]:
    async with httpx2.AsyncClient(base_url=engine.url, trust_env=False) as anyone:
        answer = await anyone.get("/tasks", headers=headers)
    return answer.status_code, answer.json().get("error")


@pytest.mark.parametrize(
    "headers",
    [
        {"X-Engine-Key": KEY},
        {"Authorization": f"Bearer {KEY}"},
        {"Authorization": f"bearer  {KEY}"},
        {"X-Ghost-Key": KEY},
    ],
)
async def test_the_key_opens_in_any_of_three_headers(engine: Live, headers: dict[str, str]) -> None:
    assert await knock(engine, **headers) == (200, None)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"X-Engine-Key": ""},
        {"X-Engine-Key": "wrong"},
        {"X-Engine-Key": hash_key(KEY)},
        {"Authorization": f"Basic {KEY}"},
        {"Authorization": KEY},
        {"X-Engine-Key": "wrong", "X-Ghost-Key": KEY},
    ],
)
async def test_anything_else_does_not(engine: Live, headers: dict[str, str]) -> None:
    assert await knock(engine, **headers) == (401, "INVALID_KEY")


async def test_a_refusal_says_how_to_authenticate(engine: Live) -> None:
    answer = await engine.http.get("/tasks", headers={"X-Engine-Key": "wrong"})
    assert answer.headers["www-authenticate"].startswith("Bearer")
    assert answer.json()["retry"] == "never"


@pytest.mark.parametrize(
    ("method", "path"), [("POST", "/execute"), ("GET", "/nowhere"), ("PUT", "/tasks"), ("GET", "/openapi.json")]
)
async def test_the_key_comes_before_everything_else(engine: Live, method: str, path: str) -> None:
    answer = await engine.http.request(method, path, content=b"{not json", headers={"X-Engine-Key": "wrong"})
    assert (answer.status_code, answer.json()["error"]) == (401, "INVALID_KEY")


async def test_health_needs_no_key(engine: Live) -> None:
    async with httpx2.AsyncClient(base_url=engine.url, trust_env=False) as anyone:
        assert (await anyone.get("/health")).status_code == 200


def test_headers_are_read_in_order() -> None:
    both = {b"authorization": b"Bearer second", b"x-engine-key": b"first", b"x-ghost-key": b"third"}
    assert presented(both) == b"first"
    assert presented({b"authorization": b"Bearer second", b"x-ghost-key": b"third"}) == b"second"
    assert presented({b"authorization": b"Basic xyz", b"x-ghost-key": b"third"}) == b"third"
    assert presented({}) is None


def test_two_different_keys_in_the_settings_are_a_mistake() -> None:
    same = Settings.model_validate({"engine_api_key": "a", "engine_key_hash": hash_key("a")})
    assert engine_hash(same) == hash_key("a")
    with pytest.raises(EngineError) as refused:
        engine_hash(Settings.model_validate({"engine_api_key": "a", "engine_key_hash": hash_key("b")}))
    assert refused.value.code is ErrorCode.CONFIGURATION_INVALID


async def test_a_hash_in_the_settings_is_enough() -> None:
    async with live(engine_key_hash=hash_key(NEW)) as engine:
        assert await knock(engine, **{"X-Engine-Key": NEW}) == (200, None)
        assert await knock(engine) == (401, "INVALID_KEY")


@pytest.mark.parametrize("value", ["0" * 64, hash_key("")])
async def test_no_key_is_never_the_key_whatever_hash_is_set(value: str) -> None:
    async with live(engine_key_hash=value) as engine:
        assert await knock(engine) == (401, "INVALID_KEY")
        assert await knock(engine, **{"X-Engine-Key": ""}) == (401, "INVALID_KEY")


async def test_a_named_key_counts_and_stops_counting_within_a_second(engine: Live) -> None:
    brain = engine.engine.settings.sqlite_db_path
    made = keys.create(brain, "laptop", "ada")
    await changed(engine, made.key, (200, None))
    keys.revoke(brain, "laptop")
    await changed(engine, made.key, (401, "INVALID_KEY"))


async def changed(engine: Live, key: str, expected: tuple[int, str | None]) -> None:
    """Ask until the answer is as expected; it has to be within the time a key may be remembered."""
    for _ in range(2000):
        if await knock(engine, **{"X-Engine-Key": key}) == expected:
            return
    raise AssertionError(f"the engine never answered {expected}")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def keyless() -> AsyncIterator[Live]:
    async with live() as running:
        yield running


class TestOpenDoor:
    async def test_without_any_key_this_machine_gets_in(self, keyless: Live) -> None:
        assert await knock(keyless) == (200, None)
        assert await knock(keyless, **{"X-Engine-Key": "whatever"}) == (200, None)

    @pytest.mark.parametrize("host", ["evil.example", "evil.example:8000", "localhost.evil.example", ""])
    async def test_under_a_loopback_name_only(self, keyless: Live, host: str) -> None:
        assert await knock(keyless, Host=host) == (403, "ORIGIN_REFUSED")

    async def test_a_rebound_page_is_not_its_own_origin(self, keyless: Live) -> None:
        refused = await knock(keyless, Host="evil.example", Origin="http://evil.example")
        assert refused == (403, "ORIGIN_REFUSED")

    async def test_the_first_named_key_closes_it_and_revoking_it_does_not_open_it_again(self) -> None:
        async with live() as engine:
            brain = engine.engine.settings.sqlite_db_path
            made = keys.create(brain, "laptop")
            await changed(engine, "", (401, "INVALID_KEY"))
            assert await knock(engine, **{"X-Engine-Key": made.key}) == (200, None)
            keys.revoke(brain, "laptop")
            await changed(engine, made.key, (401, "INVALID_KEY"))
            assert await knock(engine) == (401, "INVALID_KEY")


class TestRotation:
    async def rotated(
        self, tmp_path: Path, **settings: Any
    ) -> tuple[tuple[int, str | None], tuple[int, str | None]]:
        """What the old and the new key are answered after a restart with the new one."""
        brain = tmp_path / "brain.sqlite"
        async with live(sqlite_db_path=brain, engine_api_key=OLD) as engine:
            assert await knock(engine, **{"X-Engine-Key": OLD}) == (200, None)
        async with live(sqlite_db_path=brain, engine_api_key=NEW, **settings) as engine:
            return await knock(engine, **{"X-Engine-Key": OLD}), await knock(engine, **{"X-Engine-Key": NEW})

    async def test_within_the_least_overlap_both_work(self, tmp_path: Path) -> None:
        answers = await self.rotated(tmp_path, bap_key_rotation_min_overlap_seconds=60)
        assert answers == ((200, None), (200, None))

    async def test_until_the_most_the_old_one_is_told_to_change(self, tmp_path: Path) -> None:
        assert await self.rotated(tmp_path) == ((401, "KEY_ROTATION_PENDING"), (200, None))

    async def test_then_it_is_just_wrong(self, tmp_path: Path) -> None:
        answers = await self.rotated(tmp_path, bap_key_rotation_max_overlap_seconds=0)
        assert answers == ((401, "INVALID_KEY"), (200, None))

    async def test_a_restart_with_the_same_key_changes_nothing(self, tmp_path: Path) -> None:
        brain = tmp_path / "brain.sqlite"
        for _ in range(2):
            async with live(sqlite_db_path=brain, engine_api_key=NEW):
                pass
        (row,) = keys.listing(brain)
        assert (row.name, row.user_id, row.retired_at) == ("engine", "default", None)

    async def test_going_back_to_an_earlier_key_makes_it_the_key_again(self, tmp_path: Path) -> None:
        brain = tmp_path / "brain.sqlite"
        for key in (OLD, NEW, OLD):
            async with live(sqlite_db_path=brain, engine_api_key=key) as engine:
                assert await knock(engine, **{"X-Engine-Key": key}) == (200, None)
        live_rows = [row for row in keys.listing(brain) if row.retired_at is None]
        assert [row.key_hash for row in live_rows] == [hash_key(OLD)]

    async def test_taking_the_key_away_retires_it(self, tmp_path: Path) -> None:
        brain = tmp_path / "brain.sqlite"
        async with live(sqlite_db_path=brain, engine_api_key=OLD):
            pass
        keys.create(brain, "laptop")
        async with live(sqlite_db_path=brain, bap_key_rotation_max_overlap_seconds=0) as engine:
            assert await knock(engine, **{"X-Engine-Key": OLD}) == (401, "INVALID_KEY")

    async def test_named_keys_rotate_by_the_same_rules(self, tmp_path: Path) -> None:
        brain = tmp_path / "brain.sqlite"
        old = keys.create(brain, "laptop", "ada")
        new = keys.rotate(brain, "laptop")
        async with live(sqlite_db_path=brain) as engine:
            assert await knock(engine, **{"X-Engine-Key": old.key}) == (401, "KEY_ROTATION_PENDING")
            assert await knock(engine, **{"X-Engine-Key": new.key}) == (200, None)

    async def test_the_engines_own_key_is_not_for_the_key_commands(self, tmp_path: Path) -> None:
        brain = tmp_path / "brain.sqlite"
        async with live(sqlite_db_path=brain, engine_api_key=KEY):
            for command in (keys.revoke, keys.rotate):
                with pytest.raises(EngineError, match="settings"):
                    command(brain, "engine")
