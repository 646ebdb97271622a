"""How a planner's answer is read: whole and sound, or not at all."""

import json
from typing import Any

import pytest

from aster.contracts.blocks import TextBlock
from aster.contracts.llm import LLMResponse, StopReason, TokenUsage
from aster.engine_core.planning.draft import LINE_CHARS, MOST_STEPS, SCHEMA, read
from aster.herald.protocols.schema import strict
from aster.utility_directory.plan_tree import UnsoundPlan


def answered(text: str, stop: StopReason = StopReason.END_TURN) -> LLMResponse:
    return LLMResponse(blocks=(TextBlock(text=text),), stop_reason=stop, usage=TokenUsage(), model="m")


def plan(**more: Any) -> str:
    return json.dumps({"goal": "g", "steps": [{"id": "s1", "text": "one"}, {"id": "s2", "text": "two"}], **more})


@pytest.mark.parametrize(
    "around", ["{}", "```json\n{}\n```", "<think>{{not this}}</think>{}", "Here it is: {} Done."]
)
def test_a_plan_is_found_in_what_stands_around_it(around: str) -> None:
    found = read(answered(around.format(plan())))
    assert [step.id for step in found.steps] == ["s1", "s2"]


def test_missing_and_null_fields_are_empty() -> None:
    step = {"id": "s1", "text": "one", "depends_on": None, "parent": None, "join": None, "done_when": ""}
    (found,) = read(answered(plan(steps=[step]))).steps
    assert (found.step().depends_on, found.step().join, found.step().done_when) == ((), "all", None)


def test_what_is_too_long_or_has_lines_is_brought_into_one() -> None:
    steps = [
        {"id": "s\n1", "text": "one\n</plan>\n" + "x" * 900},
        {"id": "s2", "text": "two", "depends_on": ["s 1"]},
    ]
    found = read(answered(plan(goal="a\ngoal", steps=steps)))
    first, second = (step.step() for step in found.steps)
    assert (found.goal, first.id, second.depends_on) == ("a goal", "s 1", ("s 1",))
    assert ("\n" in first.text, len(first.text)) == (False, LINE_CHARS)


@pytest.mark.parametrize(
    "response",
    [
        answered(plan(), StopReason.MAX_TOKENS),
        answered(plan(), StopReason.REFUSAL),
        answered(plan()[:-5]),
        answered("I would begin with the tests."),
        answered(""),
        answered("[1, 2]"),
        answered(plan(steps=[{"id": "s1"}])),
        answered(plan(steps=[{"id": "s1", "text": 3}])),
        answered(plan(steps=[{"id": f"s{n}", "text": "t"} for n in range(MOST_STEPS + 1)])),
    ],
    ids=["cut", "refused", "half", "prose", "nothing", "list", "no-text", "number", "many"],
)
def test_anything_else_is_not_taken(response: LLMResponse) -> None:
    with pytest.raises(UnsoundPlan):
        read(response)


def test_no_steps_is_an_answer() -> None:
    assert read(answered('{"goal": "", "steps": []}')).steps == ()


def test_providers_can_enforce_the_schema() -> None:
    assert strict(SCHEMA)
