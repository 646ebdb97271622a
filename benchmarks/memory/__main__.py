"""The command: ``python -m benchmarks.memory --dataset FILE [--ranked OUT.json]`` measures what is found,
``--weather`` how well when it is badly written; ``python -m benchmarks.memory --scale N`` measures what it costs."""

import argparse
import asyncio
from pathlib import Path

from aster.memory.embeddings.minilm import MiniLM
from benchmarks.memory.quality import measured, weathered
from benchmarks.memory.speed import timed


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.memory", description=__doc__)
    parser.add_argument(
        "--dataset", type=Path, action="append", default=[], help="a file of annotated conversations"
    )
    parser.add_argument("--ranked", type=Path, help="where to write the ranking of every question")
    parser.add_argument(
        "--unanswerable", type=Path, action="append", default=[], help="a file whose questions have no answer there"
    )
    parser.add_argument("--ablation", action="store_true", help="also without each part of the ranking")
    parser.add_argument("--weather", action="store_true", help="as people write: typing errors, no capitals …")
    parser.add_argument("--scale", type=int, help="how many made-up records to search")
    asked = parser.parse_args()
    if not asked.dataset and not asked.scale:
        parser.error("say --dataset FILE or --scale N")
    if asked.ranked and len(asked.dataset) != 1:
        parser.error("--ranked is for one --dataset")
    model = MiniLM()
    for path in asked.dataset:
        if asked.weather:
            asyncio.run(weathered(path, model))
        else:
            asyncio.run(
                measured(path, model, ranked=asked.ranked, others=asked.unanswerable, ablation=asked.ablation)
            )
    if asked.scale:
        asyncio.run(timed(asked.scale, model))


if __name__ == "__main__":
    main()
