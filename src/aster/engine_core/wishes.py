"""What a client wishes of the model in this turn, over what the engine would have chosen.

A turn without wishes is asked exactly as before. A call that has to be made is not thought about first: providers
refuse the two together.
"""

from msgspec.structs import replace

from aster.contracts.llm import ModelRequest
from aster.contracts.turn import NO_OPTIONS, TurnState


def wished(request: ModelRequest, state: TurnState) -> ModelRequest:
    """The model call as the turn's client wants it."""
    options = state.request.options
    if options == NO_OPTIONS:
        return request
    choice = options.tool_choice
    if choice is not None and choice.mode != "none" and state.model_calls:
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
