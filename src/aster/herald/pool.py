"""A pool: several nodes that can stand in for each other, asked in turn.

A call goes to the node it asks for, or else to the next one that is of use. A turn stays where it is while that
works, for the sake of the provider's cache and of its own thoughts; after a failure it moves on, to another model
only when its own has nobody left. The pool retries nothing.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import NamedTuple

import msgspec

from aster.contracts.events import Event, ProviderFallback
from aster.contracts.llm import LLMResponse, ModelRequest
from aster.herald.background import Background
from aster.herald.call import ModelCall
from aster.herald.failure import FailureKind, HeraldError
from aster.herald.gateway import whole
from aster.herald.node import Node
from aster.herald.protocols.base import SoFar

_TURNS_REMEMBERED = 4096


class _Place(NamedTuple):
    """Where a turn was last answered, or `failed` to be."""

    node: Node
    failed: bool = False


class Pool:
    """Speaks like a single gateway. `spare` is asked when no node is of use, `elsewhere` for a model of no node."""

    def __init__(
        self,
        nodes: Sequence[Node],
        background: Background,
        *,
        spare: "Pool | None" = None,
        elsewhere: Callable[[str], Node | None] = lambda _: None,
    ) -> None:
        self.nodes = tuple(nodes)
        self.background = background
        self._spare = spare
        self._elsewhere = elsewhere
        self._next = 0
        self._places: OrderedDict[str, _Place] = OrderedDict()

    def stream(self, request: ModelRequest) -> "PooledCall":
        """The call, to be entered and iterated; who answers it is decided when it is entered."""
        return PooledCall(self, request)

    async def complete(self, request: ModelRequest) -> LLMResponse:
        """The whole answer, for callers that do not need the stream."""
        return await whole(self.stream(request))

    def candidates(self, request: ModelRequest) -> list[Node]:
        """The nodes that may answer, in the order in which they are asked."""
        ring = [*self.nodes[self._next :], *self.nodes[: self._next]]
        model, place = request.model, self._places.get(request.turn_id or "")
        kept = self.kept(request)
        if kept is not None:
            model, place = model or kept.model, place or _Place(kept)
        if place is not None:
            model = model or (place.node.model if request.firm else "")
            ring = [node for node in ring if node is not place.node]
            ring.insert(len(ring) if place.failed else 0, place.node)
        named = [node for node in ring if node.model == model]
        if not named and model and (node := self._elsewhere(model)) is not None:
            named = [node]
        if named and request.firm:
            return named
        return [*named, *(node for node in ring if node not in named)]

    def kept(self, request: ModelRequest) -> Node | None:
        """The node that answered the turn's last step, if it is here."""
        if request.endpoint is None:
            return None
        return next((node for node in self.nodes if node.name == request.endpoint), None)

    def likely(self, request: ModelRequest) -> Node:
        """The node that would answer now; the first in line when none would."""
        candidates = self.candidates(request)
        node = next((node for node in candidates if node.refusal() is None), candidates[0])
        self._place(node, request.turn_id)
        return node

    def exhausted(self, request: ModelRequest) -> bool:
        """Whether nobody is left who could answer."""
        if any(node.refusal() is None for node in self.candidates(request)):
            return False
        spare = self._spare_for(request)
        return spare is None or spare[0].exhausted(spare[1])

    def choose(self, request: ModelRequest) -> tuple[Node, HeraldError | None]:
        """The node that answers, and why it is not the one that was asked for; raises when there is none."""
        refusals: list[HeraldError] = []
        for node in self.candidates(request):
            refusal = node.refusal()
            if refusal is None:
                self._advance(node)
                self._place(node, request.turn_id)
                return node, refusals[0] if refusals else None
            refusals.append(refusal)
        spare = self._spare_for(request)
        if spare is not None:
            node, instead = spare[0].choose(spare[1])
            return node, refusals[0] if refusals else instead
        raise min(refusals, key=lambda refusal: refusal.retry_after or 0.0)

    def leave(self, turn_id: str | None) -> None:
        """The turn's node failed it: let the next call go to another, if there is one of the same use."""
        place = self._places.get(turn_id or "")
        if place is not None:
            self._places[turn_id or ""] = place._replace(failed=True)
        if self._spare is not None:
            self._spare.leave(turn_id)

    def _spare_for(self, request: ModelRequest) -> "tuple[Pool, ModelRequest] | None":
        """The pool to ask instead, and for what: this pool's model only if that one has it, or else its usual."""
        spare = self._spare
        if spare is None:
            return None
        if any(node.model == request.model for node in spare.nodes):
            return spare, request
        if request.firm and request.model:
            return None
        return spare, msgspec.structs.replace(request, model="")

    def _advance(self, node: Node) -> None:
        if node in self.nodes:
            self._next = (self.nodes.index(node) + 1) % len(self.nodes)

    def _place(self, node: Node, turn_id: str | None) -> None:
        if turn_id is None or len(self.nodes) < 2 or node not in self.nodes:
            return
        self._places[turn_id] = _Place(node)
        self._places.move_to_end(turn_id)
        if len(self._places) > _TURNS_REMEMBERED:
            self._places.popitem(last=False)


