"""Annotated conversations from a file: records, questions, and which records answer each.

Two shapes are read: conversations with turns, and a flat list of documents. Nothing of a file but its texts,
speakers, times and sessions reaches a shelf; the evidence is for scoring alone.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from aster.memory.retrieval.shelf import Item


@dataclass(frozen=True, slots=True)
class Question:
    key: str
    text: str
    category: str
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Conversation:
    """`labels[i]` is what the file calls the record with number i."""

    name: str
    names: frozenset[str]
    items: tuple[Item, ...]
    labels: tuple[str, ...]
    questions: tuple[Question, ...]
    now: datetime


def conversations(path: Path) -> list[Conversation]:
    data = json.loads(path.read_text(encoding="utf-8"))
    return [_conversation(one) for one in data["conversations"]] if "conversations" in data else [_documents(data)]


def _conversation(data: dict[str, Any]) -> Conversation:
    items = tuple(_items(data["turns"]))
    moment = max((item.when for item in items), default=0)
    return Conversation(
        data["conv_id"],
        frozenset(name for name in data["speakers"] if name.lower() not in ("user", "assistant")),
        items,
        tuple(str(turn["id"]) for turn in data["turns"]),
        tuple(_question(f"{data['conv_id']}/{one['qid']}", one) for one in data["queries"]),
        datetime.fromtimestamp(moment / 1000, UTC),
    )


def _items(turns: list[dict[str, Any]]) -> Iterator[Item]:
    for number, turn in enumerate(turns):
        when = turn.get("date_iso")
        moment = datetime.fromisoformat(when).replace(tzinfo=UTC) if when else None
        text = f"{turn['text']} [{turn['caption']}]" if turn.get("caption") else turn["text"]
        yield Item(
            number,
            text,
            turn.get("speaker") or "",
            int(moment.timestamp() * 1000) if moment else 0,
            str(turn["session"]),
            number,
        )


def _documents(data: dict[str, Any]) -> Conversation:
    items = tuple(Item(number, text, session=str(number)) for number, text in enumerate(data["docs"]))
    asked = tuple(_question(str(n), {"category": "all", **one}) for n, one in enumerate(data["queries"]))
    labels = tuple(str(name) for name in data.get("ids", range(len(items))))
    return Conversation("", frozenset(), items, labels, asked, datetime.fromtimestamp(0, UTC))


def _question(key: str, data: dict[str, Any]) -> Question:
    evidence = tuple(str(one) for one in data["evidence"])
    return Question(key, data["question"], data["category"], evidence)
