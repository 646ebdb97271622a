"""Native calls into which framing leaked."""

import pytest

from aster.contracts.blocks import ToolUseBlock
from aster.herald.text_tools.items import Call
from aster.herald.text_tools.leaks import recovered
from aster.herald.text_tools.toolbox import Toolbox
from tests.herald.text_tools.offering import TOOLS

BOX = Toolbox(TOOLS)
NEXT = "<function=get_weather>\n<parameter=city>\nBern\n</parameter>\n</function>"


def _write(content: str) -> ToolUseBlock:
    return ToolUseBlock(id="a", name="write_file", input={"content": content})


@pytest.mark.parametrize(
    "leak",
    [
        f"\n</parameter>\n</function>\n</tool_call>\n<tool_call>\n{NEXT}\n</tool_call>",
        f"</parameter></function>{NEXT}",
        f"</parameter>\n</function>\n<tool_call>{NEXT}",
        "</parameter></function><tool_call><function=get_weather><parameter=city>Bern",
    ],
)
def test_swallowed_calls_come_back(leak: str) -> None:
    block, calls = recovered(_write("print(1)" + leak), BOX)
    assert block == _write("print(1)")
    assert calls == [Call("get_weather", {"city": "Bern"})]


def test_a_swallowed_parameter_comes_back() -> None:
    block, calls = recovered(_write("x\n</parameter>\n<parameter=path>\na.txt\n</parameter>\n</function>"), BOX)
    assert block.input == {"content": "x", "path": "a.txt"}
    assert calls == []


@pytest.mark.parametrize(
    "content",
    [
        "print(1)",
        f"Write </parameter> and then {NEXT} to call it.",
        f"docs: </parameter></function>{NEXT} and more prose",
        "x</parameter></function><function=ghost><parameter=a>1</parameter></function>",
        "x</parameter></function></tool_call>",
        "x</parameter><parameter=ghost>1</parameter>",
    ],
)
def test_what_is_not_all_framing_stays(content: str) -> None:
    assert recovered(_write(content), BOX) == (_write(content), [])
