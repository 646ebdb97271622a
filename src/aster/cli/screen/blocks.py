"""Where streamed Markdown can no longer change, so that it can be printed for good.

The last block of a text that still grows may become anything (a heading underlined, a longer list); every block
before it is settled. Only the open rest is redrawn, so the screen neither flickers nor grows slow.
"""

from itertools import pairwise

from rich.markdown import Markdown


def settled(text: str) -> int:
    """How many leading characters of a growing text belong to blocks that are whole."""
    if "\n" not in text:
        return 0
    starts = [token.map[0] for token in Markdown(text).parsed if token.level == 0 and token.map is not None]
    distinct = [line for line, following in pairwise([*starts, -1]) if line != following]
    if len(distinct) < 2:
        return 0
    return sum(len(line) + 1 for line in text.split("\n")[: distinct[-1]])
