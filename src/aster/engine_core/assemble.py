"""Assemble: everything a model call needs, in an order that keeps the beginning byte-stable.

Order: instructions (the operator's, the workspace's, the soul), tools | history | the messages of this turn, each with
what memory had for it and when it was said. Nothing volatile stands before the history, so a provider's prompt cache
holds from turn to turn.
"""

from collections.abc import Sequence

from aster.contracts.blocks import text_of
from aster.contracts.llm import ModelRequest
from aster.contracts.messages import Message
from aster.contracts.tools import ToolDef
from aster.engine_core import drawers
from aster.engine_core.boundary import Boundary
from aster.engine_core.casting import model_of, role_of
from aster.engine_core.client_tools import offered
from aster.engine_core.context.layers import Layer, client_layer, joined, own_layers, soul_layer
from aster.engine_core.context.measure import fingerprint
from aster.engine_core.history import spoken
from aster.engine_core.sampling import tuned
from aster.engine_core.services import Services
from aster.engine_core.turn import Turn
from aster.engine_core.wishes import wished


def assemble(turn: Turn, services: Services) -> ModelRequest:
    """The next model call of a turn."""
    settings, state = services.settings, turn.state
    messages = boundary_of(turn).messages(turn.seen)
    turn.layers = layers = _layers(turn, services)
    request = ModelRequest(
        model=model_of(state, settings),
        system=joined(layers),
        system_shared=len(joined([layer for layer in layers if layer.shared])),
        messages=messages,
        tools=_tools(turn, services),
        max_tokens=state.max_tokens or settings.max_tokens,
        cache_upto=len(messages),
        cache_before=_answered(messages),
        cache_marks=settings.cached_snip,
        cache_key=fingerprint("\0".join(turn.key).encode("utf-8", "replace")).hex()
        if settings.cached_snip
        else None,
        request_id=turn.request_id,
        turn_id=turn.turn_id,
        firm=state.lasting_effects,
        role=role_of(state, settings),
        endpoint=state.endpoint,
        background=state.request.behind,
    )
    said = next((text_of(message.content) for message in reversed(state.messages) if spoken(message)), "")
    request = tuned(
        services.herald.assigned(request),
        said,
        first_step=state.model_calls == 0,
        super_thinking=state.request.super_thinking,
    )
    return wished(request, state)


def _tools(turn: Turn, services: Services) -> tuple[ToolDef, ...]:
    """What the model is offered: the same object while it is the same, so that it is counted once."""
    registry = services.connectors.tools(turn.key.user_id).registry
    drawers.follow(turn, services)
    found = offered(turn.state.request, registry, turn.places)
    if turn.tools != found:
        turn.tools = found
    return turn.tools


def boundary_of(turn: Turn) -> Boundary:
    """The marks of the turn's conversation, which are those of its first message."""
    if turn.boundary is None:
        first = (turn.history or turn.state.messages)[0]
        turn.boundary = Boundary.of(first.id or turn.turn_id)
    return turn.boundary


def _layers(turn: Turn, services: Services) -> tuple[Layer, ...]:
    soul = (soul_layer(turn.soul),) if turn.soul else ()
    asked = turn.state.request.instructions
    client = (client_layer(asked),) if asked else ()
    own = own_layers(services.herald.endpoint, services.settings, turn.state.request.agent)
    return (*own, *turn.skills, *turn.notes, *client, *soul)


def _answered(messages: Sequence[Message]) -> int:
    """How many messages the newest prompt before this one had: all before its answer."""
    return next((at for at in range(len(messages) - 1, -1, -1) if messages[at].role == "assistant"), 0)
