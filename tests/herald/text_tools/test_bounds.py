"""Where values end, found at once or piece by piece."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from aster.herald.text_tools.bounds import SHORT, Balanced, short_end

_LEAVES = st.none() | st.booleans() | st.integers() | st.text(max_size=8)
_VALUES = st.recursive(_LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=4), inner))


@settings(max_examples=50, deadline=None)
@given(st.lists(_VALUES, max_size=4) | st.dictionaries(st.text(max_size=4), _VALUES), st.text(max_size=5))
def test_both_ways_find_the_same_end(value: Any, behind: str) -> None:
    text = json.dumps(value, ensure_ascii=False)
    assert Balanced().seek(text + behind, 0) == len(text)
    assert Balanced("\"'").seek(text + behind, 0) == len(text)
    assert short_end(text + behind, 0) in (-1, len(text))
    piecewise = Balanced()
    ends = [end for at in range(len(text)) if (end := piecewise.seek(text[at], 0)) >= 0]
    assert ends == [1]


def test_a_short_value_is_found_at_once() -> None:
    assert short_end('x{"a": [1, "}"]} y', 1) == 16
    assert short_end('{"a": "line\nbreak"}', 0) == 19


def test_what_is_long_open_or_no_json_is_left_to_the_slower_way() -> None:
    for text in ('{"a": 1', "{'a': 1}", "{a}", "[1]", f'{{"a": "{"x" * SHORT}"}}', "[" * 300 + "{}" + "]" * 300):
        assert short_end(text, 0) == -1
