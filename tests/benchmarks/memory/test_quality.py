"""The benchmark of memory on a file of its own: what it reads, what it asks, what it writes."""

import json
from pathlib import Path
from typing import Any

import pytest
from benchmarks.memory.corpus import conversations
from benchmarks.memory.measures import Outcome, below, means
from benchmarks.memory.negatives import renamed
from benchmarks.memory.quality import measured, weathered
from benchmarks.memory.weather import WEATHER

from aster.memory.embeddings.minilm import MiniLM


def turn(label: str, speaker: str, text: str) -> dict[str, Any]:
    return {"id": label, "session": 1, "date_iso": "2026-03-02T10:00:00", "speaker": speaker, "text": text}


TALKS: dict[str, Any] = {
    "conversations": [
        {
            "conv_id": "one",
            "speakers": ["Anna", "Ben"],
            "turns": [
                turn("D1:1", "Anna", "I finally adopted a puppy from the shelter, a beagle called Biscuit."),
                turn("D1:2", "Ben", "Congratulations! How old is the little one?"),
                turn("D1:3", "Anna", "Four months, and already chewing every shoe."),
            ],
            "queries": [
                {"qid": "q1", "question": "What is Anna's dog called?", "category": "a", "evidence": ["D1:1"]}
            ],
        },
        {
            "conv_id": "two",
            "speakers": ["Carla", "Dan"],
            "turns": [
                turn("D1:1", "Carla", "We moved the launch of the website to the end of May."),
                turn("D1:2", "Dan", "Twenty thousand euros for the campaign, not a cent more."),
            ],
            "queries": [
                {"qid": "q1", "question": "How many euros for the campaign?", "category": "b", "evidence": ["D1:2"]}
            ],
        },
    ]
}
TEXTS: dict[str, Any] = {
    "docs": ["The lighthouse was built in 1820.", "Bees make honey.", "The opera opened in spring."],
    "ids": ["Lighthouse", "Bees", "Opera"],
    "queries": [{"question": "When was the lighthouse built?", "evidence": ["Lighthouse"]}],
}


def written(path: Path, data: dict[str, Any]) -> Path:
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


async def test_a_file_of_conversations_is_remembered_asked_and_ranked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    talks, texts = written(tmp_path / "talks.json", TALKS), written(tmp_path / "texts.json", TEXTS)
    await measured(talks, MiniLM(), ranked=tmp_path / "out.json", others=[texts])
    ranked = json.loads((tmp_path / "out.json").read_text())
    assert ranked["one/q1"][0] == "D1:1"
    assert ranked["two/q1"][0] == "D1:2"
    told = capsys.readouterr().out
    assert all(name in told for name in ("aster", "keyword alone", "vector alone", "plain RRF", "by category"))
    assert "of another conversation: 2 questions, 100.0% get nothing" in told
    assert "of texts: 1 questions, 100.0% get nothing" in told


async def test_a_file_of_documents_too(tmp_path: Path) -> None:
    await measured(written(tmp_path / "texts.json", TEXTS), MiniLM(), ranked=tmp_path / "out.json")
    assert json.loads((tmp_path / "out.json").read_text())["0"][0] == "Lighthouse"


async def test_badly_written_files_are_measured_next_to_keyword_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    await weathered(written(tmp_path / "talks.json", TALKS), MiniLM())
    lines = capsys.readouterr().out.splitlines()
    assert [line.strip()[: len(name)] for line, name in zip(lines[1:], WEATHER, strict=True)] == list(WEATHER)


def test_what_is_done_to_a_file_changes_only_how_it_is_written(tmp_path: Path) -> None:
    for plain in conversations(written(tmp_path / "talks.json", TALKS)):
        for change in WEATHER.values():
            changed = change(plain)
            assert sorted(line.label for line in changed.lines) == sorted(line.label for line in plain.lines)
            assert [one.evidence for one in changed.questions] == [one.evidence for one in plain.questions]
            assert change(plain) == changed


def test_names_are_those_of_other_people() -> None:
    assert renamed("Did Anna call Ben?", ("Anna", "Ben"), ("Carla", "Dan")) == "Did Carla call Dan?"
    assert renamed("Did Anna call Ben?", (), ("Carla",)) == "Did Anna call Ben?"


def test_where_others_find_more_is_told(tmp_path: Path) -> None:
    asked = [one.questions[0] for one in conversations(written(tmp_path / "talks.json", TALKS))]
    all_found = [Outcome(question, question.evidence) for question in asked]
    half_found = [Outcome(asked[0], ()), all_found[1]]
    assert below(half_found, all_found) == ["a"]
    assert below(all_found, half_found) == []
    assert means(half_found)[1] == 0.5
