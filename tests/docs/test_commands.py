"""A command that a page names is one that the program or the Makefile takes."""

import argparse
import re
from typing import cast

import pytest

from aster.cli.parser import build_parser
from tests.docs.blocks import GENERATED, ROOT, blocks, calls, inline, name, pages

TARGETS = set(re.findall(r"^([a-z][\w-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE))
MAKE = re.compile(r"^make ([a-z][\w-]*)")


def written() -> list[tuple[str, list[str]]]:
    """Every call of the program in a shell, with where it stands."""
    found = [(block.where, words) for block in blocks("sh", "console") for words in calls(block)]
    return [(where, words[1:]) for where, words in found if words[0].removeprefix(".venv/bin/") == "aster"]


@pytest.mark.parametrize(("where", "words"), written())
def test_a_call_is_taken_by_the_real_parser(where: str, words: list[str]) -> None:
    try:
        build_parser().parse_args(words)
    except SystemExit:
        pytest.fail(f"{where}: aster {' '.join(words)}")


def known(words: list[str]) -> bool:
    """Whether the words lead to a command, as far as they are names of commands."""
    parser: argparse.ArgumentParser = build_parser()
    for word in words:
        choices = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
        if not choices:
            return True
        below = cast("dict[str, argparse.ArgumentParser]", choices[0].choices)
        if word in below:
            parser = below[word]
        else:
            return (
                word.startswith(("-", "…", "[")) or "|" in word or word.isupper() or word in ("action", "command")
            )
    return True


def test_commands_in_prose_exist() -> None:
    found = [
        (name(page), piece)
        for page in (*pages(), *sorted(GENERATED.glob("*.md")))
        for piece in inline(page)
        if piece.startswith("aster ")
    ]
    assert len(found) > 40
    assert [pair for pair in found if not known(pair[1].split()[1:])] == []


def test_targets_of_make_exist() -> None:
    found = [
        (block.where, words[1])
        for block in blocks("sh", "console")
        for words in calls(block)
        if words[0] == "make" and len(words) > 1
    ]
    found += [(name(page), target) for page in pages() for piece in inline(page) for target in MAKE.findall(piece)]
    assert len(found) > 5
    assert [pair for pair in found if pair[1] not in TARGETS] == []
