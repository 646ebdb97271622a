"""Conversations on a page, typed into the real program in a terminal: what the page shows is what comes."""

import re
from pathlib import Path

import pytest

from tests.cli.program import Home
from tests.cli.terminal import Terminal
from tests.docs.blocks import Block, blocks
from tests.process import free_port

BLOCKS = blocks("chat")
START = "$ aster "
SAID = "> "
PROMPT = "· /help"
"""At the end of the line below the field, which is drawn last."""


def shown(line: str) -> str:
    """A line of a page as a pattern; how it is set apart is the terminal's affair."""
    return r"\s+".join(re.escape(word) for word in line.split() if word != "…")


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.where)
def test_a_conversation_goes_as_it_is_shown(block: Block, tmp_path: Path) -> None:
    home = Home(tmp_path, free_port())
    with Terminal("serve", env=home.env, cwd=tmp_path) as engine:
        engine.expect(r"  3  .*\n")
        command, *lines = [line for line in block.text.splitlines() if line.strip()]
        with Terminal(*command.removeprefix(START).split(), env=home.env, cwd=tmp_path) as chat:
            for line in lines:
                if line.startswith(SAID):
                    chat.expect(PROMPT)
                    chat.press(line.removeprefix(SAID) + "\r")
                else:
                    chat.expect(shown(line))
        engine.press("\x03")
        assert engine.wait() == 0
