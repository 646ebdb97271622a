"""A conversation with tools, as a model without tools gets it."""

from aster.contracts.blocks import TextBlock, ToolResultBlock, ToolUseBlock
from aster.herald.text_tools.conversation import REMOVED, as_text
from aster.herald.text_tools.items import Call
from aster.herald.text_tools.prompt import section
from aster.herald.text_tools.reading import read
from tests.herald.asking import asking, assistant, png, user
from tests.herald.text_tools.offering import TOOLS

CALL = ToolUseBlock(id="one", name="get_weather", input={"city": "Bern", "days": 2})
BROKEN = ToolUseBlock(id="two", name="now", input={}, invalid="<tool_call>{{{", hint="Again.")


def test_tools_move_into_the_system_prompt() -> None:
    sent = as_text(asking("hi", system="Be brief.", tools=TOOLS, cache_upto=1))
    assert (sent.system, sent.tools) == (f"Be brief.\n\n{section(TOOLS)}", ())
    assert sent.cache_upto == 1
    assert as_text(asking("hi", tools=TOOLS)).system == section(TOOLS)


def test_calls_and_results_become_text() -> None:
    result = ToolResultBlock(tool_use_id="one", content=(TextBlock(text="sunny"), png()))
    failed = ToolResultBlock(tool_use_id="two", content=(TextBlock(text="Again."),), is_error=True)
    sent = as_text(
        asking(user("hi"), assistant("Looking.", CALL, BROKEN, BROKEN), user(result, failed, "go on"), tools=TOOLS)
    )
    first, spoken, answered = (message.content for message in sent.messages)
    assert first == (TextBlock(text="hi"),)
    (said,) = spoken
    assert isinstance(said, TextBlock)
    text, calls = read("auto", [said.text], TOOLS)
    assert calls == [Call("get_weather", {"city": "Bern", "days": 2})]
    assert text.split("\n\n")[0] == "Looking."
    assert said.text.count(REMOVED) == 1
    assert "{{{" not in said.text
    assert answered == (
        TextBlock(text='<tool_response name="get_weather">\nsunny\n</tool_response>'),
        png(),
        TextBlock(text='<tool_response name="now" failed="true">\nAgain.\n</tool_response>'),
        TextBlock(text="go on"),
    )
