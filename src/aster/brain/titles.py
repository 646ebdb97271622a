"""What a task is called until somebody names it: the first words said in it."""

from collections.abc import Iterable

from aster.contracts.blocks import ContentBlock, TextBlock

TITLE_CHARS = 80


def first_words(content: Iterable[ContentBlock]) -> str:
    """The beginning of a message on one line; empty when it has no text."""
    text = next((block.text for block in content if isinstance(block, TextBlock)), "")
    return " ".join(text.split())[:TITLE_CHARS]
