"""Notebooks: cells in order, output as text, pictures in their places, and nothing believed."""

import base64
import json

import pytest

from aster.utility_directory.notebooks import MAX_PICTURES, notebook
from aster.utility_directory.pictures import picture_of_base64

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n\x00").decode()


def book(*outputs: object) -> bytes:
    cells = [
        {"cell_type": "markdown", "source": ["# Title\n", "words"]},
        {"cell_type": "code", "source": "print(1)\n", "outputs": list(outputs)},
    ]
    return json.dumps({"cells": cells, "nbformat": 4}).encode()


def text(data: bytes) -> str:
    found = notebook(data)
    assert found is not None
    return found.text.decode()


def test_cells_and_their_output() -> None:
    outputs = (
        {"output_type": "stream", "text": ["1\n", "2\n"]},
        {"output_type": "execute_result", "data": {"text/html": "<b>3</b>", "text/plain": ["3"]}},
        {"output_type": "error", "traceback": ["\x1b[0;31mError\x1b[0m", "  at line 1"]},
    )
    assert text(book(*outputs)) == (
        "## Cell 1 (markdown)\n# Title\nwords\n\n"
        "## Cell 2 (code)\nprint(1)\n### Output\n1\n2\n3\nError\n  at line 1\n\n"
    )


def test_pictures_stand_where_they_were_drawn() -> None:
    found = notebook(book(*({"data": {"image/png": PNG}} for _ in range(MAX_PICTURES + 2))))
    assert found is not None
    places = [line for line, _ in found.pictures]
    assert all(found.lines[line - 1] == "(picture, image/png)" for line in places)
    assert len(found.shown(1, len(found.lines))) == MAX_PICTURES
    assert len(found.shown(places[1], places[2])) == 2
    assert found.shown(1, places[0] - 1) == []


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"[]", b"{}", b'{"cells": 1}', b"[" * 100_000, b"\x00{\x00}", b"\xff\xfe{\x00}\x00"],
)
def test_what_is_no_notebook_is_none(data: bytes) -> None:
    assert notebook(data) is None


def test_what_is_wrong_inside_is_left_out() -> None:
    cells = [7, {"cell_type": "co\nde", "source": {"a": 1}}, {"source": [1, "x"], "outputs": [None, {"data": [1]}]}]
    assert text(json.dumps({"cells": cells}).encode()) == (
        "## Cell 1 (unknown)\n\n\n## Cell 2 (unknown)\n\n\n## Cell 3 (unknown)\nx\n### Output\n\n"
    )
    assert text(b'{"cells": [{"cell_type": "code", "source": "\\ud800"}]}').splitlines()[1] == "?"


def test_long_output_is_cut() -> None:
    shown = text(book({"text": "x" * 50_000}))
    assert len(shown) < 11_000
    assert "[40,000 more characters of output]" in shown


@pytest.mark.parametrize("encoded", ["", "!!!", base64.b64encode(b"no picture").decode(), "A" * 8_000_000])
def test_only_pictures_are_pictures(encoded: str) -> None:
    assert picture_of_base64(encoded) is None
