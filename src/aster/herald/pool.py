"""A pool: several nodes that can stand in for each other, asked in turn.

A call goes to the node it asks for, or else to the next one that is of use. A turn stays where it is while that
works, for the sake of the provider's cache; after a failure it moves on. The pool retries nothing.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import NamedTuple

import msgspec

from aster.contracts.events import Event, ProviderFallback
from aster.contracts.llm import LLMResponse, ModelRequest
from aster.herald.call import ModelCall
from aster.herald.failure import FailureKind, HeraldError
from aster.herald.gateway import whole
from aster.herald.node import Node

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
        *,
        spare: "Pool | None" = None,
        elsewhere: Callable[[str], Node | None] = lambda _: None,
    ) -> None:
        self.nodes = tuple(nodes)
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

    def likely(self, request: ModelRequest) -> Node:
        """The node that would answer now; the first in line when none would."""
        candidates = self.candidates(request)
        node = next((node for node in candidates if node.refusal() is None), candidates[0])
        self._place(node, request.turn_id)
        return node

    def exhausted(self, request: ModelRequest) -> bool:
        """Whether nobody is left who could answer."""
        spent = all(node.refusal() is not None for node in self.candidates(request))
        return spent and (self._spare is None or self._spare.exhausted(request))

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
        if self._spare is not None:
            return self._spare.choose(request)
        raise min(refusals, key=lambda refusal: refusal.retry_after or 0.0)

    def leave(self, turn_id: str | None) -> None:
        """The turn's node failed it: let the next call go to another, if there is one of the same use."""
        place = self._places.get(turn_id or "")
        if place is not None:
            self._places[turn_id or ""] = place._replace(failed=True)

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
        self._notices: list[Event] = []

    @property
    def model(self) -> str:
        """The model that answers, as far as it is decided."""
        return self._node.model if self._node is not None else self._request.model

    def notices(self) -> list[Event]:
        """What has happened since they were last taken."""
        taken, self._notices = self._notices, []
        return taken

    async def __aenter__(self) -> ModelCall:
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
        try:
            await call.__aenter__()
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
