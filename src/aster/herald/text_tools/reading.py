"""A whole reply read in one go: its text and its calls, judged as its format judges.

It drains the same scanner that a stream goes through, so both read a reply alike.
"""

from collections.abc import Iterable, Sequence

from aster.contracts.tools import ToolDef
from aster.herald.text_tools.catalogue import After, Fate, Format
from aster.herald.text_tools.dialects.base import Context
from aster.herald.text_tools.formats import format_named, index_of
from aster.herald.text_tools.items import Broken, Call, Item, Said
from aster.herald.text_tools.scanner import Scanner
from aster.herald.text_tools.toolbox import Toolbox


def scanner_for(name: str, tools: Iterable[ToolDef]) -> Scanner:
    """A scanner for one reply in this format."""
    chosen = format_named(name)
    context = Context(Toolbox(tools), chosen.strict, chosen.bare_names, chosen.untyped, chosen.trim)
    return Scanner(index_of(name), context)


def read(name: str, chunks: Sequence[str], tools: Iterable[ToolDef]) -> tuple[str, list[Call]]:
    """The text and the calls of a reply that arrived in these pieces."""
    scanner = scanner_for(name, tools)
    items = [item for chunk in chunks for item in scanner.feed(chunk)]
    return _judged([*items, *scanner.finish()], format_named(name))


def _judged(items: list[Item], chosen: Format) -> tuple[str, list[Call]]:
    text: list[str] = []
    behind: list[str] = []
    calls: list[Call] = []
    called = any(isinstance(item, Call) for item in items)
    for item in items:
        if isinstance(item, Call):
            calls.append(item)
        elif isinstance(item, Said):
            (behind if calls else text).append(item.text)
        elif isinstance(item, Broken):
            fate = _fate(item, chosen)
            if fate == "call" and item.partial is not None:
                calls.append(item.partial)
            elif fate == "show" or (fate == "alone" and not called):
                (behind if calls else text).append(item.raw)
    return _joined("".join(text), "".join(behind), chosen.after), calls


def _joined(before: str, behind: str, after: After) -> str:
    """The text before and behind the first call, as the format puts them together."""
    if after == "join":
        return " ".join(part for part in (before.strip(), behind.strip()) if part)
    return before + behind if after == "keep" else before


def _fate(item: Broken, chosen: Format) -> Fate:
    if item.reason == "truncated":
        return chosen.truncated
    return chosen.unknown if item.reason == "unknown_tool" else chosen.broken
