"""Whether the right records are found, and nothing when there is nothing: every question of a file asked of its own
conversation, and of others, where it has no answer."""

import json
from collections.abc import Sequence
from pathlib import Path

from aster.memory.embeddings.embedder import Embedder
from benchmarks.memory.corpus import Conversation, conversations
from benchmarks.memory.library import Library, Placed, library
from benchmarks.memory.measures import Outcome, below, means, table
from benchmarks.memory.methods import OURS, TUNINGS, Method, Textbook, hydrated, methods
from benchmarks.memory.negatives import unanswerable
from benchmarks.memory.weather import WEATHER


async def measured(
    path: Path, model: Embedder, *, ranked: Path | None = None, others: Sequence[Path] = (), ablation: bool = False
) -> None:
    """Print the tables of a file; write our ranking of every question to `ranked`. `others` are files whose questions
    have no answer in this one."""
    here = conversations(path)
    async with library(model) as shelves:
        placed = await _placed(shelves, here)
        ways = await methods(shelves, ablation)
        ours = await _outcomes(placed, ways[OURS])
        if ranked is not None:
            found = {outcome.question.key: list(outcome.found) for outcome in ours}
            ranked.write_text(json.dumps(found, ensure_ascii=False), encoding="utf-8")
        rest = {name: await _outcomes(placed, way) for name, way in ways.items() if name != OURS}
        print(f"{path.name}: {sum(len(one.lines) for one in here)} records\n{table({OURS: ours, **rest})}")
        for name, asked in unanswerable(placed, [(other.stem, conversations(other)) for other in others]):
            silent = [not await ways[OURS](there, text) for there, text in asked]
            print(
                f"no answer in memory, {name}: {len(silent)} questions, {sum(silent) / len(silent):.1%} get nothing"
            )


async def weathered(path: Path, model: Embedder) -> None:
    """Print what is found when a file is written as people write, next to keyword alone."""
    print(f"{path.name}, recall@10{'':14}keyword   aster   gated  categories below keyword")
    for name, change in WEATHER.items():
        async with library(model) as shelves:
            placed = await _placed(shelves, [change(one) for one in conversations(path)])
            ways: dict[str, Method] = {"keyword": Textbook(shelves).keyword}
            ways |= {each: await hydrated(shelves, tuning) for each, tuning in TUNINGS.items()}
            words, gated, ours = [await _outcomes(placed, way) for way in ways.values()]
            cells = "".join(f"{means(one)[1]:8.3f}" for one in (words, ours, gated))
            print(f"  {name:32}{cells}  {', '.join(below(ours, words)) or 'none'}", flush=True)


async def _placed(shelves: Library, here: Sequence[Conversation]) -> list[Placed]:
    memory = await shelves.memory()
    placed = [await shelves.put(memory, one, number) for number, one in enumerate(here)]
    await memory.embedded()
    return placed


async def _outcomes(placed: Sequence[Placed], way: Method) -> list[Outcome]:
    return [
        Outcome(question, await way(one, question.text))
        for one in placed
        for question in one.conversation.questions
    ]
