"""What a server says of its actions is made fit for models, or left out with a reason."""

from typing import Any

import pytest

from aster.asset_directory.actions import MOST_ACTIONS, Said, checkable, offered

EMPTY: dict[str, Any] = {"type": "object"}


def test_names_are_made_plain_and_the_original_is_kept() -> None:
    (action,), problems = offered("git", [Said("repo/log all", "Logs.", EMPTY)])
    assert (action.name, action.original, problems) == ("git.repo_log_all", "repo/log all", ())


def test_the_first_of_two_alike_stays() -> None:
    (action,), (problem,) = offered("s", [Said("a.b", "first", EMPTY), Said("a_b", "second", EMPTY)])
    assert (action.description, "another action" in problem) == ("first", True)


@pytest.mark.parametrize(
    ("name", "schema", "problem"),
    [
        ("", EMPTY, "empty or too long"),
        ("x" * 62, EMPTY, "empty or too long"),
        ("a", {"type": "array"}, "not an object"),
        ("a", None, "not an object"),
        ("a", {"type": "object", "description": "x" * 30_000}, "larger than"),
        ("a", {"type": "object", "properties": {"b": {"$ref": "https://example.com/s"}}}, "outside of it"),
    ],
)
def test_what_does_not_fit_is_left_out(name: str, schema: object, problem: str) -> None:
    actions, (said,) = offered("s", [Said(name, "d", schema)])
    assert (actions, problem in said) == ((), True)


def test_a_schema_without_end_is_left_out() -> None:
    schema: dict[str, Any] = {"type": "object"}
    for _ in range(60):
        schema = {"type": "object", "properties": {"x": schema}}
    assert "nested too deeply" in offered("s", [Said("a", "d", schema)]).problems[0]


def test_a_list_without_end_is_cut() -> None:
    offer = offered("s", (Said(f"a{number}", "d", EMPTY) for number in range(MOST_ACTIONS * 10)))
    assert (len(offer.actions), "only its first" in offer.problems[-1]) == (MOST_ACTIONS, True)


def test_a_pin_is_for_everything_that_is_said() -> None:
    said = Said("a", "does it", {"type": "object", "properties": {"x": {"type": "string"}}})
    others = [
        said._replace(description="does it not"),
        said._replace(schema={"type": "object", "properties": {"x": {"type": "string", "description": "and y"}}}),
        said._replace(description="does it" + " " * 5000 + "and more"),
    ]
    pins = {offered("s", [one]).actions[0].pin for one in (said, *others)}
    assert len(pins) == 4
    assert offered("s", [said]) == offered("s", [said])


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"x": {"type": "nonsense"}}},
        {"type": "object", "properties": 7},
        {"type": "object", "required": 7},
    ],
)
def test_what_is_no_schema_is_left_out(schema: dict[str, Any]) -> None:
    assert "not a valid JSON Schema" in offered("s", [Said("a", "d", schema)]).problems[0]


def test_nothing_of_a_strangers_schema_is_evaluated_that_could_take_for_ever() -> None:
    twice = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(40)}
    schema = {
        "type": "object",
        "$ref": "#",
        "$defs": twice,
        "patternProperties": {"(a+)+$": {}},
        "properties": {"x": {"type": "string", "pattern": "(a+)+$", "$ref": "#/$defs/d0"}, "y": True},
        "required": ["x"],
    }
    assert checkable(schema) == {
        "type": "object",
        "properties": {"x": {"type": "string"}, "y": {}},
        "required": ["x"],
    }
