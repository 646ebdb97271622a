"""The reply a small model is held to, and the reader that follows it at every boundary."""

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aster.contracts.tools import ToolDef
from aster.herald.local.constrain import ReplyReader, reply_schema, required_input
from aster.utility_directory.platform_registry import platform_tools

TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=60)
JSON_STYLES = st.fixed_dictionaries(
    {"ensure_ascii": st.booleans(), "indent": st.sampled_from([None, 0, 2]), "separators": st.just((",", ":"))}
)


def read(reply: str, cuts: list[int]) -> tuple[ReplyReader, str]:
    reader, said, at = ReplyReader(), "", 0
    for cut in [*sorted(cut % (len(reply) + 1) for cut in cuts), len(reply)]:
        said += reader.feed(reply[at:cut])
        at = cut
    return reader, said + reader.end()


@given(TEXT, st.sampled_from([{}, {"about": "talk"}]), JSON_STYLES, st.lists(st.integers(0, 500), max_size=20))
def test_an_answer_streams_as_it_was_meant(text: str, head: Any, style: Any, cuts: list[int]) -> None:
    reader, said = read(json.dumps({**head, "answer": text}, **style), cuts)
    assert (reader.tool, said) == (None, text)


@given(st.dictionaries(TEXT, TEXT, max_size=3), JSON_STYLES, st.lists(st.integers(0, 500), max_size=20))
def test_a_call_is_read_whole_and_says_nothing(given: Any, style: Any, cuts: list[int]) -> None:
    reader, said = read(json.dumps({"about": "work", "tool": "grep", "input": given}, **style), cuts)
    assert (reader.tool, said) == ("grep", "")
    assert reader.call() == (given, None)


@given(TEXT.filter(lambda text: not text.lstrip().startswith("{")), st.lists(st.integers(0, 500), max_size=20))
def test_what_is_no_reply_is_text(text: str, cuts: list[int]) -> None:
    assert read(text, cuts)[1] == text


@given(TEXT, st.lists(st.integers(0, 500), max_size=20))
def test_nothing_that_was_said_is_lost(text: str, cuts: list[int]) -> None:
    assert read('{"other":' + text, cuts)[1] == '{"other":' + text


def test_every_character_is_shown_as_soon_as_it_is_known() -> None:
    reader = ReplyReader()
    assert [reader.feed(piece) for piece in ('{"answer":"', "a", "\\", "n", "b\\u00", "e9", "c", '"}')] == [
        *("", "a", "", "\n", "b", "é", "c", "")
    ]


@pytest.mark.parametrize("half", ["\\ud83d", "\\ude00", "\\ud83d\\u0041"])
def test_half_a_pair_is_a_sign_and_not_a_crash(half: str) -> None:
    _, said = read(f'{{"answer":"x{half}y"}}', [])
    assert said[0] + said[-1] == "xy"
    assert "\ufffd" in said
    said.encode()


def test_a_call_that_was_cut_off_is_kept_as_it_came() -> None:
    reader, _ = read('{"tool":"bash","input":{"command":"ls', [])
    assert reader.tool == "bash"
    assert reader.call() == ({}, '{"tool":"bash","input":{"command":"ls')


def test_the_name_is_known_before_the_input() -> None:
    reader = ReplyReader()
    assert reader.feed('{"about":"work","tool":"read') == ""
    assert reader.tool is None
    assert reader.feed('_file",') == ""
    assert reader.tool == "read_file"


def test_the_schema_takes_answers_and_calls_of_what_is_required() -> None:
    check = jsonschema.Draft202012Validator(reply_schema(platform_tools().definitions)).is_valid
    assert check({"about": "talk", "answer": "hi"})
    assert check({"about": "work", "tool": "read_file", "input": {"path": "a"}})
    assert not check({"about": "work", "tool": "read_file", "input": {}})
    assert not check({"about": "work", "tool": "rm", "input": {}})
    assert not check({"answer": "hi"})


def test_a_schema_is_said_in_simple_words() -> None:
    schema = {
        "$defs": {"place": {"type": "object", "properties": {"city": {"type": "string", "pattern": "^x"}}}},
        "type": "object",
        "properties": {
            "where": {"$ref": "#/$defs/place"},
            "how": {"oneOf": [{"type": "string", "format": "uri"}, {"enum": [1, 2]}]},
            "lost": {"$ref": "#/$defs/nowhere"},
            "spare": {"type": "string"},
        },
        "required": ["where", "how", "lost"],
    }
    assert required_input(ToolDef(name="t", description="T.", input_schema=schema))["properties"] == {
        "where": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "additionalProperties": False,
        },
        "how": {"anyOf": [{"type": "string"}, {"enum": [1, 2]}]},
        "lost": {},
    }


def test_a_tool_that_requires_nothing_keeps_its_choices() -> None:
    schema = {"type": "object", "properties": {"zone": {"type": "string"}}}
    shown = required_input(ToolDef(name="clock", description="The time.", input_schema=schema))
    assert (list(shown["properties"]), shown["required"]) == (["zone"], [])


def test_of_two_ways_to_call_a_tool_the_simpler_is_shown() -> None:
    edit = next(tool for tool in platform_tools().definitions if tool.name == "edit_file")
    assert required_input(edit)["required"] == ["path", "old_text", "new_text"]


def test_a_schema_that_refers_to_itself_ends() -> None:
    schema = {
        "type": "object",
        "properties": {"tree": {"$ref": "#/$defs/node"}},
        "required": ["tree"],
        "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}},
    }
    json.dumps(required_input(ToolDef(name="t", description="T.", input_schema=schema)))
