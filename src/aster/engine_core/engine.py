"""The engine: its parts, put together once, started in order and stopped in reverse."""

import asyncio
import logging
import os
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

import httpx2

from aster import __version__
from aster.asset_directory.agreement import agree
from aster.asset_directory.credentials import StoredCredentials
from aster.asset_directory.directory import AssetDirectory
from aster.asset_directory.oauth.logins import Returned
from aster.asset_directory.vault import Vault
from aster.brain.marks import MarkRow
from aster.brain.opening import brain_of
from aster.brain.protocol import Brain
from aster.brain.records import ObservabilityRow
from aster.catalog import agent_folders
from aster.catalog.catalog import Catalog
from aster.contracts.assets import Connection
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.events import Event
from aster.contracts.llm import ModelRequest
from aster.contracts.model import encode
from aster.contracts.tools import ToolDef
from aster.engine_core import gauges
from aster.engine_core.agents.profile import SPAWN
from aster.engine_core.agents.roster import Roster
from aster.engine_core.budget import Budgets
from aster.engine_core.chores import Chores
from aster.engine_core.connectors import login
from aster.engine_core.connectors.toolset import Connectors
from aster.engine_core.context.layers import instructions
from aster.engine_core.context.prompt import Prompts
from aster.engine_core.context.root_notes import RootNotes
from aster.engine_core.coordinator import Coordinator
from aster.engine_core.door_places import Recent
from aster.engine_core.elsewhere import Elsewhere
from aster.engine_core.files import Files
from aster.engine_core.history import History
from aster.engine_core.hooks.hooks import Hooks
from aster.engine_core.journal import Journal
from aster.engine_core.live import LiveTurns
from aster.engine_core.permissions import Permissions
from aster.engine_core.replaying.replays import Replays
from aster.engine_core.runner import LocalRunner
from aster.engine_core.services import Services
from aster.engine_core.shared_storage import complaint
from aster.engine_core.tasks import Tasks
from aster.engine_core.titles import Titles
from aster.herald import operator_facts
from aster.herald.endpoint import Endpoint
from aster.herald.local.runtime import LocalRuntime
from aster.herald.local.transport import LocalTransport
from aster.herald.pools import Pools
from aster.herald.roster import BUILT_IN
from aster.infra.clock import now_ms
from aster.infra.ids import new_id
from aster.infra.secrets import PROCESS, Secrets
from aster.infra.settings import Settings
from aster.media.desk import MediaDesk
from aster.memory.bus import MemoryBus
from aster.memory.embeddings.choice import embedder, made_by
from aster.memory.embeddings.embedder import Embedder
from aster.memory.memory import Memory
from aster.raven import traces
from aster.raven.observation import Observation
from aster.raven.raven import Raven
from aster.sandbox.backend import Sandbox
from aster.sandbox.egress import with_egress, without_egress
from aster.sandbox.selection import choose
from aster.sandbox.workspaces import Workspaces
from aster.skills.shelf import Shelf
from aster.utility_directory.background import Background
from aster.utility_directory.platform_registry import Registry, platform_tools
from aster.utility_directory.spawn_agent import SpawnAgent
from aster.utility_directory.tool import Tool, ToolLimits
from aster.utility_directory.tool_runtime import ToolRuntime
from aster.work.graph.graph import WorkGraph
from aster.work.projects.projects import Projects
from aster.work.uses import Uses
from aster.work.worktrees.trees import Worktrees

if TYPE_CHECKING:
    from aster.engine_core.cluster.replica import Replica

log = logging.getLogger("aster.engine")

OPERATOR = "operator"
CATALOG = "catalog"
"""The mark that names the reading of the catalog that was asked for last."""


