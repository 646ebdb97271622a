"""What is on the glass after a turn is the turn, once, whatever was redrawn on the way."""

import io
import time
from typing import Any

import pytest
from rich.console import Console

from aster.cli.screen.plain import PlainSurface
from aster.cli.screen.screen import TAKEN_BACK, Screen
from aster.cli.screen.terminal import TerminalSurface
from aster.client.transcript import Transcript
from aster.contracts.blocks import TextBlock, ThinkingBlock, ToolUseBlock
from aster.contracts.events import (
    ContentBlockStop,
    Event,
    ModelProgress,
    Phase,
    PlanStep,
    PlanUpdate,
    Recovery,
    RiskSummary,
    SubagentLifecycle,
    TextDelta,
    ThinkingDelta,
    ThreadLifecycle,
    ToolCallIssued,
    ToolResult,
    UserMessage,
)
from aster.contracts.tools import Effect
from tests.cli.glass import Glass

ANSWER = "# Files\n\nThere are *two*:\n\n- one.txt\n- two.txt\n\n```\ncode\n```\n\nThat is all."


class Play:
    """A turn played onto a surface, event by event, with a look at the screen after each."""

    def __init__(self, *, terminal: bool, height: int = 20, unfolded: bool = False) -> None:
        self._out = io.StringIO()
        console = Console(file=self._out, force_terminal=True, width=60, height=height, legacy_windows=False)
        surface = TerminalSurface(console) if terminal else PlainSurface(self._out)
        if unfolded and isinstance(surface, TerminalSurface):
            surface.fold()
        self._screen = Screen(surface)
        self._transcript = Transcript()
        self._screen.begin(self._transcript, typed=1)
        self._seq = 0
        self.looking = True

    def __call__(self, event: type[Event], turn_id: str = "t", **fields: Any) -> int:
        self._seq += 1
        self._transcript.apply(event(turn_id=turn_id, seq=self._seq, **fields))
        if self.looking:
            self._screen.update(self._transcript)
        return self._seq

    def say(self, text: str, step: int = 1, size: int = 3, *, stop: bool = True) -> int:
        first = self._seq + 1
        for at in range(0, len(text), size):
            self(TextDelta, text=text[at : at + size], block_index=0, step=step)
        if stop:
            self(ContentBlockStop, block_index=0, block_type="text", step=step, block=TextBlock(text=text))
        return first

    def call(self, output: str) -> None:
        block = ToolUseBlock(id="c1", name="bash", input={"command": "ls"})
        self(ContentBlockStop, block_index=1, block_type="tool_use", step=1, block=block)
        self(
            ToolCallIssued,
            tool="bash",
            tool_call_id="c1",
            input={"command": "ls"},
            step=1,
            effect=Effect.PURE,
            idempotency_key="k",
        )
        self(ToolResult, tool="bash", tool_call_id="c1", step=1, output=output)

    def glass(self) -> list[str]:
        return Glass().write(self._out.getvalue()).seen()

    def end(self) -> list[str]:
        self(ThreadLifecycle, phase=Phase.COMPLETED)
        self._screen.end(self._transcript)
        return self.glass()


def test_a_terminal_shows_the_answer_rendered_and_once() -> None:
    play = Play(terminal=True)
    play(UserMessage, message_id="m", content=(TextBlock(text="what?"),))
    play.say("I will look.")
    play.call("one.txt\ntwo.txt")
    play.say(ANSWER, step=2)
    seen = play.end()
    assert [line.strip() for line in seen if line.strip()] == [
        "I will look.",
        "● bash  ls",
        "⎿ one.txt (+1 lines)",
        *[line.strip() for line in seen[seen.index("  ⎿ one.txt (+1 lines)") + 1 :] if line.strip()],
    ]
    flat = "\n".join(seen)
    for once in ("Files", "There are two:", "• one.txt", "• two.txt", "code", "That is all."):
        assert flat.count(once) == 1, once
    assert "working" not in flat
    assert "*two*" not in flat


def test_a_long_answer_in_a_small_window_is_whole() -> None:
    lines = [f"- item {number:03}" for number in range(60)]
    play = Play(terminal=True, height=8)
    play.say("\n".join(lines), size=20)
    flat = "\n".join(play.end())
    assert all(flat.count(f"item {number:03}") == 1 for number in range(60))


@pytest.mark.parametrize(
    ("unfolded", "shown"),
    [(False, ["✻ thought, 3 words · Ctrl-O unfolds"]), (True, ["first", "second half"])],
)
def test_thinking_is_shown_before_the_answer(unfolded: bool, shown: list[str]) -> None:
    play = Play(terminal=True, unfolded=unfolded)
    for piece in ("first\n", "second", " half"):
        play(ThinkingDelta, text=piece, block_index=0, step=1)
    thought = ThinkingBlock(text="first\nsecond half")
    play(ContentBlockStop, block_index=0, block_type="thinking", step=1, block=thought)
    play(TextDelta, text="Done.", block_index=1, step=1)
    play(ContentBlockStop, block_index=1, block_type="text", step=1, block=TextBlock(text="Done."))
    assert [line for line in play.end() if line] == [*shown, "Done."]


def test_what_is_taken_back_is_said_to_be() -> None:
    play = Play(terminal=True)
    first = play.say("A first attempt.\n\nIt breaks", stop=False)
    play(Recovery, discarded_from_seq=first, reason="transport", step=1)
    play.say("A second attempt.")
    assert [line for line in play.end() if line] == ["A first attempt.", *_folded(TAKEN_BACK), "A second attempt."]


