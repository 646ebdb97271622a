"""Turns that are more than one answer: a loop over tools, and the two-hundredth turn of a task."""

from pathlib import Path
from statistics import median

from benchmarks.figures import Figure
from benchmarks.prompt import Prompt, call, say
from benchmarks.scale import Scale
from benchmarks.stage import stage

ROUNDS = 10
NEAR = 4
SPEECH = "What a person says in one turn of a long conversation is about as long as this short paragraph. "


async def tool_loop(directory: Path, scale: Scale) -> list[Figure]:
    """Ten calls one after the other, then an answer: eleven model calls. The proxy's client runs no tool.

    `flag_uncertainty` only makes a note: what its row has over the proxy's, divided by ten, is the pipeline of a call
    without the tool.
    """
    async with stage(directory) as on:
        notes = directory / "workspace"
        for number in range(1, ROUNDS + 1):
            (notes / f"note-{number}.txt").write_text("Remember the milk.\n")
        figures: list[Figure] = []
        read, run = {"path": str(notes / "note-$round.txt")}, {"command": "true $round"}
        note = {"kind": "assumption", "text": "$round"}
        for tool, arguments in (("flag_uncertainty", note), ("read_file", read), ("bash", run)):
            seconds: dict[str, list[float]] = {"aster": [], "proxy": []}
            for subject in on.alternating(scale.tool_loops):
                turn = await subject.turn(call(tool, arguments, rounds=ROUNDS))
                seconds[subject.name].append(turn.seconds * 1e3)
            name = f"turn with {ROUNDS} calls of {tool}"
            figures.append(Figure("tools", name, "ms", median(seconds["aster"]), median(seconds["proxy"])))
    return figures


async def long_task(directory: Path, scale: Scale) -> list[Figure]:
    """The same turn again and again on one task; the whole conversation goes to the model every time."""
    seconds: dict[str, list[float]] = {"aster": [], "proxy": []}
    async with stage(directory) as on:
        for _ in range(scale.history_turns[-1]):
            for subject in on.subjects:
                prompt = say(50)
                spoken = Prompt(f"{SPEECH}{prompt.text}", prompt.mark, prompt.words)
                turn = await subject.turn(spoken, "long-task")
                seconds[subject.name].append(turn.seconds * 1e3)
    return [
        Figure("history", f"turn {at} of one task", "ms", near(seconds["aster"], at), near(seconds["proxy"], at))
        for at in scale.history_turns
    ]


def near(values: list[float], at: int) -> float:
    """The median of the turns around one of them (counted from 1)."""
    return median(values[max(0, at - 1 - NEAR) : at + NEAR])
