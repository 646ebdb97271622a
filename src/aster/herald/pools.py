"""The pools an operator set up: who answers people, who sees images, who works behind the scenes.

A node that several pools name is one node. Images never reach a model that cannot see them by way of a pool
or of a fallback.
"""

import time
from collections.abc import Callable, Iterable

import httpx2
import msgspec

from aster.brain.records import QuotaRow
from aster.contracts.blocks import DocumentBlock, FileBlock, ImageBlock, ToolResultBlock
from aster.contracts.errors import EngineError, ErrorCode
from aster.contracts.llm import LLMResponse, ModelRequest
from aster.herald.background import Background
from aster.herald.breaker import Breaker
from aster.herald.endpoint import Endpoint
from aster.herald.gateway import CallStatus, Herald
from aster.herald.node import Node, account
from aster.herald.pool import Pool, PooledCall
from aster.herald.profiles import profile_of
from aster.herald.protocols import PROTOCOLS
from aster.herald.protocols.media import shown
from aster.herald.quota import Quota
from aster.herald.roster import PoolName, Role, endpoint_at_home, roster
from aster.herald.transport import KeepAliveTransport
from aster.infra.settings import Settings, variable


class Pools:
    """The model gateway of an engine.

    `endpoint` is LLM_PROVIDER's own; it may be None when LLM_POOL_FOREGROUND names others. `keep` is told what
    a restart should know of the providers' limits.
    """

    def __init__(
        self,
        settings: Settings,
        endpoint: Endpoint | None,
        keep: Callable[[QuotaRow], None] = lambda _: None,
        *,
        transport: httpx2.AsyncBaseTransport | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._home = endpoint
        self._keep = keep
        self._clock = clock
        self._transport = transport or KeepAliveTransport()
        self._nodes: dict[Endpoint, Node] = {}
        self._known: list[QuotaRow] = []
        self.background = Background()
        listed = self._listed("foreground") or ([self._node(endpoint)] if endpoint is not None else [])
        if not listed:
            raise _wrong("llm_pool_foreground", "Set LLM_POOL_FOREGROUND or LLM_PROVIDER to whoever answers.")
        self.foreground = Pool(listed, self.background, elsewhere=self._elsewhere)
        self.worker = Pool(self._listed("worker"), self.background, spare=self.foreground)
        self.coding = Pool(self._listed("coding"), self.background, spare=self.foreground)
        self.critic = Pool(self._listed("critic"), self.background, spare=self.foreground)
        seeing = self._listed("vision")
        self.vision = Pool(seeing, self.background) if seeing else None
        self._check_models()

    @property
    def endpoint(self) -> Endpoint:
        """The endpoint that is asked first when nothing else is said."""
        return self.foreground.nodes[0].endpoint

    @property
    def nodes(self) -> list[Node]:
        """Every node of every pool, once."""
        return list(self._nodes.values())

    @property
    def last_call(self) -> CallStatus | None:
        """How the newest call of all went."""
        calls = [node.herald.last_call for node in self.nodes]
        return max((call for call in calls if call), key=lambda call: call.at_ms, default=None)

    def pools_of(self, node: Node) -> list[PoolName]:
        """The pools that list a node; none for one that is only asked by its model's name."""
        return [name for name, pool in self._by_name().items() if pool is not None and node in pool.nodes]

    def roles(self) -> dict[Role, list[str]]:
        """Who answers in each role, by name; nobody in one that no setting gives to anybody."""
        settings = self._settings
        serving: dict[Role, list[str]] = {
            name: [node.name for node in (pool or self.foreground).nodes or self.foreground.nodes]
            for name, pool in self._by_name().items()
        }
        serving["light"] = self._serving(settings.light_model)
        serving["fallback"] = self._serving(settings.fallback_model)
        serving["planner"] = self._serving(settings.planner_model)
        return serving

    def restore(self, rows: Iterable[QuotaRow]) -> None:
        """Take up what was known of limits before a restart, or has become known elsewhere since."""
        self._known = list(rows)
        for node in self.nodes:
            node.quota.restore(self._known)

    def assigned(self, request: ModelRequest) -> ModelRequest:
        """The request with the model that is going to answer it, unless it names one that can be asked."""
        pool = self._pool(request)
        if request.model and any(node.model == request.model for node in pool.candidates(request)):
            return request
        return msgspec.structs.replace(request, model=(pool.kept(request) or pool.likely(request)).model)

    @property
    def reads_pdf(self) -> bool:
        """Whether everybody who may be asked reads PDF files as they are."""
        return all(
            "document" in PROTOCOLS[node.endpoint.protocol].takes
            and (profile_of(node.model).pdf or not profile_of(node.model).known)
            for node in self.nodes
        )

    def shows(self, request: ModelRequest, block: FileBlock) -> bool:
        """Whether who answers a request can be shown something attached: as it is, or as the text in it."""
        pool = self._pool(request)
        node = pool.kept(request) or pool.likely(request)
        takes = PROTOCOLS[node.endpoint.protocol].takes
        found = shown(block, request.model or node.model, takes)
        return found is block or (isinstance(block, DocumentBlock) and block.text is not None)

    def fallback(self, request: ModelRequest) -> str | None:
        """The model that may answer in place of the one that was asked; None when there is none."""
        return self._instead(request, self._settings.fallback_model)

    def light(self, request: ModelRequest) -> str | None:
        """The cheaper model that may answer in place of the one that was asked; None when there is none."""
        return self._instead(request, self._settings.light_model)

    def _instead(self, request: ModelRequest, model: str) -> str | None:
        if not model or model == request.model:
            return None
        return model if profile_of(model).vision or not _has_images(request) else None

    def stream(self, request: ModelRequest) -> PooledCall:
        """A call to the pool that can answer it."""
        return self._pool(request).stream(request)

    async def complete(self, request: ModelRequest) -> LLMResponse:
        """The whole answer, for callers that do not need the stream."""
        return await self._pool(request).complete(request)

    async def count(self, request: ModelRequest, seconds: float) -> int | None:
        """How long a prompt is for whoever would answer it; None if they do not say, or not in time."""
        pool = self._pool(request)
        return await (pool.kept(request) or pool.likely(request)).herald.count(request, seconds)

    async def close(self) -> None:
        """Ends every connection."""
        await self._transport.aclose()

    def _by_name(self) -> dict[PoolName, Pool | None]:
        return {
            "foreground": self.foreground,
            "worker": self.worker,
            "coding": self.coding,
            "critic": self.critic,
            "vision": self.vision,
        }

    def _serving(self, model: str) -> list[str]:
        if not model:
            return []
        listed = [node.name for node in self.foreground.nodes if node.model == model]
        return listed or ([f"{self._home.name}/{model}"] if self._home is not None else [])

    def _in_role(self, request: ModelRequest) -> Pool:
        """The pool of the request's role, unless the model it asks for or the node of its turn is elsewhere."""
        pool = self._by_name()[request.role]
        if pool is None or pool is self.foreground or not pool.nodes:
            return self.foreground
        if request.model and all(node.model != request.model for node in pool.nodes):
            return self.foreground
        names = {node.name for node in pool.nodes}
        at_front = any(node.name == request.endpoint for node in self.foreground.nodes)
        return self.foreground if at_front and request.endpoint not in names else pool

    def _pool(self, request: ModelRequest) -> Pool:
        if self.vision is None or not _has_images(request):
            return self.foreground if request.role == "foreground" else self._in_role(request)
        elsewhere = request.model and request.model not in {node.model for node in self.vision.nodes}
        return self.foreground if elsewhere and profile_of(request.model).vision else self.vision

    def _listed(self, pool: PoolName) -> list[Node]:
        return [self._node(endpoint) for endpoint in roster(self._settings, pool)]

    def _node(self, endpoint: Endpoint) -> Node:
        node = self._nodes.get(endpoint)
        if node is None:
            herald = Herald(
                endpoint,
                first_byte_timeout=self._settings.llm_first_byte_timeout,
                idle_timeout=self._settings.llm_idle_timeout,
                transport=self._transport,
                text_tools=self._settings.llm_text_tools,
            )
            quota = Quota(account(endpoint), endpoint.model, self._keep)
            node = self._nodes[endpoint] = Node(herald, Breaker(self._clock), quota)
        return node

    def _elsewhere(self, model: str) -> Node | None:
        """A model that no node of the foreground has is asked for where LLM_PROVIDER points."""
        if self._home is None:
            return None
        endpoint = endpoint_at_home(self._settings, self._home, model)
        known = endpoint in self._nodes
        node = self._node(endpoint)
        if not known:
            node.quota.restore(self._known)
        return node

    def _check_models(self) -> None:
        """Every model that settings name beside the nodes has somebody to ask."""
        if self._home is not None:
            return
        served = {node.model for node in self.foreground.nodes}
        settings = self._settings
        for field, models in (
            ("fallback_model", (settings.fallback_model,)),
            ("light_model", (settings.light_model,)),
            ("planner_model", (settings.planner_model,)),
            ("llm_allowed_models", settings.allowed_models),
        ):
            missing = next((model for model in models if model and model not in served), None)
            if missing is not None:
                advice = "Add one, or set LLM_PROVIDER to somebody who has it."
                raise _wrong(field, f"No node of LLM_POOL_FOREGROUND has `{missing}`. {advice}")


def _has_images(request: ModelRequest) -> bool:
    for message in request.messages:
        for block in message.content:
            if isinstance(block, ImageBlock):
                return True
            if isinstance(block, ToolResultBlock) and any(isinstance(part, ImageBlock) for part in block.content):
                return True
    return False


def _wrong(field: str, sentence: str) -> EngineError:
    return EngineError(ErrorCode.CONFIGURATION_INVALID, sentence, {variable(field): sentence})
