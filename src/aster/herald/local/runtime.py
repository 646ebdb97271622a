"""A local model kept running: weights fetched, process started, prefix read, health watched, death undone.

It starts at once and becomes ready in its own time; `state` always says where it stands. Whoever wants an answer
waits for readiness and is told every change, or learns why there is no model to wait for, what to do about it and
when to ask again. It is tried again for ever, more and more seldom, and at once when somebody asks after a pause.
"""

import asyncio
import logging
import os
import time
from collections.abc import AsyncGenerator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import httpx2
import msgspec

from aster.contracts.blocks import TextBlock
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.llm import CallWaiting, ModelRequest, ModelStage
from aster.contracts.messages import Message
from aster.herald.endpoint import Endpoint
from aster.herald.local import weights
from aster.herald.local.server import ModelProcess
from aster.herald.local.sources import SOURCES, Source, source_named
from aster.herald.protocols import PROTOCOLS
from aster.infra.settings import Settings

log = logging.getLogger("aster.local")

SMALL = "a small demo-grade model on this machine; set LLM_PROVIDER and LLM_API_KEY for a capable one"
NOT_HERE = (
    "LLM_PROVIDER=local needs the package xllamacpp: install the `local` extra (pip install "
    "'aster-engine[local]'), or set LLM_PROVIDER and LLM_API_KEY to a provider's."
)
WAYS_OUT = (
    "Set LLM_PROVIDER and LLM_API_KEY to a provider's (or LLM_BASE_URL to your own server's), LOCAL_MODEL_PATH to"
    " a GGUF file that is here, or LLM_PROVIDER=demo for a script in a model's place."
)
AGAIN_SECONDS = (60.0, 120.0, 300.0, 900.0)
"""How long a model that could not be had is left alone, the first time, the second time …; the last one stays."""

PAUSE_SECONDS = 15.0
"""Nobody who asks makes it try again sooner than this."""

_NOTICE_SECONDS = 0.5
_HEALTH_SECONDS = 15.0
_SICK_LIMIT = 3
_BACKOFF = (1.0, 2.0, 5.0)
_STEADY_SECONDS = 120.0
_WARM_SECONDS = 600.0


class Chosen(NamedTuple):
    """The weights that are served."""

    name: str
    path: Path
    context: int


