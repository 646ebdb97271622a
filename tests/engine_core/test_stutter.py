"""A model that says the same thing over and over, through HTTP: cut off while it streams, told once, then ended."""

import random

import pytest

from aster.engine_core.stutter import Stutter
from aster.testing import Hold, ModelServer, Reply, Text, Thinking, ToolCall
from tests.engine_core.frames import blocks, events, last, transitions
from tests.live import Live, live, text_of

PARAGRAPH = (
    "Wait, let me reconsider this once more, since the function may return nothing when the list is empty. I should"
    " check the caller too, because it relies on the length. Then I will look at the tests.\n\n"
)
LOOP = PARAGRAPH * 120


def heard(text: str, *, thought: bool, size: int = 7) -> int | None:
    """After how many characters it was noticed."""
    stutter = Stutter(thought=thought)
    for start in range(0, len(text), size):
        if stutter.feed(text[start : start + size]) is not None:
            return start
    return None


async def test_a_looping_thought_is_cut_discarded_and_told(aster: Live, model: ModelServer) -> None:
    model.enqueue(Reply([Thinking(LOOP), Text("never")]), Reply([Text("Seven.")]))
    frames = await aster.execute("go")
    assert last(frames)["stop_reason"] == "end_turn"
    (recovery,) = events(frames, "recovery")
    assert recovery["reason"] == "repetition"
    assert transitions(frames) == ["repetition"]
    cut, whole = events(frames, "usage")
    assert cut["estimated"]
    assert cut["stop_reason"] == "repetition"
    assert not whole.get("estimated")
    told = str(model.calls[-1].body["messages"][-1]["content"])
    assert "you repeat yourself" in told
    assert told.count("Wait, let me reconsider") == 1
    assert "Wait, let me reconsider" not in str(model.calls[-1].body["messages"][:-1])


async def test_the_call_is_cut_while_it_streams(aster: Live, model: ModelServer) -> None:
    """The script holds for ever after the loop: only a client that leaves gets past it."""
    model.enqueue(Reply([Text(LOOP), Hold("never"), Text("end")]), Reply([Text("Short.")]))
    frames = await aster.execute("go")
    assert last(frames)["stop_reason"] == "end_turn"
    first = frames.index(next(frame for frame in frames if frame.event == "recovery"))
    assert len(text_of(frames[:first])) < len(LOOP) / 2
    assert text_of(frames[first:]) == "Short."


async def test_the_second_time_ends_the_turn_with_what_is_there(aster: Live, model: ModelServer) -> None:
    model.enqueue(Reply([Thinking(LOOP)]), Reply([Text(f"The answer is seven. {LOOP}")]), Reply([Text("never")]))
    frames = await aster.execute("go")
    assert last(frames)["stop_reason"] == "loop_guard"
    assert last(frames)["phase"] == "completed"
    assert len(model.calls) == 2
    assert blocks(frames)[-1]["text"].startswith("The answer is seven.")
    detail = (await aster.http.get("/tasks/t1")).json()
    assert detail["status"] != "running"


async def test_a_persons_own_words_are_repeated_as_often_as_they_like(aster: Live, model: ModelServer) -> None:
    line = "I will not talk in class again, because it keeps the others from learning anything at all."
    model.enqueue(Reply([Text(f"{line}\n" * 100)]))
    frames = await aster.execute(f"Write this a hundred times: {line}")
    assert last(frames)["stop_reason"] == "end_turn"
    assert text_of(frames).count(line) == 100


async def test_a_step_with_tool_calls_gives_another_chance(aster: Live, model: ModelServer) -> None:
    loop, look = Reply([Thinking(LOOP)]), Reply([ToolCall("glob", {"pattern": "*"})])
    model.enqueue(loop, look, loop, Reply([Text("done")]))
    frames = await aster.execute("go")
    assert transitions(frames) == ["repetition", "tool_result_continuation", "repetition"]
    assert last(frames)["stop_reason"] == "end_turn"


async def test_the_count_survives_a_restart(model: ModelServer, tmp_path_factory: pytest.TempPathFactory) -> None:
    brain = tmp_path_factory.mktemp("brain") / "brain.sqlite"
    model.enqueue(Reply([Thinking(LOOP)]), Reply([Text("Half"), Hold("cut"), Text("never")]))
    async with live(model, sqlite_db_path=brain) as aster, aster.executing("go") as stream:
        await stream.until("turn_transition", reason="repetition")
        await stream.until("text_delta")
    model.enqueue(Reply([Text(LOOP)]), Reply([Text("never")]))
    async with live(model, sqlite_db_path=brain) as aster:
        frames = await aster.replay(task_id="t1", after_seq=0)
    assert last(frames)["stop_reason"] == "loop_guard"
    assert transitions(frames) == ["repetition"]


@pytest.mark.parametrize("thought", [True, False])
@pytest.mark.parametrize("size", [1, 7, 5000])
@pytest.mark.parametrize(
    "text",
    [
        LOOP,
        LOOP.replace("\n", ""),
        "Long beginning, all of it new and none of it said twice before. " + LOOP,
        "我需要再检查一次这个函数的返回值，因为它可能为空。然后看看调用者是否依赖它。" * 400,
    ],
    ids=["paragraph", "line", "late", "chinese"],
)
def test_what_is_repeated_is_noticed_however_it_is_cut(text: str, size: int, thought: bool) -> None:
    noticed = heard(text, thought=thought, size=size)
    assert noticed is not None
    assert noticed < (6000 if thought else 12_000)


@pytest.mark.parametrize("text", ["the " * 4000, "!" * 9000, "x" * 24_000], ids=["word", "mark", "letter"])
def test_a_filling_is_a_stutter_in_a_thought_and_may_be_meant_in_an_answer(text: str) -> None:
    assert heard(text, thought=True) is not None
    assert heard(text, thought=False) is None


def test_a_thought_of_short_lines_that_goes_round_is_noticed() -> None:
    assert heard("Wait, no.\n\nActually, yes.\n\n" * 200, thought=True) is not None


def _reasoning() -> str:
    words = ("because", "however", "therefore", "value", "function", "list", "check", "error", "maybe", "tree")
    chosen = random.Random(7)
    return " ".join(chosen.choice(words) + ("." if chosen.random() < 0.1 else "") for _ in range(20_000))


LEGITIMATE = {
    "long reasoning": _reasoning(),
    "table": "".join(f"| item {n} | pending | pending | to be decided by the whole team later |\n" for n in range(400)),
    "same rows": "| yes | no | n/a | open |\n" * 400,
    "code": "".join(f"    assert parse(b'{n}').value == Decimal('{n}'), 'case {n} is read'\n" for n in range(400)),
    "same code": "    counter = counter + 1\n" * 400,
    "list": "- [ ] buy milk and bread\n" * 300,
    "drawing": ("|" + " " * 70 + "|\n") * 100 + ("=" * 72 + "\n") * 100,
    "refrain": "".join(f"Verse {n} tells of a winter that nobody had seen before.\n{PARAGRAPH}" + "".join(
        f"Line {line} of verse {n} goes on about the snow and the birds and the long way home.\n" for line in range(6)
    ) for n in range(40)),
    "twice": PARAGRAPH * 2,
}  # fmt: skip


@pytest.mark.parametrize("name", LEGITIMATE)
def test_what_only_looks_alike_is_let_through(name: str) -> None:
    assert heard(LEGITIMATE[name], thought=False) is None


@pytest.mark.parametrize("name", ["long reasoning", "table", "code", "drawing", "twice"])
def test_a_thought_may_be_long(name: str) -> None:
    assert heard(LEGITIMATE[name], thought=True) is None
