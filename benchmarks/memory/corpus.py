"""Annotated conversations from a file: what was said, questions, and which lines answer each.

Two shapes are read: conversations with turns, and a flat list of documents. Nothing of a file but its texts,
speakers, times and sessions is remembered; the evidence is for scoring alone.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Question:
    key: str
    text: str
    category: str
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Line:
    """Something that was said; `label` is what the file calls it, `when` is milliseconds."""

    label: str
    text: str
    speaker: str = ""
    session: str = ""
    when: int | None = None


@dataclass(frozen=True, slots=True)
class Conversation:
    """`now` is the moment from which its questions are asked, None for when they are; `documents`: its lines are texts
    that have nothing to do with each other."""

    name: str
    speakers: tuple[str, ...]
    lines: tuple[Line, ...]
    questions: tuple[Question, ...]
    now: int | None = None
    documents: bool = False


def conversations(path: Path) -> list[Conversation]:
    data = json.loads(path.read_text(encoding="utf-8"))
    return [_conversation(one) for one in data["conversations"]] if "conversations" in data else [_documents(data)]


def _conversation(data: dict[str, Any]) -> Conversation:
    lines = tuple(_lines(data["turns"]))
    return Conversation(
        str(data["conv_id"]),
        tuple(dict.fromkeys(line.speaker for line in lines if line.speaker)),
        lines,
        tuple(_question(f"{data['conv_id']}/{one['qid']}", one) for one in data["queries"]),
        max((line.when for line in lines if line.when is not None), default=None),
    )


def _lines(turns: list[dict[str, Any]]) -> Iterator[Line]:
    for turn in turns:
        date, caption = turn.get("date_iso"), turn.get("caption")
        moment = datetime.fromisoformat(date) if date else None
        moment = moment if moment is None or moment.tzinfo else moment.replace(tzinfo=UTC)
        yield Line(
            str(turn["id"]),
            f"{turn['text']} [{caption}]" if caption else str(turn["text"]),
            turn.get("speaker") or "",
            str(turn.get("session", "")),
            None if moment is None else int(moment.timestamp() * 1000),
        )


def _documents(data: dict[str, Any]) -> Conversation:
    labels = data.get("ids", range(len(data["docs"])))
    lines = tuple(Line(str(label), text) for label, text in zip(labels, data["docs"], strict=True))
    asked = (_question(str(one.get("qid", n)), {"category": "all", **one}) for n, one in enumerate(data["queries"]))
    return Conversation("documents", (), lines, tuple(asked), documents=True)


def _question(key: str, data: dict[str, Any]) -> Question:
    evidence = tuple(str(one) for one in data["evidence"])
    return Question(key, data["question"], str(data.get("category", "all")), evidence)
