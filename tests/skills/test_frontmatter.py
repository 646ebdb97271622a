"""The head of a SKILL.md is read in the part of YAML that skills use, and nothing in it can fail."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aster.skills.frontmatter import read


def test_values_in_every_spelling() -> None:
    head, body = read(
        "---\n"
        "name: pdf   # the name\n"
        'description: "Says \\"yes\\": always"\n'
        "quoted: 'it''s'\n"
        "folded: >-\n  one\n  two\n"
        "literal: |\n  one\n    two\n"
        "allowed-tools: [Read, 'Bash(git:*)']\n"
        "tags:\n  - a\n  - b\n"
        "metadata:\n  author: x\n"
        "long: begins\n  and goes on\n"
        "---\n# Title\n\nText\n"
    )
    assert head == {
        "name": "pdf",
        "description": 'Says "yes": always',
        "quoted": "it's",
        "folded": "one two",
        "literal": "one\n  two",
        "allowed-tools": ("Read", "Bash(git:*)"),
        "tags": ("a", "b"),
        "long": "begins and goes on",
    }
    assert body == "# Title\n\nText"


@pytest.mark.parametrize(
    "text",
    [
        "no head",
        "---\nname: x\nnever closed",
        "--- \n: : :\n\t- [}\n---\nbody",
        "",
        "---",
        "---\n---",
        "\ufeff---\na: &x *x\n---\nb",
    ],
)
def test_what_cannot_be_read_is_a_skill_without_a_head(text: str) -> None:
    head, body = read(text)
    assert "name" not in head
    assert isinstance(body, str)


def test_windows_line_ends() -> None:
    assert read("---\r\nname: x\r\n---\r\nbody\r\n") == ({"name": "x"}, "body")


@given(st.text())
def test_no_text_fails(text: str) -> None:
    read(f"---\n{text}\n---\nbody")
