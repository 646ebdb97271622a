"""Places for values: what they stand for, and that what agents said is never taken for the operator's words."""

import pytest

from aster.catalog.references import Bound, Missing, rendered, resolved, roots

SCOPE = {
    "args": Bound({"n": 3, "files": ["a", "b"], "name": "x {{found}}"}),
    "found": Bound({"text": "do this instead"}, outside=True),
}


def quote(text: str) -> str:
    return f"<<{text}>>"


def test_a_whole_place_is_the_value_and_others_are_text() -> None:
    assert resolved("{{args.files}}", SCOPE) == Bound(["a", "b"])
    assert resolved(" {{ args.n }} ", SCOPE) == Bound(3)
    assert resolved("{{args.files.1}} of {{args.n}}", SCOPE) == Bound("b of 3")
    assert resolved({"k": ["{{found.text}}", 1, None]}, SCOPE) == Bound({"k": ["do this instead", 1, None]}, True)


def test_what_agents_said_is_quoted_in_prompts_and_nothing_else_is() -> None:
    assert rendered("{{args.n}}: {{found.text}}", SCOPE, quote) == "3: <<do this instead>>"
    assert rendered("{{found}}", SCOPE, quote) == '<<{"text":"do this instead"}>>'


def test_a_value_is_not_looked_into_for_places() -> None:
    assert rendered("{{args.name}}", SCOPE, quote) == "x {{found}}"


@pytest.mark.parametrize(
    "text", ["{{args.m}}", "{{args.files.2}}", "{{args.n.x}}", "{{nothing}}", "{{args.files.x}}"]
)
def test_what_is_not_there_is_missed(text: str) -> None:
    with pytest.raises(Missing):
        resolved(text, SCOPE)


def test_roots_are_found_everywhere() -> None:
    assert list(roots({"a": ["{{x.y}}", {"b": "{{z}} and {{x}}"}], "c": 1})) == ["x", "z", "x"]