def test_what_is_taken_back_between_two_looks_is_noticed_too() -> None:
    play = Play(terminal=True)
    first = play.say("A first attempt.\n\nIt breaks", stop=False)
    play.looking = False
    play(Recovery, discarded_from_seq=first, reason="transport", step=1)
    play.say("A second and much longer attempt.\n\nIt holds.")
    second = play.say("More.", step=2)
    play.looking = True
    play(Recovery, discarded_from_seq=second, reason="max_tokens", step=2)
    play.say("Less.", step=2)
    lines = [line for line in play.end() if line]
    assert lines == [
        "A first attempt.",
        *_folded(TAKEN_BACK),
        "A second and much longer attempt.",
        "It holds.",
        "Less.",
    ]


def test_what_was_not_yet_printed_is_taken_back_silently() -> None:
    play = Play(terminal=True)
    first = play.say("half a", stop=False)
    play(Recovery, discarded_from_seq=first, reason="transport", step=1)
    play.say("A whole.")
    assert [line for line in play.end() if line] == ["A whole."]


def test_a_pipe_gets_the_text_as_it_is() -> None:
    play = Play(terminal=False)
    play(ThinkingDelta, text="hm", block_index=9, step=1)
    play(ContentBlockStop, block_index=9, block_type="thinking", step=1, block=ThinkingBlock(text="hm"))
    play.call("one.txt")
    play.say(ANSWER, step=2)
    assert play.end() == ["* bash  ls", "  one.txt", *ANSWER.split("\n")]


def test_a_pipe_is_told_what_is_taken_back() -> None:
    play = Play(terminal=False)
    first = play.say("half", stop=False)
    play(Recovery, discarded_from_seq=first, reason="restart", step=1)
    play.say("whole")
    assert play.end() == ["half", TAKEN_BACK, "whole"]


def _folded(text: str) -> list[str]:
    out = io.StringIO()
    Console(file=out, width=60).print(text)
    return [line.rstrip() for line in out.getvalue().rstrip("\n").split("\n")]


def test_a_wait_for_the_model_is_shown_while_it_lasts() -> None:
    play = Play(terminal=True)
    play(ModelProgress, stage="downloading", text="Downloading tiny: 3 of 9 MB", done_bytes=3, total_bytes=9)
    assert any("Downloading tiny: 3 of 9 MB" in line for line in play.glass())
    play.say("Hello.")
    assert not any("Downloading" in line for line in play.end())


@pytest.mark.parametrize("terminal", [True, False], ids=["terminal", "pipe"])
def test_a_plan_and_what_is_left_open_are_shown_once_and_made_safe(terminal: bool) -> None:
    play = Play(terminal=terminal)
    play(PlanUpdate, goal="A fix", steps=(PlanStep(id="s1", text="Read"),))
    play(PlanUpdate, goal="A fix", steps=(PlanStep(id="s1", text="Read", status="completed"),))
    play.say("Done.")
    play(RiskSummary, text="- Which region? (impact: 5/5)", item_ids=("u1",))
    shown = "\n".join(play.end())
    assert shown.count("Plan: A fix") == 1
    assert shown.index("s1: Read") < shown.index("Done.") < shown.index("Which region?")


@pytest.mark.parametrize("terminal", [True, False])
def test_what_a_sub_agent_does_is_shown_under_the_call_while_that_runs(terminal: bool) -> None:
    play = Play(terminal=terminal)
    spawn: dict[str, Any] = {"tool": "spawn_agent", "tool_call_id": "s1", "step": 1}
    child: dict[str, Any] = {"turn_id": "c", "depth": 1, "parent_turn_id": "t", "step": 1}
    play(ToolCallIssued, **spawn, input={"prompt": "work"}, effect=Effect.IDEMPOTENT, idempotency_key="k")
    play(SubagentLifecycle, child_turn_id="c", agent="coder\x1b[2J", phase="started", tool_call_id="s1")
    call: dict[str, Any] = {**child, "tool": "bash", "tool_call_id": "s1"}
    play(ToolCallIssued, **call, input={"command": "make"}, effect=Effect.IRREVERSIBLE, idempotency_key="k2")
    play(ToolResult, **call, output="built\nwell")
    play(ContentBlockStop, **child, block_index=0, block_type="text", block=TextBlock(text="It\nbuilds."))
    shown = "\n".join(play.glass())
    assert "↳ coder" in shown
    assert "bash  make → built (+1 lines)" in shown
    assert "It builds." in shown
    play(ToolResult, **spawn, output="It builds.")
    play.say("Done.", step=2)
    whole = "\n".join(play.end())
    assert whole.index("bash  make") < whole.index("spawn_agent") < whole.rindex("Done.")
    assert whole.count("bash  make") == 1


@pytest.mark.parametrize("line", ["- a step of a plan\n", "words without an end "])
def test_a_block_that_grows_without_end_leaves_time_for_keys(line: str) -> None:
    play = Play(terminal=True)
    play.looking = False
    play.say(line * 10_000, size=500, stop=False)
    play.looking = True
    began = time.monotonic()
    for _ in range(8):
        play(TextDelta, text=line, block_index=0, step=1)
    assert time.monotonic() - began < 4.0
