"""What a client wishes of the model: over the engine's own choice, and no further than the turn."""

import msgspec

from aster.contracts.llm import ModelRequest, ToolChoice
from aster.contracts.tools import ToolDef
from aster.contracts.turn import TurnOptions, TurnRequest, TurnState
from aster.engine_core.wishes import adopted, changes, wished

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


NOW = TurnRequest(
    model="m",
    instructions="Be brief.",
    tools=(TOOL,),
    own_tools=False,
    options=TurnOptions(max_tokens=7),
    place="p",
    direct=True,
)


def test_what_is_said_again_is_no_change() -> None:
    assert changes(NOW, NOW) is None
    assert changes(NOW, msgspec.structs.replace(NOW, instructions="", model=None)) is None


def test_a_change_is_what_differs_and_leaves_the_rest() -> None:
    other = ToolDef(name="sub", description="", input_schema={})
    wanted = msgspec.structs.replace(NOW, tools=(TOOL, other), options=TurnOptions(), place="", direct=False)
    changed = changes(NOW, wanted)
    assert changed is not None
    assert set(changed) == {"tools", "options"}
    assert adopted(NOW, changed) == msgspec.structs.replace(NOW, tools=(TOOL, other), options=TurnOptions())


def test_without_tools_of_its_own_a_client_gets_no_calls() -> None:
    bare = TurnRequest(options=NOW.options)
    alone = adopted(NOW, changes(NOW, bare) or {})
    assert (alone.tools, alone.own_tools, alone.options.tool_choice) == ((TOOL,), False, ToolChoice(mode="none"))
    both = msgspec.structs.replace(NOW, own_tools=True)
    ours = adopted(both, changes(both, bare) or {})
    assert (ours.tools, ours.own_tools, ours.options.tool_choice) == ((), True, None)


def test_a_call_that_is_required_again_is_forced_again() -> None:
    options = TurnOptions(tool_choice=ToolChoice(mode="required"))
    forced = msgspec.structs.replace(NOW, options=options)
    assert set(changes(forced, forced) or {}) == {"options"}
    again = state(options, model_calls=2)
    again.wished_at = 2
    assert wished(REQUEST, again).tool_choice == options.tool_choice
