"""A worker model that reads: it answers the question what is to be learned by rules on the material it is given, and
whatever a test adds to that, as if it had been talked into it."""

import json
import re
from collections.abc import Callable
from typing import Any

from aster.testing import Answer, ModelServer, RecordedCall, Reply, Text

Reads = Callable[[int, str], tuple[str, dict[str, Any]] | None]


def _trait(key: str, pattern: str, category: str = "root") -> Reads:
    def read(_: int, text: str) -> tuple[str, dict[str, Any]] | None:
        found = re.search(pattern, text, re.IGNORECASE)
        if found is None:
            return None
        return "traits", {"category": category, "key": key, "value": found[1], "quote": found[0]}

    return read


def _rule(_: int, text: str) -> tuple[str, dict[str, Any]] | None:
    found = re.search(r"(?:always|from now on) ((?:use|answer|write|keep)[^.!]+)", text, re.IGNORECASE)
    return None if found is None else ("rules", {"content": found[1].capitalize() + ".", "quote": found[0]})


def _relation(_: int, text: str) -> tuple[str, dict[str, Any]] | None:
    found = re.search(r"my (?:sister|colleague|brother) (\w+) works at (\w+)", text, re.IGNORECASE)
    if found is None:
        return None
    return "people", {"source": found[1], "relation": "works at", "target": found[2], "quote": found[0]}


def _fact(_: int, text: str) -> tuple[str, dict[str, Any]] | None:
    found = re.search(r"(?:our|the) (billing service) runs on ([\w ]+)", text, re.IGNORECASE)
    if found is None:
        return None
    content = f"The {found[1]} runs on {found[2]}"
    return "facts", {"subject": found[1], "predicate": "runs on", "content": content, "quote": found[0]}


def _soul(_: int, text: str) -> tuple[str, dict[str, Any]] | None:
    found = re.search(r"I want you to be ([^.!]+)", text)
    if found is None:
        return None
    return "soul", {"part": "patterns", "text": f"Be {found[1]}", "quote": found[0]}


def _lesson(_: int, text: str) -> tuple[str, dict[str, Any]] | None:
    found = re.search(r"use (\w+) instead of (\w+) (?:to|for) ([^.!]+)", text)
    if found is None:
        return None
    lesson = {"trigger": found[3], "mistake": f"{found[2]} was used", "correct_pattern": f"Use {found[1]}"}
    return "lessons", {**lesson, "quote": found[0]}


READS: tuple[Reads, ...] = (
    _trait("location", r"I (?:now )?live in (\w+)"),
    _trait("occupation", r"I work as an? ([\w ]+)"),
    _trait("drink", r"my favourite drink is ([\w ]+)", "preferences"),
    _trait("pet", r"I have a (\w+) called", "assets"),
    _rule,
    _relation,
    _fact,
    _soul,
    _lesson,
)


class Worker:
    """`extra` is proposed in every reply, whatever was said; `asked` is the material of every question."""

    def __init__(self) -> None:
        self.extra: dict[str, Any] = {}
        self.asked: list[dict[str, Any]] = []
        self.prefix = "<think>Let me see {what} there is.</think>\n"
        self.server = ModelServer([self.answer], models=("worker",))

    def answer(self, call: RecordedCall) -> Answer | None:
        try:
            material = json.loads(call.text)
        except ValueError:
            return None
        if "conversations" not in material:
            return None
        self.asked.append(material)
        return Reply([Text(f"{self.prefix}```json\n{json.dumps(self._found(material))}\n```")])

    def _found(self, material: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = {name: list(rows) for name, rows in self.extra.items()}
        for story in material["conversations"]:
            for message in story["messages"]:
                for read in READS:
                    seen = read(message["message"], message["person"])
                    if seen is not None:
                        name, row = seen
                        found.setdefault(name, []).append({**row, "message": message["message"]})
        return found
