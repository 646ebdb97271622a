"""Editing: the exact text, once, or an answer that helps."""

import pytest

from aster.contracts.tools import Effect
from tests.utility_directory.conftest import Bench, said


async def write(bench: Bench, content: str) -> None:
    await bench.text("write_file", path="f", content=content)


def content(bench: Bench) -> str:
    return (bench.root / "f").read_bytes().decode()


async def test_the_one_place_is_replaced(bench: Bench) -> None:
    await write(bench, "a = 1\nb = 2\n")
    assert (
        await bench.text("edit_file", path="f", old_text="b = 2", new_text="b = 3")
        == "Replaced it once in f (line 2)."
    )
    assert content(bench) == "a = 1\nb = 3\n"
    await bench.text("edit_file", path="f", old_text="a = 1\n", new_text="")
    assert content(bench) == "b = 3\n"


async def test_an_ambiguous_text_changes_nothing(bench: Bench) -> None:
    await write(bench, "x\ny\nx\n")
    reason, text = await bench.error("edit_file", path="f", old_text="x", new_text="z")
    assert reason == "ambiguous_match"
    assert "2 times in f (lines 1, 3)" in text
    assert content(bench) == "x\ny\nx\n"
    assert "2 times" in await bench.text("edit_file", path="f", old_text="x", new_text="z", replace_all=True)
    assert content(bench) == "z\ny\nz\n"


async def test_a_missing_text_is_answered_with_the_nearest(bench: Bench) -> None:
    await write(bench, "def one():\n    return 1\n\ndef two():\n    return 2\n")
    reason, text = await bench.error("edit_file", path="f", old_text="def twoo():\n  return 2", new_text="x")
    assert reason == "no_match"
    assert text.endswith("there):\n- def twoo():\n+ def two():\n-   return 2\n+     return 2")
    assert (
        "Nothing in it is similar" in (await bench.error("edit_file", path="f", old_text="%%%%", new_text="x"))[1]
    )


async def test_a_very_long_line_takes_no_time(bench: Bench) -> None:
    await write(bench, "x = 1;" * 100_000)
    reason, text = await bench.error("edit_file", path="f", old_text="x = 2;" * 1000, new_text="y")
    assert (reason, len(text) < 5000) == ("no_match", True)


async def test_line_ends_of_windows_are_kept(bench: Bench) -> None:
    await write(bench, "one\r\ntwo\r\nthree\r\n")
    await bench.text("edit_file", path="f", old_text="one\ntwo", new_text="1\n2")
    assert content(bench) == "1\r\n2\r\nthree\r\n"


@pytest.mark.parametrize("old", [r"\d+", "$1", "a.c", "(x"])
async def test_nothing_in_the_text_is_special(bench: Bench, old: str) -> None:
    await write(bench, f"before {old} after")
    await bench.text("edit_file", path="f", old_text=old, new_text=r"\1 \g<0> $0")
    assert content(bench) == r"before \1 \g<0> $0 after"


async def test_what_cannot_be_edited_is_said(bench: Bench) -> None:
    await write(bench, "x")
    (bench.root / "latin").write_bytes(b"caf\xe9")
    assert (await bench.error("edit_file", path="f", old_text="x", new_text="x"))[0] == "invalid_input"
    assert (await bench.error("edit_file", path="missing", old_text="x", new_text="y"))[0] == "not_found"
    assert (await bench.error("edit_file", path="latin", old_text="caf", new_text="y"))[0] == "not_a_file"
    assert (await bench.error("edit_file", path="../x", old_text="x", new_text="y"))[0] == "path_refused"
    assert (await bench.error("edit_file", path="f", old_text="x", new_text="\ud800"))[0] == "invalid_input"
    assert bench.decide("edit_file", path="../x", old_text="x", new_text="y").behavior == "deny"
    assert content(bench) == "x"