class PooledCall:
    """`async with pool.stream(request) as call: async for batch in call: …`

    `notices` is what the call changed or saw changed: events for the thread, to be taken after each stage.
    """

    def __init__(self, pool: Pool, request: ModelRequest) -> None:
        self._pool = pool
        self._request = request
        self._node: Node | None = None
        self._call: ModelCall | None = None
        self._probe = False
        self._native_before = True
        self._notices: list[Event] = []

    @property
    def model(self) -> str:
        """The model that answers, as far as it is decided."""
        return self._node.model if self._node is not None else self._request.model

    @property
    def endpoint(self) -> str | None:
        """Who answers, as far as it is decided."""
        return self._node.name if self._node is not None else None

    @property
    def so_far(self) -> SoFar:
        """What has come of the answer."""
        return self._call.so_far if self._call is not None else SoFar()

    @property
    def lost_tools(self) -> bool:
        """Whether this call found out that its endpoint has no tools of its own."""
        return self._node is not None and self._native_before and not self._node.herald.native_tools

    def notices(self) -> list[Event]:
        """What has happened since they were last taken."""
        taken, self._notices = self._notices, []
        return taken

    async def __aenter__(self) -> ModelCall:
        if self._request.background:
            assert self._pool.background.running, "a background call is made in a place of the background"
            return await self._open()
        self._pool.background.foreground_began()
        try:
            return await self._open()
        except BaseException:
            self._pool.background.foreground_ended()
            raise

    async def _open(self) -> ModelCall:
        node, instead = self._pool.choose(self._request)
        asked = self._request.model
        if asked and node.model != asked and instead is not None:
            reason = "circuit_open" if instead.resting else instead.kind
            self._notices.append(ProviderFallback(from_model=asked, to_model=node.model, reason=reason))
        request = self._request
        if node.model != asked:
            request = msgspec.structs.replace(request, model=node.model)
        call = node.herald.stream(request)
        self._node, self._call = node, call
        with _Watch(node, self._notices):
            self._probe = node.breaker.admit()
        self._native_before = node.herald.native_tools
        try:
            self._call = call = await node.herald.enter(call, request)
        except BaseException as error:
            self._settle(error)
            if isinstance(error, HeraldError) and error.kind is FailureKind.RATE_LIMITED:
                node.quota.learn(call.headers, refused=True)
            raise
        node.quota.learn(call.headers)
        return call

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._call is not None
        try:
            await self._call.__aexit__(kind, error, trace)
        finally:
            if not self._request.background:
                self._pool.background.foreground_ended()
            self._settle(error)

    def _settle(self, error: BaseException | None) -> None:
        """What the call says about its node."""
        node, call = self._node, self._call
        assert node is not None
        assert call is not None
        with _Watch(node, self._notices):
            if error is None and call.finished:
                node.breaker.succeeded(self._probe)
            elif isinstance(error, HeraldError) and error.endpoint_fault:
                node.blame(error)
                node.breaker.failed(self._probe)
            else:
                node.breaker.dismissed(self._probe)
        if isinstance(error, HeraldError):
            self._pool.leave(self._request.turn_id)
            error.resting = node.breaker.state == "open" and self._pool.exhausted(self._request)


class _Watch:
    """Notes a change of a node's circuit."""

    def __init__(self, node: Node, notices: list[Event]) -> None:
        self._node = node
        self._notices = notices

    def __enter__(self) -> None:
        self._before = self._node.breaker.state

    def __exit__(self, *_: object) -> None:
        if self._node.breaker.state != self._before:
            self._notices.append(self._node.circuit())
