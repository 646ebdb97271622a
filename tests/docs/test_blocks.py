"""Every block of code says what it is, and the few that cannot be run here say why."""

from tests.docs.blocks import blocks_of, calls, pages

CHECKED = {"sh", "console", "chat", "python", "ts", "json"}
SHOWN = {"text", "markdown"}
"""Output, drawings and files of a format that nothing here reads."""

MOST_NOT_RUN = 30

BLOCKS = [block for page in pages() for block in blocks_of(page)]


def test_every_block_names_its_language() -> None:
    assert [block.where for block in BLOCKS if block.language not in CHECKED | SHOWN] == []


def test_no_command_hides_in_a_block_that_is_only_shown() -> None:
    hidden = [
        block.where
        for block in BLOCKS
        if block.language == "text"
        for line in block.text.splitlines()
        if line.startswith(("aster ", "curl ", "make ", "$ aster", "$ curl", "$ make"))
    ]
    assert hidden == []


def test_what_is_not_run_says_why_and_is_the_exception() -> None:
    left_out = [block for block in BLOCKS if block.reason is not None]
    assert [block.where for block in left_out if not block.reason or block.language in SHOWN] == []
    assert len(left_out) <= MOST_NOT_RUN, [block.where for block in left_out]
    run = [block for block in BLOCKS if block.language in CHECKED and block.reason is None]
    assert len(run) >= 2 * len(left_out)


def test_a_session_shows_what_was_typed() -> None:
    assert [block.where for block in BLOCKS if block.language == "console" and not calls(block)] == []
