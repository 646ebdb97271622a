"""Whether the right records are found, and nothing when there is nothing: every question of a file on the shelf of its
conversation, and again on the shelf of the next conversation, where it has no answer."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from aster.memory.embeddings.embedder import Reader, Reading
from aster.memory.retrieval.query import Query, analysed
from aster.memory.retrieval.shelf import Shelf
from benchmarks.memory.corpus import Conversation, conversations
from benchmarks.memory.measures import Outcome, table
from benchmarks.memory.methods import ABLATIONS, METHODS, Method, ours
from benchmarks.memory.shelves import shelf


@dataclass(frozen=True, slots=True)
class Stage:
    """A conversation on its shelf, with its questions read."""

    conversation: Conversation
    shelf: Shelf
    asked: tuple[tuple[Query, Reading], ...]


async def measured(path: Path, ranked: Path | None, model: Reader, ablation: bool) -> None:
    """Print the tables of a file; write our ranking of every question to `ranked`."""
    stages = [await _stage(one, model) for one in conversations(path)]
    wanted = METHODS | (ABLATIONS if ablation else {})
    methods = {name: _outcomes(stages, method) for name, method in wanted.items()}
    print(f"{path.name}: {sum(len(one.conversation.items) for one in stages)} records\n{table(methods)}")
    if len(stages) > 1:
        print(await _negatives(stages, model))
    if ranked is not None:
        found = {outcome.question.key: list(outcome.found) for outcome in methods["aster"]}
        ranked.write_text(json.dumps(found, ensure_ascii=False), encoding="utf-8")


async def _stage(conversation: Conversation, model: Reader) -> Stage:
    readings = await model.read([item.text for item in conversation.items])
    asked = await _read(conversation, [question.text for question in conversation.questions], model)
    kept = shelf(conversation.names, len(readings[0].vector))
    kept.add(conversation.items, readings)
    return Stage(conversation, kept, asked)


async def _read(
    conversation: Conversation, questions: Sequence[str], model: Reader
) -> tuple[tuple[Query, Reading], ...]:
    queries = [analysed(text, conversation.names, conversation.now) for text in questions]
    return tuple(zip(queries, await model.read([query.meaning for query in queries]), strict=True))


def _outcomes(stages: Sequence[Stage], method: Method) -> list[Outcome]:
    return [
        Outcome(question, _labels(stage, method, query, reading))
        for stage in stages
        for question, (query, reading) in zip(stage.conversation.questions, stage.asked, strict=True)
    ]


def _labels(stage: Stage, method: Method, query: Query, reading: Reading) -> tuple[str, ...]:
    now = int(stage.conversation.now.timestamp() * 1000)
    return tuple(stage.conversation.labels[number] for number in method(stage.shelf, query, reading, now))


async def _negatives(stages: Sequence[Stage], model: Reader) -> str:
    """The share of questions that get nothing on the shelf of another conversation: as they are, and with the names
    in them known there too, when only what was said can tell."""
    silent: Mapping[str, list[bool]] = {"names as they are": [], "names known": []}
    for here, there in zip(stages, [*stages[1:], stages[0]], strict=True):
        texts = [question.text for question in here.conversation.questions]
        known = [(query, reading) for query, reading in here.asked if query.people]
        silent["names as they are"].extend(
            not _labels(there, ours, query, reading)
            for query, reading in await _read(there.conversation, texts, model)
        )
        silent["names known"].extend(not _labels(there, ours, query, reading) for query, reading in known)
    return "\n".join(
        f"no answer in memory, {name}: {len(rows)} questions, {sum(rows) / len(rows):.1%} get nothing"
        for name, rows in silent.items()
        if rows
    )
