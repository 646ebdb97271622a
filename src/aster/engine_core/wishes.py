"""What a client wishes of the model in this turn, over what the engine would have chosen.

A turn without wishes is asked exactly as before. A call that has to be made is not thought about first: providers
refuse the two together. A client that answers what its turn waits for may wish for something else from there on; what
it says again changes nothing, so that the prompt keeps its beginning.
"""

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from aster.contracts.llm import ModelRequest, ToolChoice
from aster.contracts.model import to_builtins
from aster.contracts.turn import NO_OPTIONS, TurnRequest, TurnState

CHANGING: Final = ("model", "super_thinking", "instructions", "tools", "own_tools", "options")
"""What of a request may change while its turn waits."""


def wished(request: ModelRequest, state: TurnState) -> ModelRequest:
    """The model call as the turn's client wants it."""
    options = state.request.options
    if options == NO_OPTIONS:
        return request
    choice = options.tool_choice
    if choice is not None and choice.mode != "none" and state.model_calls > state.wished_at:
        choice = None
    forced = choice is not None and choice.mode != "none"
    return replace(
        request,
        max_tokens=state.max_tokens or options.max_tokens or request.max_tokens,
        temperature=request.temperature if options.temperature is None else options.temperature,
        top_p=request.top_p if options.top_p is None else options.top_p,
        presence_penalty=request.presence_penalty if options.presence_penalty is None else options.presence_penalty,
        stop_sequences=options.stop,
        tool_choice=choice if request.tools else None,
        output_schema=options.output_schema,
        thinking_budget=None if forced else request.thinking_budget,
    )


def changes(now: TurnRequest, wanted: TurnRequest) -> dict[str, Any] | None:
    """How a turn's request changes with what its client wants from here on; None when it does not.

    Without instructions and without a model, the old ones hold. Without tools of its own none of the client's is
    called any more; where the model has no others they stay listed, because what was called has to be known."""
    if not wanted.tools and now.tools and not now.own_tools:
        options = replace(wanted.options, tool_choice=ToolChoice(mode="none"))
        wanted = replace(wanted, tools=now.tools, own_tools=False, options=options)
    elif not wanted.tools:
        wanted = replace(wanted, own_tools=now.own_tools)
    said, model = wanted.instructions or now.instructions, wanted.model or now.model
    wanted = replace(wanted, instructions=said, model=model)
    found = {name: getattr(wanted, name) for name in CHANGING if getattr(wanted, name) != getattr(now, name)}
    choice = wanted.options.tool_choice
    if choice is not None and choice.mode != "none":
        found["options"] = wanted.options
    return to_builtins(found) or None


def adopted(now: TurnRequest, changed: Mapping[str, Any]) -> TurnRequest:
    """The request of a turn after its client has changed it."""
    return msgspec.convert({**to_builtins(now), **changed}, TurnRequest)
