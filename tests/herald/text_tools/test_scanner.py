"""What holds for any text: no exception, no influence of the cuts, no loss of prose, no more than linear work."""

import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aster.herald.text_tools.formats import FORMATS, format_named, index_of
from aster.herald.text_tools.items import Said
from aster.herald.text_tools.reading import read, scanner_for
from tests.herald.text_tools.offering import TOOLS, items

NAMES = ("auto", "leaked", *FORMATS)

FRAGMENTS = (
    *(
        "get_weather",
        "now",
        "ghost",
        "city",
        "name",
        "arguments",
        "true",
        "1",
        "é😀",
        "hello",
        " ",
        "\n",
        "\n\n",
        "\\n",
    ),
    *(
        "{",
        "}",
        "[",
        "]",
        "(",
        ")",
        '"',
        "'",
        "\\",
        ":",
        ",",
        ";",
        "=",
        "<",
        ">",
        "</",
        "/>",
        "`",
        "```",
        "```json\n",
    ),
    *(
        '"name": "now"',
        '{"name": "now", "arguments": {}}',
        '"arguments": {"city": "x"}',
        '{"city": "a"}',
        "[now()]",
    ),
    *("<function=get_weather>", "</function>", '<function name="now">', '<invoke name="now">', "</invoke>", "]]>"),
    *(
        "<parameter=city>",
        '<parameter name="days">',
        "</parameter>",
        "<param name='city'>",
        "</param>",
        "<![CDATA[",
    ),
    *("<arg_key>city</arg_key>", "<arg_value>", "</arg_value>", "<tool_sep>", "<city>", "</city>", "[ARGS]"),
    *("{", "}", "[", "]", "(", ")", ":", ",", "=", "\\", "'", "call:now{", "now(", "<a>", "</a>", "<item>"),
    *("<think>", "</think>", "functions.now:0", "call:now{}", '<|"|>', ' string="true">', 'get_weather(city="x")'),
)


@st.composite
def replies(draw: st.DrawFn) -> tuple[str, str]:
    """A format and a text that is full of its markers."""
    name = draw(st.sampled_from(NAMES))
    markers = sorted({*index_of(name).markers.openers, *index_of(name).markers.noise})
    pieces = st.one_of(st.sampled_from(markers), st.sampled_from(FRAGMENTS), st.text(max_size=5))
    return name, "".join(draw(st.lists(pieces, max_size=16)))


@given(replies(), st.data())
@settings(max_examples=400, deadline=None)
def test_no_cut_changes_what_a_reply_reads_as(reply: tuple[str, str], data: st.DataObject) -> None:
    name, text = reply
    whole = read(name, [text], TOOLS)
    places = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    chunks = [text[start:end] for start, end in zip([0, *places], [*places, len(text)], strict=True)]
    assert read(name, chunks, TOOLS) == whole
    assert read(name, list(text), TOOLS) == whole
    if format_named(name).unknown != "call":
        assert all(call.name in ("get_weather", "write_file", "web-search", "now") for call in whole[1])


@given(st.sampled_from(NAMES), st.text(st.characters(exclude_characters="<[{`]fF", exclude_categories=("Cs",))))
@settings(max_examples=200, deadline=None)
def test_text_without_a_beginning_of_a_marker_passes_at_once(name: str, text: str) -> None:
    assert scanner_for(name, TOOLS).feed(text) == ([Said(text)] if text else [])


@given(replies())
@settings(max_examples=200, deadline=None)
def test_no_marker_of_a_call_is_shown(reply: tuple[str, str]) -> None:
    """What a reader of the stream sees of a block is all of it, when it was none, or nothing."""
    _, text = reply
    shown = "".join(item.text for item in items(text) if isinstance(item, Said))
    for marker in (
        "<|tool_call_begin|>",
        "<｜tool▁call▁begin｜>",
        "<tool_response>",
        "<|tool_calls_section_begin|>",
    ):
        if f"`{marker}" not in text:
            assert marker not in shown.lower()


HOSTILE = (
    *("<tool_call>", "<tool_call><function=now>", "<function=get_weather><parameter=city>", "<parameter=city>"),
    *(
        "<function=get_weather><parameter=city>x</parameter>junk",
        "<function=get_weather><parameter=city>x</function>",
    ),
    *(
        "<function=ghost><parameter=a></function>",
        "<parameter=city><![CDATA[",
        "<function=now><![CDATA[<function=now>",
    ),
    *(
        '{"name": "now", "arguments": {',
        '{"arguments": {',
        '{"a": "',
        "{",
        "[",
        "[[",
        '{"',
        "```json\n{",
        "```",
        "`",
    ),
    *(
        "[now(",
        "[TOOL_CALLS]",
        "[TOOL_CALLS]now",
        "<|tool_call>",
        "<|tool_call>call:now{a:",
        "<|channel|>",
        "<think>",
    ),
    *(
        "<think><tool_call>",
        "<tool_response>",
        "</tool_call>",
        "<tool_call name=",
        "<tool_call>now ",
        "<tool_call>\n",
    ),
    *(
        "<arg_key>",
        "<tool_call>now<arg_key>a</arg_key><arg_value>",
        "]<]minimax[>[<tool_call>",
        "<|open|>tools<|sep|>",
    ),
    *('<｜DSML｜invoke name="now">', "<a>", '<a="b">', " ", "\n", "a", "<", "\\", '"', "'", "<function=now a='b' "),
)
OPENINGS = ("", "<tool_call>", "<tool_call>{", "<function=get_weather>", "<function=get_weather><parameter=city>")


@pytest.mark.parametrize("opening", OPENINGS)
def test_work_grows_no_faster_than_the_text(opening: str) -> None:
    """Counted in calls, of Python and of C functions: a clock would measure the machine."""
    for unit in HOSTILE:
        small, large = (opening + unit * (size // len(unit)) for size in (2_000, 8_000))
        for cut in (1 << 20, 50):
            few, many = _calls(small, cut), _calls(large, cut)
            assert many < few * 6 + 2_000, (opening, unit, cut, few, many)


@pytest.mark.parametrize("opening", OPENINGS)
def test_no_text_hangs_the_scanner(opening: str) -> None:
    """A quadratic expression or copy would take minutes at this size."""
    for unit in HOSTILE:
        text = opening + unit * (40_000 // len(unit))
        read("auto", [text], TOOLS)
        read("auto", [text[at : at + 64] for at in range(0, len(text), 64)], TOOLS)


def _calls(text: str, cut: int) -> int:
    """How many functions are called to read a text in pieces of this size."""
    chunks = [text[at : at + cut] for at in range(0, len(text), cut)]
    count = 0

    def counted(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    _profiled(counted, lambda: read("auto", chunks, TOOLS))
    return count


def _profiled(counted: Callable[[Any, str, Any], None], run: Callable[[], object]) -> None:
    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        run()
    finally:
        sys.setprofile(before)
