"""What an answer means to the server that asked, and what is refused before the server gets it."""

from typing import Any

import pytest

from aster.asset_directory.asking import Told
from aster.brain.records import HitlRecord
from aster.contracts.model import encode
from aster.contracts.turn import Answer, Question
from aster.engine_core.connectors.elicitation import told, unfit

ONE = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
TWO = {
    "type": "object",
    "properties": {"age": {"type": "integer"}, "town": {"type": "string", "default": "Ulm"}},
    "required": ["age", "town"],
}
SURE = {"type": "object", "properties": {"sure": {"type": "boolean"}}}


def record(schema: dict[str, Any] | None) -> HitlRecord:
    asked = {"server": "s", **({"requested_schema": schema} if schema else {"url": "https://example.com"})}
    return HitlRecord(
        request_id="r",
        user_id="u",
        task_id="t",
        turn_id="turn",
        kind="elicitation",
        question="?",
        status="pending",
        created_at=0,
        input=encode(asked),
    )


def answer(schema: dict[str, Any] | None, text: str) -> Told:
    asked = {"requested_schema": schema} if schema else {"url": "https://example.com"}
    return told(Question(request_id="r", kind="elicitation", asked=asked, answer=Answer(text=text)))


@pytest.mark.parametrize(
    ("schema", "text", "action", "content"),
    [
        (ONE, "Ann", "accept", {"name": "Ann"}),
        (ONE, "42", "accept", {"name": "42"}),
        (ONE, '{"name": "Ann"}', "accept", {"name": "Ann"}),
        (ONE, "decline", "decline", None),
        (ONE, "cancel", "cancel", None),
        (TWO, '{"age": 7}', "accept", {"age": 7, "town": "Ulm"}),
        (SURE, "true", "accept", {"sure": True}),
        (SURE, "yes", "accept", {"sure": True}),
        (None, "done", "accept", None),
        (None, "no", "decline", None),
    ],
)
def test_what_an_answer_means(schema: Any, text: str, action: str, content: Any) -> None:
    assert unfit(record(schema), text) is None
    assert answer(schema, text) == Told(action=action, content=content)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("schema", "text"),
    [(TWO, "seven"), (TWO, '{"age": "seven"}'), (TWO, "{}"), (SURE, '"maybe"'), (None, "perhaps")],
)
def test_what_does_not_fit_is_refused(schema: Any, text: str) -> None:
    assert unfit(record(schema), text) is not None
