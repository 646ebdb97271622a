"""What Aster adds to a turn that waits for its model: to the first token, and to the whole turn."""

from pathlib import Path
from statistics import median

from benchmarks.figures import Figure, percentile
from benchmarks.prompt import say
from benchmarks.scale import Scale
from benchmarks.stage import Stage, stage
from benchmarks.subjects import Subject


async def first_token(directory: Path, scale: Scale) -> list[Figure]:
    """From the client to the model, and from the model's first token back; the model's own time is left out."""
    added: dict[str, list[float]] = {"aster": [], "proxy": []}
    async with stage(directory) as on:
        for subject in on.alternating(scale.first_tokens):
            added[subject.name].append(await _until_first(on, subject))
    return [
        Figure("ttft", name, "ms", pick(added["aster"]), pick(added["proxy"]))
        for name, pick in (
            ("added time to first token, median", median),
            ("added time to first token, p95", lambda values: percentile(values, 0.95)),
        )
    ]


async def _until_first(on: Stage, subject: Subject) -> float:
    await on.model.forget()
    prompt = say(10, rate=100, delay=0.05)
    turn = await subject.turn(prompt)
    call = (await on.model.calls_of(prompt))[0]
    return (call.arrived - turn.sent + turn.first - call.began) * 1e3


async def whole_turn(directory: Path, scale: Scale) -> list[Figure]:
    """200 tokens at 200 a second: the turn's time less the model's."""
    added: dict[str, list[float]] = {"aster": [], "proxy": []}
    async with stage(directory) as on:
        for subject in on.alternating(scale.slow_turns):
            await on.model.forget()
            prompt = say(200, rate=200)
            turn = await subject.turn(prompt)
            calls = await on.model.calls_of(prompt)
            added[subject.name].append((turn.seconds - sum(call.seconds for call in calls)) * 1e3)
    return [
        Figure(
            "turn",
            "added time of a turn of 200 tokens at 200/s",
            "ms",
            median(added["aster"]),
            median(added["proxy"]),
        )
    ]
