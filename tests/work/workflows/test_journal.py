"""The keys of a journal, and what an answer is worth."""

import pytest

from aster.work.workflows.journal import AgentCall, canonical, read

ASKED = AgentCall(
    prompt="Count", output={"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
)


def test_the_same_question_has_the_same_key_and_any_other_another() -> None:
    same = AgentCall(
        prompt="Count", output={"required": ["n"], "properties": {"n": {"type": "integer"}}, "type": "object"}
    )
    assert ASKED.key == same.key
    others = [
        AgentCall(prompt="Count", output=None),
        AgentCall(prompt="Count!", output=ASKED.output),
        AgentCall(prompt="Count", output=ASKED.output, label="x"),
        AgentCall(prompt="Count", output=ASKED.output, agent="x"),
    ]
    assert len({ASKED.key, *(call.key for call in others)}) == 5


def test_the_order_of_keys_does_not_matter() -> None:
    assert canonical({"b": [1, {"d": "ä", "c": 2}], "a": None}) == '{"a":null,"b":[1,{"c":2,"d":"ä"}]}'.encode()


@pytest.mark.parametrize(
    "text", ['{"n": 3}', '```json\n{"n": 3}\n```', 'Here it is:\n```\n{"n": 1}\n```\n```json\n{"n": 3}\n```']
)
def test_an_answer_that_fits_is_its_value(text: str) -> None:
    assert read(ASKED, text) == ({"n": 3}, "")


@pytest.mark.parametrize("text", ["three", '{"n": "3"}', "[]", "", '{"n": 3} and more', "[" * 100_000])
def test_an_answer_that_does_not_fit_says_why(text: str) -> None:
    assert read(ASKED, text)[1]


def test_without_a_schema_it_is_what_was_said() -> None:
    assert read(AgentCall(prompt="Say"), "anything") == ("anything", "")
    assert AgentCall(prompt="Say").words == "Say"
    assert "fits this schema" in ASKED.words