class LocalRuntime:
    """Made from settings; works between `start` and `stop`. `prefix` is read once ahead of the first message."""

    def __init__(
        self,
        settings: Settings,
        prefix: ModelRequest | None = None,
        *,
        again_seconds: Sequence[float] = AGAIN_SECONDS,
        pause_seconds: float = PAUSE_SECONDS,
    ) -> None:
        if find_spec("xllamacpp") is None:
            raise EngineError(ErrorCode.CONFIGURATION_INVALID, NOT_HERE, {"LLM_PROVIDER": NOT_HERE})
        if settings.local_model and settings.local_model_path is None:
            source_named(settings.local_model)
        self.prefix = prefix
        self.state = CallWaiting(stage="loading", text="The local model is being started.")
        self.model = settings.local_model or "local"
        self.process: ModelProcess | None = None
        self.one_at_a_time = asyncio.Lock()
        self._settings = settings
        self._directory = settings.models_dir
        self._changed = asyncio.Event()
        self._noted = 0.0
        self._again_seconds = again_seconds
        self._pause_seconds = pause_seconds
        self._asked_for = asyncio.Event()
        self._gave_up = self._tries_again = 0.0
        self._work: asyncio.Task[None] | None = None

    @property
    def ready(self) -> bool:
        return self.state.stage == "ready"

    def start(self) -> None:
        self._work = asyncio.create_task(self._keep(), name="local-model")

    async def stop(self) -> None:
        if self._work is not None:
            self._work.cancel()
            await asyncio.gather(self._work, return_exceptions=True)

    @property
    def retry_after(self) -> float:
        """Seconds until asking again may help, for a model that is unavailable."""
        now = time.monotonic()
        return max(0.0, min(self._tries_again, self._gave_up + self._pause_seconds) - now)

    def wanted(self) -> None:
        """Somebody asks: a model that was given up is tried again, unless that was only just so."""
        if self.state.stage == "unavailable" and self.retry_after == 0.0:
            self._set("loading", "The local model is being tried again.")
            self._asked_for.set()

    async def waiting(self) -> AsyncGenerator[CallWaiting]:
        """Every state until the model is ready (or known not to become so)."""
        while self.state.stage not in ("ready", "unavailable"):
            changed = self._changed
            yield self.state
            await changed.wait()

    async def _keep(self) -> None:
        failures = given_up = 0
        while True:
            began = time.monotonic()
            try:
                await self._serve(await self._weights())
                reason = "The local model's process ended; it is being started again."
            except EngineError as error:
                reason = error.message
            except OSError as error:
                reason = f"The local model cannot be run: {error}."
            steady = time.monotonic() - began > _STEADY_SECONDS and self.process is not None
            failures, given_up = (1, 0) if steady else (failures + 1, given_up)
            hopeless = failures > len(_BACKOFF) or self.process is None
            self.process = None
            if hopeless:
                await self._rest(reason, self._again_seconds[min(given_up, len(self._again_seconds) - 1)])
                given_up += 1
            else:
                self._set("loading", reason)
                await asyncio.sleep(_BACKOFF[failures - 1])

    async def _rest(self, reason: str, seconds: float) -> None:
        """There is no model now: say why, and wait until it is time to try again or somebody asks."""
        self._asked_for.clear()
        self._gave_up = time.monotonic()
        self._tries_again = self._gave_up + seconds
        self._set("unavailable", f"{reason} {WAYS_OUT}")
        try:
            async with asyncio.timeout(seconds):
                await self._asked_for.wait()
        except TimeoutError:
            self._set("loading", "The local model is being tried again.")

    async def _weights(self) -> Chosen:
        """A GGUF of the operator's own, else the first model that is here, else the first that can be had."""
        settings = self._settings
        if settings.local_model_path is not None:
            path = settings.local_model_path
            if not path.is_file():
                raise weights.unavailable(f"There is no file {path}; set LOCAL_MODEL_PATH to a GGUF file.")
            return Chosen(settings.local_model or path.stem, path, settings.local_model_context)
        sources = (source_named(settings.local_model),) if settings.local_model else SOURCES
        for source in sources:
            if (here := weights.installed(source, self._directory)) is not None:
                return self._chosen(source, here)
        problems: list[str] = []
        for source in sources:
            try:
                return self._chosen(source, await self._install(source))
            except (EngineError, OSError) as error:
                problems.append(str(error))
                log.warning("the local model %s cannot be had: %s", source.id, error)
        raise weights.unavailable(
            "No local model is installed and none could be downloaded; what came is kept and the rest tried again."
            f" Check the network and run `aster model install`. ({'; '.join(problems)})"
        )

    def _chosen(self, source: Source, path: Path) -> Chosen:
        return Chosen(source.id, path, min(source.context, self._settings.local_model_context))

    async def _install(self, source: Source) -> Path:
        def report(done: int) -> None:
            whole = done >= source.size
            if whole or time.monotonic() - self._noted >= _NOTICE_SECONDS:
                verb = "Checking" if whole else "Downloading"
                text = f"{verb} {source.id}: {done / 1e6:,.0f} of {source.size / 1e6:,.0f} MB"
                self._set("verifying" if whole else "downloading", text, done, source.size)

        self.model = source.id
        return await weights.install(source, self._directory, report)

    async def _serve(self, chosen: Chosen) -> None:
        """Run the process until it ends or no longer answers."""
        self.model = chosen.name
        self._set("loading", f"Loading {chosen.name}.")
        self._directory.mkdir(parents=True, exist_ok=True)
        log_file = self._directory / "local-model.log"
        self.process = process = ModelProcess(
            chosen.path, f"local/{chosen.name}", chosen.context, log_file, _threads()
        )
        try:
            await process.start()
            await self._warm(process)
            self._set("ready", f"{chosen.name} is ready: {SMALL}.")
            sick = 0
            while sick < _SICK_LIMIT and not await process.ended(_HEALTH_SECONDS):
                sick = 0 if await process.healthy() else sick + 1
        finally:
            await process.stop()

    async def _warm(self, process: ModelProcess) -> None:
        """Let the model read what stands at the beginning of every conversation, before anybody waits for it."""
        if self.prefix is None:
            return
        self._set("warming", f"{self.model} reads its instructions.")
        greeting = Message(role="user", content=(TextBlock(text="Hi"),))
        request = msgspec.structs.replace(self.prefix, messages=(greeting,), max_tokens=1)
        path, _, body = PROTOCOLS["local_chat"].encode(request, Endpoint.local())
        try:
            await process.ask("POST", f"/v1{path}", body, _WARM_SECONDS)
        except httpx2.HTTPError as error:
            raise weights.unavailable(f"The local model does not answer: {error}") from error

    def _set(self, stage: ModelStage, text: str, done: int | None = None, total: int | None = None) -> None:
        if stage != self.state.stage:
            log.log(logging.WARNING if stage == "unavailable" else logging.INFO, "local model: %s", text)
        self.state = CallWaiting(stage=stage, text=text, done_bytes=done, total_bytes=total)
        self._noted = time.monotonic()
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()


def _threads() -> int:
    """As many as the process may use; the library would count those it may not."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