class Engine:
    """Made from settings; usable between `start` and `stop`. `clock` is what circuits are timed by, `now` tells
    the day whose prices and budgets hold."""

    assets: AssetDirectory
    background: Background
    brain: Brain
    connectors: Connectors
    herald: Pools
    sandbox: Sandbox
    raven: Raven
    budgets: Budgets
    memory: Memory
    coordinator: Coordinator
    permissions: Permissions
    agents: Roster
    services: Services
    skills: Shelf
    tasks: Tasks
    places: Recent
    files: Files

    def __init__(
        self,
        settings: Settings,
        *,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], int] = now_ms,
    ) -> None:
        self.settings = settings
        self._clock = clock
        self._now = now
        self.started_at_ms = now_ms()
        self.leaving = False
        self.secrets = Secrets(parent=PROCESS)
        self.local: LocalRuntime | None = None
        self._parts = AsyncExitStack()
        self._counts = {"suspended": 0, "pending": 0, "waiting": 0}

    @property
    def draining(self) -> bool:
        return self.coordinator.draining

    async def start(self) -> None:
        """Open the brain, bring it up to date, and take up what was running."""
        try:
            await self._start()
        except BaseException:
            await self._parts.aclose()
            raise

    async def _start(self) -> None:
        settings = self.settings
        self._register_secrets()
        operator_facts.adopt(settings.model_facts_path)
        endpoint = await self._endpoint()
        self.brain = brain_of(settings)
        applied = await self.brain.start()
        self._parts.push_async_callback(self.brain.close)
        self._watch()
        vectors = embedder(settings)
        journal = await self._remember(vectors)
        if applied:
            self.raven.note("migration", "info", "the brain was migrated", applied=applied)
        self.agents = Roster(settings, self.brain, {})
        self.skills = Shelf(settings, self.brain, self.secrets)
        self._catalog = Catalog(settings, platform_tools(settings, vectors, self.skills))
        self._catalog_mark = (await self.brain.marks()).get(CATALOG, "")
        tools = await self._current_tools()
        self.herald = Pools(
            settings,
            endpoint,
            lambda row: self.brain.put(row).add_done_callback(_checked),
            transport=self._local_model(endpoint, tools.definitions),
            clock=self._clock,
        )
        self._parts.push_async_callback(self.herald.close)
        self.herald.restore(await self.brain.quota_windows())
        self.sandbox = with_egress(await choose(settings), settings, self.raven.note, self.secrets)
        self._parts.callback(self.sandbox.close)
        self.budgets = await self._money()
        runtime = self._runtime = ToolRuntime(tools, self.secrets)
        workspaces = Workspaces(settings, self.sandbox)
        worktrees = Worktrees(self.brain, settings, without_egress(self.sandbox), workspaces)
        connectors = await self._assets(runtime, workspaces, vectors)
        self.permissions = Permissions(settings, self.brain, connectors, workspaces, self.sandbox)
        self.background = await self._commands()
        self.services = Services(
            settings=settings,
            brain=self.brain,
            herald=self.herald,
            tools=runtime,
            sandbox=self.sandbox,
            workspaces=workspaces,
            root_notes=RootNotes(settings, workspaces, self.sandbox, self.secrets),
            limits=ToolLimits.of(settings),
            raven=self.raven,
            history=History(self.brain),
            budgets=self.budgets,
            secrets=self.secrets,
            permissions=self.permissions,
            hooks=Hooks(settings),
            background=self.background,
            memory=self.memory,
            bus=MemoryBus(self.memory),
            journal=journal,
            media=self._desk(),
            prompts=Prompts(self.brain),
            skills=self.skills,
            connectors=connectors,
            agents=self.agents,
            uses=Uses(self.brain.work),
            work=WorkGraph(self.brain, settings, self.secrets, worktrees),
            worktrees=worktrees,
            projects=Projects(self.brain, settings, self.secrets),
            now=self._now,
        )
        await self._serve(self.services)

    def _watch(self) -> None:
        settings = self.settings
        self.raven = Raven(
            self._observe,
            version=__version__,
            slow_tool_seconds=settings.slow_tool_seconds,
            traces=traces.connect(settings.otel_exporter_otlp_endpoint, version=__version__),
        )
        self._parts.push_async_callback(asyncio.to_thread, self.raven.close)

    async def _serve(self, services: Services) -> None:
        """Begin to run turns: those that were running when the engine stopped, then new ones."""
        live = LiveTurns()
        replica = await self._replica()
        await self.background.recover(alone=replica is None or services.settings.runner == "local")
        settings = services.settings
        runner = LocalRunner(settings.task_slots, settings.user_slots) if replica is None else replica.runner
        self.coordinator = Coordinator(services, runner, live, Titles(services))
        self.tasks = Tasks(services, live)
        self.replays = Replays(services, self.coordinator)
        self.places = services.places
        self.files = Files(services, live)
        self.raven.bind_redactions(self.secrets.counts, PROCESS.counts)
        gauges.bind(self.raven, self.brain, self.coordinator, self.herald, lambda: self._counts)
        if (problem := await complaint(self.brain, services.settings)) is not None:
            self.raven.note("storage_apart", "warning", problem)
        elsewhere = Elsewhere(services, self._follow_catalog)
        elsewhere.start()
        self._parts.push_async_callback(elsewhere.close)
        await self.coordinator.recover()
        if replica is not None:
            await replica.serve(services, self.coordinator, live)
        await self._log_in_again()
        chores = Chores(services, runner, self.coordinator)
        chores.start()
        self._parts.push_async_callback(chores.close)

    async def _replica(self) -> "Replica | None":
        """This process among those that share its database; None when the brain is a file of its own."""
        if self.settings.database_url is None:
            if self.settings.runner == "dbos":
                message = "RUNNER=dbos needs a database that replicas share: set DATABASE_URL."
                raise EngineError(ErrorCode.CONFIGURATION_INVALID, message)
            return None
        from aster.engine_core.cluster.replica import Replica

        replica = Replica(self.settings, self.settings.database_url.get_secret_value(), self.brain)
        await replica.join()
        self._parts.push_async_callback(replica.close)
        return replica

    def _register_secrets(self) -> None:
        settings = self.settings
        self.secrets.shapes = PROCESS.shapes = settings.secret_patterns == "on"  # noqa: S105
        for name, secret in settings.secrets.items():
            self.secrets.register(secret.get_secret_value(), name)
        self.secrets.register_environment(os.environ)

    async def drain(self, seconds: float | None = None) -> bool:
        """Stop admitting, let turns reach a safe boundary, end background commands, then send clients away; says
        whether all turns did in time."""
        done = await self.coordinator.drain(self.settings.drain_seconds if seconds is None else seconds)
        await self.background.close()
        self.leaving = True
        self.brain.fanout.wake_all()
        return done

    async def stop(self) -> None:
        """Drain what has not been drained, then close every part."""
        if hasattr(self, "coordinator"):
            await self.drain()
        await self._parts.aclose()

    @property
    def tools(self) -> tuple[Tool, ...]:
        """What everybody's models may call at this moment."""
        return self._runtime.registry.tools

    async def tools_of(self, user_id: str) -> tuple[Tool, ...]:
        """What a user's models may call at this moment."""
        await self.connectors.look_up(user_id)
        return self.connectors.tools(user_id).registry.tools

    async def reload_catalog(self) -> None:
        """Read the catalog again; turns use it from their next model call on. One that is wrong changes nothing."""
        await self._reload_catalog()
        self._catalog_mark = new_id("catalog")
        await self.brain.put(MarkRow(name=CATALOG, value=self._catalog_mark, updated_at=now_ms()))

    async def _reload_catalog(self) -> None:
        registry = await self._current_tools()
        await self.assets.reload()
        self._runtime.registry = registry
        self.raven.note("catalog_reloaded", "info", "the catalog was read again", tools=len(self.tools))

    async def _follow_catalog(self) -> None:
        """Read the catalog again if that was asked for on another replica since."""
        asked = (await self.brain.marks()).get(CATALOG, "")
        if asked == self._catalog_mark:
            return
        self._catalog_mark = asked
        try:
            await self._reload_catalog()
        except EngineError as error:
            message = f"the catalog was to be read again, and the one before stays in force: {error.message}"
            self.raven.note("catalog_refused", "error", message)

    async def _current_tools(self) -> Registry:
        """The tools as the catalog is now; a skill in it that is wrong is left out and noted."""
        registry = await asyncio.to_thread(self._read_catalog)
        for folder, problem in self.skills.problems:
            self.raven.note(
                "skill_refused", "warning", f"the skill in {folder} is left out: {problem}", folder=folder
            )
        return registry

    def _read_catalog(self) -> Registry:
        with self.skills.loaded():
            registry, found = self._catalog.load(), agent_folders.read(self.settings)
        self.agents.catalog = found
        if registry.get(SPAWN) is None:
            return registry
        return registry.replaced(SpawnAgent((kept.agent.name, kept.agent.description) for kept in found.values()))

    async def measure(self) -> bytes:
        """All metrics as they are now, in the Prometheus text format."""
        self._counts = await self.brain.counts()
        return self.raven.render()

    async def _endpoint(self) -> Endpoint | None:
        settings = self.settings
        if settings.llm_pool_foreground and settings.llm_provider in BUILT_IN:
            return None
        if settings.llm_provider != "demo":
            return Endpoint.from_settings(settings)
        from aster.testing import ModelServer

        server = await self._parts.enter_async_context(ModelServer())
        return Endpoint.openai_compatible(f"{server.url}/v1", "demo")

    def _local_model(
        self, endpoint: Endpoint | None, tools: tuple[ToolDef, ...]
    ) -> httpx2.AsyncBaseTransport | None:
        """Start the engine's own model, if that is who answers; the way to it."""
        if endpoint is None or endpoint.protocol != "local_chat":
            return None
        prefix = ModelRequest(model="", system=instructions(endpoint, self.settings), messages=(), tools=tools)
        self.local = LocalRuntime(self.settings, prefix)
        self.local.start()
        self._parts.push_async_callback(self.local.stop)
        return LocalTransport(self.local)

    async def _remember(self, vectors: Embedder | str) -> Journal:
        """Memory, and the journal that turns leave in it."""
        most = self.settings.memory_in_process_records
        self.memory = Memory(self.brain.memory, self.secrets, vectors, made_by, most=most)
        await self.memory.start()
        self._parts.push_async_callback(self.memory.close)
        self._parts.callback(self.brain.changes.watch(self.memory.elsewhere))
        return Journal(self.memory, self.settings)

    def _desk(self) -> MediaDesk:
        """Where everything attached to messages passes."""
        identity, reads_pdf = self.sandbox.identity, self.herald.reads_pdf
        return MediaDesk(self.settings, self.memory, self.secrets, identity, reads_pdf=reads_pdf)

    async def _assets(self, tools: ToolRuntime, workspaces: Workspaces, vectors: Embedder | str) -> Connectors:
        """MCP servers, and what of them each user may call."""
        settings, vault = self.settings, Vault(self.settings, self.secrets)
        await agree(self.brain, vault)
        credentials = StoredCredentials(vault, self.secrets)
        self.assets = AssetDirectory(settings, self.brain, self.sandbox, workspaces, vault, credentials)
        await self.assets.start()
        self._parts.push_async_callback(self.assets.close)
        self.connectors = Connectors(self.assets, tools, self.secrets, vectors, settings.mcp_tools_tokens)
        return self.connectors

    async def log_in(self, returned: Returned, user_id: str | None = None) -> Connection:
        """Finish a person's login to a server, and let the calls go on that waited for it."""
        owner, connection = await self.assets.desk.finish(returned, user_id)
        self.raven.note("asset_connected", "info", "a person has logged in", server=connection.server_name)
        await login.go_on(self.brain, self.coordinator.answer, owner, connection)
        return connection

    async def _log_in_again(self) -> None:
        """Let calls go on whose login was finished when the engine stopped."""
        for user_id in await self.brain.users_asked(login.KIND):
            for connection in await self.assets.connections(user_id):
                await login.go_on(self.brain, self.coordinator.answer, user_id, connection)

    async def _money(self) -> Budgets:
        """The limits that were set, and what calls under way may cost."""
        budgets = Budgets(self.settings, self.brain, self._now)
        await budgets.load()
        await budgets.holding.start()
        self._parts.push_async_callback(budgets.holding.close)
        return budgets

    async def _commands(self) -> Background:
        """What runs behind turns."""
        background = Background(self.settings, self.brain, self.secrets)
        self._parts.push_async_callback(background.close)
        return background

    def _observe(self, seen: Observation) -> None:
        row = ObservabilityRow(
            event_id=seen.event_id,
            user_id=seen.user_id or OPERATOR,
            kind=seen.kind,
            level=seen.level,
            message=seen.message,
            created_at=seen.created_at,
            task_id=seen.task_id,
            turn_id=seen.turn_id,
            request_id=seen.request_id,
            data=None if seen.data is None else encode(seen.data),
        )
        self.brain.put(row).add_done_callback(_checked)


def _checked(done: "asyncio.Future[list[Event]]") -> None:
    if not done.cancelled() and done.exception() is not None:
        log.error("an observation could not be kept: %s", done.exception())
