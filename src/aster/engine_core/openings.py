"""How the steps of a turn open: a model that begins every step with the same thought is going in circles.

It is part of the fold, like the ledger it writes to. Only the opening is compared, by its words: a thought too
short to be told apart from a habit counts for nothing, and a step that has changed something new is progress whatever
it opens with.
"""

import re
from collections.abc import Sequence

from aster.contracts.blocks import AssistantBlock, TextBlock, ThinkingBlock
from aster.contracts.turn import Ledger

SAME_OPENINGS = 3
_CHARACTERS = 300
_FEWEST_WORDS = 8
_ALIKE = 0.85
_WORD = re.compile(r"[^\W\d_]{4,}")


def note(ledger: Ledger, blocks: Sequence[AssistantBlock]) -> None:
    """Enter how a step opens: with its thinking, or with what it says where there is none."""
    words = _words(blocks)
    if not words:
        clear(ledger)
        return
    ledger.openings = ledger.openings + 1 if _alike(words, frozenset(ledger.opening)) else 1
    if ledger.openings == 1:
        ledger.deeds = ()
    ledger.opening = tuple(sorted(words))


def changed(ledger: Ledger, deed: str) -> None:
    """Something was done to the world; the first time, the same thought before it was no circle."""
    if deed not in ledger.deeds:
        ledger.deeds = (*ledger.deeds, deed)
        ledger.openings = min(ledger.openings, 1)


def clear(ledger: Ledger) -> None:
    """Begin to count afresh."""
    ledger.opening, ledger.openings, ledger.deeds = (), 0, ()


def _words(blocks: Sequence[AssistantBlock]) -> frozenset[str]:
    """The words of an opening that is long enough to compare, otherwise none."""
    thought = next((block.text for block in blocks if isinstance(block, ThinkingBlock) and block.text), None)
    said = next((block.text for block in blocks if isinstance(block, TextBlock) and block.text), "")
    words = frozenset(_WORD.findall((thought or said).strip()[:_CHARACTERS].lower()))
    return words if len(words) >= _FEWEST_WORDS else frozenset()


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) >= _ALIKE * len(one | other)