EDITS = [
    {"old_text": "a = 1", "new_text": "a = 10"},
    {"old_text": "a = 10\nb", "new_text": "a = 10\nbb"},
    {"old_text": "x", "new_text": "y", "replace_all": True},
]


async def test_several_edits_are_made_in_order_and_in_one_write(bench: Bench) -> None:
    await write(bench, "a = 1\nb = 2\nx\nx\n")
    with (bench.root / "f").open() as before:
        outcome = await bench.run("edit_file", path="f", edits=EDITS)
        assert before.read() == "a = 1\nb = 2\nx\nx\n"
    assert said(outcome) == "Made 3 edits in f (lines 1, 1, 3)."
    assert outcome.data == {"path": str(bench.root / "f"), "replacements": 4}
    assert content(bench) == "a = 10\nbb = 2\ny\ny\n"
    assert await bench.check("edit_file", path="f", edits=EDITS) is not None


async def test_all_edits_are_made_or_none(bench: Bench) -> None:
    await write(bench, "a = 1\nb = 2\n")
    wrong = [{"old_text": "a = 1", "new_text": "a = 0"}, {"old_text": "b = 3", "new_text": "c"}]
    reason, text = await bench.error("edit_file", path="f", edits=wrong)
    assert reason == "no_match"
    assert text.startswith("Error: edits[1].old_text is not in f; none of the edits was made. The nearest text is")
    twice = [{"old_text": "a", "new_text": "z"}, {"old_text": " = ", "new_text": "="}]
    reason, text = await bench.error("edit_file", path="f", edits=twice)
    assert (reason, "edits[1].old_text occurs 2 times" in text) == ("ambiguous_match", True)
    assert content(bench) == "a = 1\nb = 2\n"


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"old_text": "x"},
        {"new_text": "y"},
        {"old_text": "x", "new_text": "y", "edits": [{"old_text": "x", "new_text": "y"}]},
        {"edits": [{"old_text": "x", "new_text": "y"}, {"old_text": "x", "new_text": "x"}]},
    ],
)
async def test_it_is_either_one_edit_or_several(bench: Bench, given: dict[str, object]) -> None:
    await write(bench, "x")
    assert (await bench.error("edit_file", path="f", **given))[0] == "invalid_input"
    assert await bench.check("edit_file", path="f", **given) is None
    assert content(bench) == "x"


async def test_several_edits_of_a_file_of_windows(bench: Bench) -> None:
    await write(bench, "one\r\ntwo\r\nthree\r\n")
    edits = [{"old_text": "one\ntwo", "new_text": "1\n2"}, {"old_text": "2\nthree", "new_text": "2\n3"}]
    await bench.text("edit_file", path="f", edits=edits)
    assert content(bench) == "1\r\n2\r\n3\r\n"


async def test_after_a_crash_the_file_tells(bench: Bench) -> None:
    given = {"path": "f", "old_text": "b", "new_text": "abc"}
    await bench.with_key("before").run("write_file", path="f", content="-b-")
    assert await bench.check("edit_file", **given) is None
    await bench.run("edit_file", **given)
    found = await bench.check("edit_file", **given)
    assert found is not None
    assert found.ok
    assert await bench.with_key("another call").check("edit_file", **given) is None


async def test_without_a_mark_it_is_told_only_where_the_text_is_plain(bench: Bench) -> None:
    (bench.root / "f").write_text("new here")
    assert await bench.check("edit_file", path="f", old_text="old", new_text="new") is not None
    assert await bench.check("edit_file", path="f", old_text="here", new_text="here and there") is None
    assert await bench.check("edit_file", path="f", old_text="old", new_text="") is None
    assert await bench.check("edit_file", path="missing", old_text="old", new_text="new") is None


async def test_it_runs_alone_and_is_not_repeated(bench: Bench) -> None:
    prepared = bench.prepared("edit_file", path="f", old_text="a", new_text="b")
    assert (prepared.effect, prepared.concurrent) == (Effect.REVERSIBLE, False)
