"""Changing the key while others work: whatever is under way, every credential can be opened afterwards."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

from aster.asset_directory.vault import Kept, Vault
from aster.brain.assets import ConnectionRow
from aster.infra.secrets import Secrets
from aster.testing import ModelServer
from tests.asset_directory.server import made, serving
from tests.live import live

ROWS = 250


@asynccontextmanager
async def held_up(address: str, reached: asyncio.Event, go: asyncio.Event) -> AsyncGenerator[str]:
    """An address whose connections wait for `go` before they lead to another one."""
    place = urlsplit(address)
    ways: list[asyncio.Task[None]] = []

    async def along(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
        writer.close()

    async def met(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        reached.set()
        await go.wait()
        back, out = await asyncio.open_connection(place.hostname, place.port)
        ways.extend((asyncio.create_task(along(reader, out)), asyncio.create_task(along(back, writer))))

    server = await asyncio.start_server(met, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}{place.path}"
    finally:
        server.close()
        for way in ways:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)


async def test_rotations_at_the_same_time_lose_nothing(model: ModelServer, tmp_path: Path) -> None:
    async with live(model, sqlite_db_path=tmp_path / "brain.sqlite") as aster:
        settings, brain = aster.engine.settings, aster.engine.brain
        sealed = Vault(settings, Secrets()).seal(Kept(headers={"Authorization": "Bearer word"}))
        rows = [
            ConnectionRow(
                ref_id=f"conn-{number:03}",
                user_id=f"u{number}",
                server_name="fix",
                status="connected",
                scopes=b"[]",
                created_at=0,
                updated_at=0,
                credentials=sealed,
            )
            for number in range(ROWS)
        ]
        await brain.put(*rows)
        first = asyncio.create_task(aster.http.post("/assets/rotate-key"))
        while (await brain.sealed(f"conn-{ROWS - 40:03}", 1))[0].credentials == sealed:
            await asyncio.sleep(0)
        answers = [await aster.http.post("/assets/rotate-key"), await first]
        done = [answer.json() for answer in answers]
        assert [(one["renewed"] + one["current"], one["lost"]) for one in done] == [(ROWS, 0)] * 2
        vault = Vault(settings, Secrets())
        kept = [vault.open(one.credentials) for one in await brain.sealed("", ROWS)]
        assert {one.headers["Authorization"] for one in kept} == {"Bearer word"}
        assert len((tmp_path / "assets.key").read_text().split(",")) == 1


async def test_what_is_being_connected_is_under_the_new_key(
    model: ModelServer, catalog: Callable[..., Path], tmp_path: Path
) -> None:
    reached, go = asyncio.Event(), asyncio.Event()
    async with serving(made()) as address, held_up(address, reached, go) as slow:
        places = catalog(fix={"url": slow, "auth_method": "static"})
        async with live(model, sqlite_db_path=tmp_path / "brain.sqlite", catalog_dir=places) as aster:
            given = {"server_name": "fix", "credentials": {"headers": {"Authorization": "Bearer word"}}}
            connecting = asyncio.create_task(aster.http.post("/assets/connect", json=given))
            await reached.wait()
            assert (await aster.http.post("/assets/rotate-key")).json()["lost"] == 0
            go.set()
            assert (await connecting).json()["status"] == "connected"
            assert (await aster.http.post("/assets/rotate-key")).json() == {"renewed": 1, "current": 0, "lost": 0}
