"""A model that is set challenges: it solves those that come with the engine by their own solutions, as well or as badly
as a test says, and words a lesson when it is asked to."""

import json
from collections.abc import Callable
from typing import Any

from aster.learning_centre.self_play.challenge import Challenge
from aster.learning_centre.self_play.templates import shipped
from aster.testing import Answer, Failure, ModelServer, RecordedCall, Reply, Text, ToolCall

LESSON = {
    "trigger": "programs that read their input line by line",
    "mistake": "empty input was not thought of",
    "correct_pattern": "Run a program on empty and unusual input before calling it done",
    "domain": "algo",
}


class Player:
    """`solves` says what is written at which try (None: nothing); `does` are calls that are made before that, and
    `thinks_up` answers the wish for a new challenge. `met` are the challenges it was set. While it `breaks`, it
    words no lesson."""

    def __init__(self) -> None:
        self.solves: Callable[[Challenge, int], str | None] = lambda challenge, _: challenge.reference
        self.does: list[ToolCall] = []
        self.lesson: dict[str, Any] = {"lesson": LESSON}
        self.thinks_up: list[dict[str, Any]] = []
        self.asked: list[dict[str, Any]] = []
        self.met: list[Challenge] = []
        self.breaks = False
        self.challenges = {one.told: one for one in shipped()}
        self.server = ModelServer([self._answer], models=("worker",))

    def _answer(self, call: RecordedCall) -> Answer | None:
        told = next(
            (
                one
                for text, one in self.challenges.items()
                if text in json.dumps(call.body, ensure_ascii=False)
                or json.dumps(text)[1:-1] in json.dumps(call.body)
            ),
            None,
        )
        material = _material(call)
        if material is not None:
            self.asked.append(material)
            if self.breaks and "why_it_failed" in material:
                return Failure(400)
            return Reply([Text(json.dumps(self._said(material)))])
        if told is None:
            return Reply([Text("All right.")])
        return self._solving(call, told)

    def _said(self, material: dict[str, Any]) -> dict[str, Any]:
        if "why_it_failed" in material:
            return self.lesson
        return self.thinks_up.pop(0) if self.thinks_up and "titles" in material else {}

    def _solving(self, call: RecordedCall, challenge: Challenge) -> Answer:
        attempt = json.dumps(call.body).count("The check did not let it pass") + 1
        if call.round == 0 and attempt == 1:
            self.met.append(challenge)
        if call.round < len(self.does):
            return Reply([self.does[call.round]])
        solution = self.solves(challenge, attempt)
        if call.round == len(self.does) and solution is not None:
            return Reply([ToolCall("write_file", {"path": challenge.solution, "content": solution})])
        return Reply([Text("Done.")])


def _material(call: RecordedCall) -> dict[str, Any] | None:
    try:
        material = json.loads(call.text)
    except ValueError:
        return None
    return material if isinstance(material, dict) else None
