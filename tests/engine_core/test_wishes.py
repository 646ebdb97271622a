"""What a client wishes of the model: over the engine's own choice, and no further than the turn."""

import msgspec

from aster.contracts.llm import ModelRequest, ToolChoice
from aster.contracts.tools import ToolDef
from aster.contracts.turn import TurnOptions, TurnRequest, TurnState
from aster.engine_core.wishes import wished

TOOL = ToolDef(name="add", description="", input_schema={})
REQUEST = ModelRequest(model="m", system="", messages=(), tools=(TOOL,), temperature=0.6, thinking_budget=100)


def state(options: TurnOptions, *, model_calls: int = 0, max_tokens: int | None = None) -> TurnState:
    request = TurnRequest(options=options)
    return TurnState(turn_id="t", request=request, model_calls=model_calls, max_tokens=max_tokens)


def test_a_turn_without_wishes_is_asked_as_it_was() -> None:
    assert wished(REQUEST, state(TurnOptions())) is REQUEST


def test_wishes_win_and_the_rest_stays() -> None:
    options = TurnOptions(max_tokens=7, top_p=0.5, stop=("END",), output_schema={"type": "object"})
    found = wished(REQUEST, state(options))
    assert (found.max_tokens, found.top_p, found.temperature) == (7, 0.5, 0.6)
    assert (found.stop_sequences, found.output_schema) == (("END",), {"type": "object"})
    assert wished(REQUEST, state(options, max_tokens=20)).max_tokens == 20


def test_a_call_is_forced_once_and_not_thought_about() -> None:
    options = TurnOptions(tool_choice=ToolChoice(mode="required"))
    first = wished(REQUEST, state(options))
    assert (first.tool_choice, first.thinking_budget) == (options.tool_choice, None)
    later = wished(REQUEST, state(options, model_calls=1))
    assert (later.tool_choice, later.thinking_budget) == (None, 100)


def test_no_call_is_for_the_whole_turn() -> None:
    options = TurnOptions(tool_choice=ToolChoice(mode="none"))
    assert wished(REQUEST, state(options, model_calls=3)).tool_choice == options.tool_choice
    assert wished(msgspec.structs.replace(REQUEST, tools=()), state(options)).tool_choice is None
