"""What is typed while a turn runs: a draft, and keys that act at once."""

import time

import pytest
from prompt_toolkit.key_binding import KeyPress
from prompt_toolkit.keys import Keys

from aster.cli.chat.draft import SEEN_SECONDS, STILL_SECONDS, Draft, Stroke


def typed(*keys: Keys | str | KeyPress) -> tuple[str, list[Stroke]]:
    """The draft after these keys, and what acted."""
    acted: list[Stroke] = []
    draft = Draft(acted.append)
    for key in keys:
        draft.press(key if isinstance(key, KeyPress) else KeyPress(key))
    return draft.text, acted


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        ([*"hello"], "hello"),
        ([*"hello", Keys.ControlH, Keys.Backspace], "hel"),
        ([*"one two", Keys.ControlW], "one "),
        ([*"one two ", Keys.ControlW], "one "),
        ([Keys.ControlW], ""),
        ([*"gone", Keys.ControlU, *"new"], "new"),
        ([*"a", Keys.ControlJ, *"b"], "a\nb"),
        ([*"a", Keys.Escape, Keys.ControlM, *"b"], "a\nb"),
        ([KeyPress(Keys.BracketedPaste, "x\r\ny\rz")], "x\ny\nz"),
        ([Keys.Up, Keys.F1, Keys.ControlD, "\x00"], ""),
    ],
)
def test_keys_make_a_draft(keys: list[Keys | str | KeyPress], text: str) -> None:
    assert typed(*keys) == (text, [])


def test_some_keys_act_at_once() -> None:
    keys = (Keys.ControlC, Keys.ControlO, Keys.ControlM, Keys.Tab)
    assert typed(*keys) == ("", [Stroke.STOP, Stroke.FOLD, Stroke.STEER, Stroke.QUEUE])


async def test_a_question_waits_for_hands_that_type() -> None:
    draft = Draft(lambda stroke: None)
    began = time.monotonic()
    await draft.still()
    assert time.monotonic() - began < STILL_SECONDS
    draft.press(KeyPress("y"))
    await draft.still()
    assert time.monotonic() - began >= STILL_SECONDS
    assert draft.take() == "y"
    assert draft.text == ""


@pytest.mark.parametrize("key", [Keys.ControlM, Keys.Tab, Keys.Left])
async def test_every_key_is_a_hand_that_types(key: Keys) -> None:
    draft = Draft(lambda stroke: None)
    began = time.monotonic()
    draft.press(KeyPress(key))
    await draft.still()
    assert time.monotonic() - began >= STILL_SECONDS


async def test_a_question_stands_there_before_a_key_answers_it() -> None:
    draft = Draft(lambda stroke: None)
    began = time.monotonic()
    await draft.seen()
    assert SEEN_SECONDS <= time.monotonic() - began < STILL_SECONDS
