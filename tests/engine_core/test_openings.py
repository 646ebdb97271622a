"""Steps that all open with the same thought, through HTTP: pointed out, then ended; progress and habits are not."""

import re

import pytest

from aster.contracts.blocks import TextBlock, ThinkingBlock
from aster.contracts.turn import Ledger
from aster.engine_core import openings
from aster.testing import ModelServer, Part, Reply, Text, Thinking, ToolCall
from tests.engine_core.frames import events, last, transitions
from tests.live import Live

THOUGHT = (
    "I should look at the directory again to understand which configuration files exist there before deciding what "
    "the person really wants from me in this project."
)
OTHERS = (
    "The listing shows nothing useful, so perhaps the sources are kept inside another folder of this repository.",
    "Reading the manual could explain why the program refuses to start whenever its settings file is missing.",
    "Maybe the easiest approach is writing a small script that prints every environment variable it can find.",
    "Since none of these worked, asking the person about their operating system seems like the best option left.",
)


def look(number: int) -> ToolCall:
    return ToolCall("glob", {"pattern": f"*.{number}"})


@pytest.mark.parametrize("say", [Thinking, Text])
async def test_the_same_opening_three_times_is_pointed_out_and_three_more_times_is_the_end(
    aster: Live, model: ModelServer, say: type[Thinking] | type[Text]
) -> None:
    def opening(number: int) -> Part:
        return say(f"{THOUGHT} Attempt {number}.")

    model.enqueue(*(Reply([opening(number), look(number)]) for number in range(7)), Reply([Text("never said")]))
    frames = await aster.execute("go")
    circles = [number for number, reason in enumerate(transitions(frames), start=1) if reason == "loop_guard"]
    assert circles == [3, 6]
    assert last(frames)["stop_reason"] == "loop_guard"
    said = [data["message"] for data in events(frames, "turn_transition") if data["reason"] == "loop_guard"]
    assert all("began with the same thought" in message for message in said)
    assert events(frames, "tool_result")[-1]["error"] == "no_more_tools"


async def test_different_thoughts_are_no_circle(aster: Live, model: ModelServer) -> None:
    replies = [Reply([Thinking(thought), look(number)]) for number, thought in enumerate(OTHERS)]
    model.enqueue(*replies, Reply([Text("done")]))
    frames = await aster.execute("go")
    assert "loop_guard" not in transitions(frames)
    assert last(frames)["stop_reason"] == "end_turn"


async def test_a_short_habit_is_no_circle(aster: Live, model: ModelServer) -> None:
    model.enqueue(
        *(Reply([Text("Let me read the next one."), look(number)]) for number in range(8)), Reply([Text("done")])
    )
    assert "loop_guard" not in transitions(await aster.execute("go"))


async def test_new_changes_are_progress_whatever_is_thought(aster: Live, model: ModelServer) -> None:
    write = [ToolCall("write_file", {"path": f"{number}.txt", "content": "x"}) for number in range(8)]
    model.enqueue(*(Reply([Thinking(THOUGHT), call]) for call in write), Reply([Text("done")]))
    assert "loop_guard" not in transitions(await aster.execute("go"))


async def test_the_same_change_again_is_not(aster: Live, model: ModelServer) -> None:
    write = ToolCall("write_file", {"path": "a.txt", "content": "x"})
    model.enqueue(*(Reply([Thinking(THOUGHT), write]) for _ in range(5)), Reply([Text("done")]))
    assert "loop_guard" in transitions(await aster.execute("go"))


async def test_the_account_survives_a_thought_of_another_kind(aster: Live, model: ModelServer) -> None:
    thoughts = [THOUGHT, THOUGHT, OTHERS[0], THOUGHT, THOUGHT]
    model.enqueue(
        *(Reply([Thinking(thought), look(number)]) for number, thought in enumerate(thoughts)),
        Reply([Text("done")]),
    )
    assert "loop_guard" not in transitions(await aster.execute("go"))


def test_openings_in_a_script_without_spaces_are_compared_too() -> None:
    ledger = Ledger()
    thought = "，".join(
        re.findall(
            ".{6}",
            "我需要再检查一次这个函数的返回值因为它可能为空然后看看调用者是否依赖它并且确认测试全部通过没有失败",
        )
    )
    for _ in range(3):
        openings.note(ledger, [ThinkingBlock(text=thought)])
    assert ledger.openings == 3
    openings.note(ledger, [TextBlock(text="")])
    assert ledger == Ledger()
