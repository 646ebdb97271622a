"""A model that is both the one that answers people and the one that works at night, by rules a test gives it.

`dreams` answers what is to be tidied, `prefers` which of two answers is better, `learns` what a conversation teaches;
`answers` says what a person is told, and whether that depends on what is in the prompt."""

import json
from collections.abc import Callable
from typing import Any

from aster.testing import Answer, Failure, ModelServer, RecordedCall, Reply, Text

Material = dict[str, Any]


class Night:
    def __init__(self) -> None:
        self.dreams: Callable[[Material], dict[str, Any] | str | Failure] = lambda _: {}
        self.prefers: Callable[[str, str], str] = lambda _first, _second: "same"
        self.lessons: dict[str, dict[str, str]] = {}
        self.answers: Callable[[str, str], str | None] = lambda _message, _prompt: None
        self.asked: list[Material] = []
        self.server = ModelServer([self._answer], models=("worker",))

    def _answer(self, call: RecordedCall) -> Answer | None:
        material = _material(call)
        if material is None:
            said = self.answers(call.text, json.dumps(call.body))
            return None if said is None else Reply([Text(said)])
        self.asked.append(material)
        if "groups" in material:
            found = self.dreams(material)
            if isinstance(found, Failure):
                return found
            return Reply([Text(found if isinstance(found, str) else json.dumps(found))])
        if "first" in material:
            return Reply([Text(json.dumps({"better": self.prefers(material["first"], material["second"])}))])
        return Reply([Text(json.dumps({"lessons": self._learned(material)}))])

    def _learned(self, material: Material) -> list[dict[str, Any]]:
        """The lessons whose quote stands in a message."""
        return [
            {**lesson, "quote": quote, "message": message["message"]}
            for story in material.get("conversations", ())
            for message in story["messages"]
            for quote, lesson in self.lessons.items()
            if quote in message["person"]
        ]

    def of(self, name: str) -> list[Material]:
        """The material of every question that has a part of this name."""
        return [material for material in self.asked if name in material]


def _material(call: RecordedCall) -> Material | None:
    try:
        material = json.loads(call.text)
    except ValueError:
        return None
    return material if isinstance(material, dict) and {"groups", "first", "conversations"} & set(material) else None
