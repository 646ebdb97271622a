"""A whole engine on a real loopback port, inside the test's own process, and a client that hides nothing.

`async with live(model) as engine:` starts it on a brain of its own; everything a test does goes over HTTP. Give
`sqlite_db_path` to start again on the same brain. Models are not told the time unless a test gives a `time_zone`, so
that they are told what the test says and nothing else. With TEST_BRAIN=postgres in the environment every brain is a
database in place of its file, so that any test can be run on both.
"""

import json
import os
import tempfile
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import httpx2

from aster.engine_core.engine import Engine
from aster.infra.clock import now_ms
from aster.infra.settings import Settings
from aster.server.listener import listening
from aster.testing import ModelServer


class Seen(NamedTuple):
    """One frame as a client saw it."""

    id: int | None
    event: str
    data: dict[str, Any]
    raw: bytes


class Stream:
    """An open event stream: iterate it, or read on until something has happened."""

    def __init__(self, response: httpx2.Response) -> None:
        self.response = response
        self.headers = response.headers
        self.seen: list[Seen] = []
        self._chunks = response.aiter_raw()
        self._rest = b""

    def __aiter__(self) -> AsyncIterator[Seen]:
        return self._frames()

    async def _frames(self) -> AsyncGenerator[Seen, None]:
        while (frame := await self.next()) is not None:
            yield frame

    async def next(self) -> Seen | None:
        """The next frame; None when the stream is over."""
        while b"\n\n" not in self._rest:
            chunk = await anext(self._chunks, None)
            if chunk is None:
                assert not self._rest, f"the stream ended within a frame: {self._rest!r}"
                return None
            self._rest += chunk
        raw, self._rest = self._rest.split(b"\n\n", 1)
        self.seen.append(parse(raw + b"\n\n"))
        return self.seen[-1]

    async def until(self, event: str, **fields: Any) -> Seen:
        """Read on to the next frame of this type with these fields."""
        while (frame := await self.next()) is not None:
            if frame.event == event and all(frame.data.get(name) == value for name, value in fields.items()):
                return frame
        raise AssertionError(f"no {event} {fields} in {[frame.event for frame in self.seen]}")

    async def rest(self) -> list[Seen]:
        """Read to the end; all frames of this stream."""
        async for _ in self:
            pass
        return self.seen


def parse(raw: bytes) -> Seen:
    fields = dict(line.split(": ", 1) for line in raw.decode().strip("\n").split("\n"))
    number = fields.get("id")
    return Seen(int(number) if number else None, fields["event"], json.loads(fields["data"]), raw)


def text_of(frames: list[Seen]) -> str:
    """What the model said, as far as these frames tell."""
    return "".join(frame.data["text"] for frame in frames if frame.event == "text_delta")


@dataclass(slots=True)
class Live:
    """A running engine and an HTTP client for it."""

    url: str
    engine: Engine
    http: httpx2.AsyncClient

    @asynccontextmanager
    async def stream(
        self, method: str, path: str, *, key: str | None = None, **request: Any
    ) -> AsyncGenerator[Stream, None]:
        headers = {**request.pop("headers", {}), **({"X-Engine-Key": key} if key else {})}
        async with self.http.stream(method, path, headers=headers, **request) as response:
            if response.status_code != 200:
                await response.aread()
            yield Stream(response)

    def executing(self, message: str, task_id: str = "t1", *, key: str | None = None, **body: Any) -> Any:
        """The open stream of a turn: `async with engine.executing("hi") as stream:`."""
        return self.stream("POST", "/execute", key=key, json={"message": message, "task_id": task_id, **body})

    def replaying(self, *, key: str | None = None, headers: dict[str, str] | None = None, **params: Any) -> Any:
        return self.stream("GET", "/execute/replay", key=key, params=params, headers=headers or {})

    async def execute(self, message: str, task_id: str = "t1", **body: Any) -> list[Seen]:
        """Run a turn to its end; every frame of its stream."""
        async with self.executing(message, task_id, **body) as stream:
            assert stream.response.status_code == 200, stream.response.text
            return await stream.rest()

    async def replay(self, **params: Any) -> list[Seen]:
        async with self.replaying(**params) as stream:
            assert stream.response.status_code == 200, stream.response.text
            return await stream.rest()


@asynccontextmanager
async def live(model: ModelServer | None = None, **overrides: Any) -> AsyncGenerator[Live, None]:
    """Run an engine with these settings, asking this model server, until the block ends; `clock` times circuits,
    `now` tells the day."""
    clock: Callable[[], float] = overrides.pop("clock", time.monotonic)
    now: Callable[[], int] = overrides.pop("now", now_ms)
    asked = {"llm_provider": "openai", "llm_base_url": f"{model.url}/v1"} if model else {"llm_provider": "demo"}
    with tempfile.TemporaryDirectory(prefix="aster-live-") as directory:
        usual = {
            "port": 0,
            "sandbox": "off",
            "drain_seconds": 0.0,
            "time_zone": "off",
            "sqlite_db_path": Path(directory) / "brain.sqlite",
        }
        chosen = {**usual, **asked, **overrides}
        if os.environ.get("TEST_BRAIN") == "postgres":
            from tests.postgres import server

            chosen.setdefault("runner", "local")
            chosen.setdefault("database_url", server().of(chosen["sqlite_db_path"]))
        engine = Engine(Settings.model_validate(chosen), clock=clock, now=now)
        key = engine.settings.engine_api_key
        headers = {"X-Engine-Key": key.get_secret_value()} if key else {}
        async with (
            listening(engine) as place,
            httpx2.AsyncClient(base_url=place.url, headers=headers, timeout=20, trust_env=False) as http,
        ):
            yield Live(place.url, engine, http)
