"""How fast one stream can be, and how many turns fit into a second."""

import asyncio
from pathlib import Path
from statistics import median
from time import monotonic

from benchmarks.figures import Figure
from benchmarks.prompt import say
from benchmarks.scale import Scale
from benchmarks.stage import Stage, stage
from benchmarks.subjects import Subject

WORDS = 50
TURN_SECONDS = 60.0


async def one_stream(directory: Path, scale: Scale) -> list[Figure]:
    """Tokens a second of a model that does not wait, from its first byte to the end of the turn."""
    rates: dict[str, list[float]] = {"aster": [], "proxy": []}
    async with stage(directory) as on:
        for subject in on.alternating(scale.fast_streams):
            rates[subject.name].append(await _rate(on, subject, scale.stream_tokens))
    name = f"one unthrottled stream of {scale.stream_tokens} tokens"
    return [Figure("stream", name, "tokens/s", median(rates["aster"]), median(rates["proxy"]))]


async def _rate(on: Stage, subject: Subject, tokens: int) -> float:
    await on.model.forget()
    prompt = say(tokens)
    turn = await subject.turn(prompt)
    call = (await on.model.calls_of(prompt))[0]
    return tokens / (turn.ended - call.began)


async def many_turns(directory: Path, scale: Scale) -> list[Figure]:
    """A closed loop: so many clients, each asking again as soon as it has its answer, always on a new task."""
    figures: list[Figure] = []
    async with stage(directory) as on:
        for level in scale.load_levels:
            aster, proxy = [await _turns_per_second(subject, level, scale.load_seconds) for subject in on.subjects]
            figures.append(Figure("load", f"turns of {WORDS} tokens, {level} at once", "turns/s", aster, proxy))
    return figures


async def _turns_per_second(subject: Subject, clients: int, seconds: float) -> float:
    done = 0
    began = monotonic()
    until = began + seconds

    async def client() -> None:
        nonlocal done
        while monotonic() < until:
            await subject.turn(say(WORDS), timeout=TURN_SECONDS)
            done += 1

    async with asyncio.TaskGroup() as group:
        for _ in range(clients):
            group.create_task(client())
    return done / (monotonic() - began)
